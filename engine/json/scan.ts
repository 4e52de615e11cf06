// The scanner: one pass over the bytes of a body that checks UTF-8, grammar, depth and counts, and
// writes the tape (tape.ts). No recursion, and no value is created. Grammar: RFC 8259, without extensions.
//
// The tape and the stack below are scratch memory of one call: scanning is synchronous and never nested.
import { excerpt, fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import { readFloats } from '../vector/parse-floats.js';
import { duplicateMember } from './duplicate.js';
import { scanned, scanNumber } from './number.js';
import { pointerTo } from './pointer.js';
import { COUNT_SHIFT, ENTRY, FLAG, KIND, putFloat, TapeView, textAt } from './tape.js';
import { utf8Length } from './utf8.js';
import type { JsonView } from './view.js';

/**
 * Minimum numbers of an array, and bytes after them, for which a call of the compiled module pays off: it
 * copies the next 16 KiB.
 */
const runNumbers = 16;
const runBytes = 512;

const reusedWords = 1 << 16;
const depthMax = 65_536;

let tape = new Int32Array(1024);
/** Tape index of each open container, innermost last. */
let stack = new Int32Array(64);
/** Number of elements or members so far in each open container. */
let counts = new Int32Array(64);
/** Tape index of the newest key in each open object. */
let keys = new Int32Array(64);

const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;

/** 1 for the bytes that need no processing in a string: ASCII except quote, backslash and controls. */
const ordinary = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);

const emptyObject = new Uint8Array([OBJECT_START, OBJECT_END]);

/**
 * Returns the root value of a body; an empty body counts as an empty object. `body` must not change while the
 * view is in use. Fails BAD_UTF8, BAD_JSON, BAD_STRING, JSON_TOO_DEEP, JSON_TOO_MANY_MEMBERS or
 * DUPLICATE_MEMBER.
 */
export function scanJson(body: Uint8Array, limits: Limits): JsonView {
  return scanBytes(body, limits, false);
}

/** Like `scanJson`, but the view is valid only until the next scan on this thread. */
export function scanJsonOnce(body: Uint8Array, limits: Limits): JsonView {
  return scanBytes(body, limits, true);
}

function scanBytes(body: Uint8Array, limits: Limits, isTransient: boolean): JsonView {
  const bytes = body.length === 0 ? emptyObject : body;
  const scanner = new Scanner(bytes, limits);
  try {
    const used = scanner.run();
    return new TapeView(bytes, isTransient ? tape : tape.slice(0, used), 0);
  } finally {
    if (tape.length > reusedWords) tape = new Int32Array(1024);
  }
}

class Scanner {
  #at = 0;
  #used = 0;
  #depth = 0;
  #values = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly limits: Limits,
  ) {}

  /** Scans the body; returns the number of words written to the tape. */
  run(): number {
    const { bytes } = this;
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#bad('a byte-order mark');
    const valuesMax = this.limits.json_values;
    do {
      if (++this.#values > valuesMax) this.#tooMany('', valuesMax, 'json_values');
      this.#value();
    } while (this.#next());
    this.#space();
    if (this.#at < bytes.length) this.#unexpected('data after the end');
    return this.#used;
  }

  /** Scans one scalar, or the start of a container. */
  #value(): void {
    const byte = this.#space();
    if (byte === QUOTE) this.#string();
    else if (byte === OBJECT_START) this.#open(KIND.object);
    else if (byte === ARRAY_START) this.#open(KIND.array);
    else if (byte === 0x74) this.#literal('true', KIND.boolean);
    else if (byte === 0x66) this.#literal('false', KIND.boolean);
    else if (byte === 0x6e) this.#literal('null', KIND.null);
    else this.#numbers();
  }

  /**
   * Continues after a value and closes the containers that end here. Returns true if another value follows.
   */
  #next(): boolean {
    while (this.#depth > 0) {
      const level = this.#depth - 1;
      const container = stack[level]!;
      const isObject = (tape[container]! & 7) === KIND.object;
      const byte = this.#space();
      if (byte === (isObject ? OBJECT_END : ARRAY_END)) {
        this.#close(container, counts[level]!, isObject);
        continue;
      }
      if (counts[level]! > 0) {
        if (byte !== COMMA) this.#unexpected(`expected a comma or ${isObject ? '}' : ']'}`);
        this.#at++;
      }
      const { limits } = this;
      const max = isObject ? limits.json_members : limits.json_elements;
      if (++counts[level]! > max) {
        this.#tooMany(this.#path(level), max, isObject ? 'json_members' : 'json_elements');
      }
      if (isObject) this.#key(level);
      return true;
    }
    return false;
  }

  #key(level: number): void {
    if (this.#space() !== QUOTE) this.#unexpected('expected a member name');
    keys[level] = this.#used;
    this.#string();
    if (this.#space() !== COLON) this.#unexpected('expected a colon');
    this.#at++;
  }

  #open(kind: number): void {
    const depth = ++this.#depth;
    if (depth > this.limits.json_depth || depth > depthMax)
      fail('JSON_TOO_DEEP', { max: this.limits.json_depth });
    if (depth > stack.length) deepen();
    stack[depth - 1] = this.#used;
    counts[depth - 1] = 0;
    this.#entry(kind, this.#at, 0);
    this.#at++;
  }

  #close(container: number, count: number, isObject: boolean): void {
    this.#at++;
    tape[container] = tape[container]! | (count << COUNT_SHIFT);
    tape[container + 2] = this.#at;
    tape[container + 3] = this.#used;
    this.#depth--;
    if (!isObject || count < 2) return;
    const member = duplicateMember(this.bytes, tape, container);
    if (member < 0) return;
    const name = textAt(this.bytes, tape, member);
    const args = { member: excerpt(name) };
    fail('DUPLICATE_MEMBER', args, { path: pointerTo(this.#path(this.#depth), name) });
  }

  #entry(head: number, start: number, end: number): void {
    const used = this.#used;
    if (used + ENTRY > tape.length) grow();
    tape[used] = head;
    tape[used + 1] = start;
    tape[used + 2] = end;
    this.#used = used + ENTRY;
  }

  #string(): void {
    const { bytes } = this;
    const { length } = bytes;
    const start = ++this.#at;
    let head: number = KIND.string;
    let at = start;
    for (;;) {
      while (at < length && ordinary[bytes[at]!] !== 0) at++;
      if (at === length) break;
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#entry(head, start, at);
        this.#at = at + 1;
        return;
      }
      if (byte >= 0x80) {
        head |= FLAG.wide;
        const width = utf8Length(bytes, at);
        if (width === 0) fail('BAD_UTF8', { offset: at });
        at += width;
      } else if (byte === 0x5c) {
        head |= FLAG.escaped;
        at = this.#escape(at);
      } else {
        this.#at = at;
        this.#bad('a control character in a string');
      }
    }
    this.#at = length;
    this.#bad('the end inside a string');
  }

  /** Returns the position after the escape at `at`; a surrogate pair counts as one escape. */
  #escape(at: number): number {
    const { bytes } = this;
    const byte = bytes[at + 1]!;
    // One of " \ / b f n r t
    if (byte !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(byte)) && at + 1 < bytes.length) return at + 2;
      this.#at = at;
      this.#bad('an unknown escape');
    }
    const unit = this.#hex(at + 2);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    const paired = unit < 0xdc00 && bytes[at + 6] === 0x5c && bytes[at + 7] === 0x75;
    const low = paired ? this.#hex(at + 8) : 0;
    if (low >= 0xdc00 && low <= 0xdfff) return at + 12;
    const path = this.#path(this.#depth);
    fail('BAD_STRING', { path: excerpt(path) || 'The body' }, { path });
  }

  #hex(at: number): number {
    let unit = 0;
    for (let i = at; i < at + 4; i++) {
      const byte = this.bytes[i]! | 0x20;
      const digit = byte <= 0x39 ? this.bytes[i]! - 0x30 : byte - 0x61 + 10;
      if (!(digit >= 0 && digit < 16) || (byte > 0x39 && byte < 0x61)) {
        this.#at = i;
        this.#bad('an unknown escape');
      }
      unit = unit * 16 + digit;
    }
    return unit;
  }

  /** Scans a number and, in an array, the numbers directly after it, as in long vectors. */
  #numbers(): void {
    this.#number();
    const level = this.#depth - 1;
    if (level < 0 || (tape[stack[level]!]! & 7) !== KIND.array) return;
    const { bytes } = this;
    const { json_elements, json_values } = this.limits;
    let room = Math.min(json_elements - counts[level]!, json_values - this.#values);
    for (let run = 1; room > 0 && bytes[this.#at] === COMMA; run++) {
      // Many writers put one space after a comma.
      const start = this.#at + (bytes[this.#at + 1] === 0x20 ? 2 : 1);
      if (!isNumberStart(bytes[start]!)) break;
      const isLong = run % runNumbers === 0 && bytes.length - start >= runBytes;
      let count = isLong ? this.#run(room) : 0;
      if (count === 0) {
        this.#at = start;
        this.#number();
        count = 1;
      }
      counts[level]! += count;
      this.#values += count;
      room -= count;
    }
  }

  /**
   * Calls the compiled module, which parses as many numbers as it can decide exactly. Returns their number.
   */
  #run(room: number): number {
    const { entries, end } = readFloats(this.bytes, this.#at, room, KIND.number, FLAG.fraction);
    while (this.#used + entries.length > tape.length) grow();
    tape.set(entries, this.#used);
    this.#used += entries.length;
    this.#at = end;
    return entries.length / ENTRY;
  }

  #number(): void {
    const start = this.#at;
    const end = scanNumber(this.bytes, start);
    if (end < 0) {
      this.#at = ~end;
      this.#unexpected(~end === start ? 'expected a value' : 'expected a digit');
    }
    const entry = this.#used;
    this.#entry(KIND.number | (scanned.isFraction ? FLAG.fraction : 0), start, 0);
    putFloat(tape, entry, scanned.value);
    this.#at = end;
  }

  #literal(word: string, kind: number): void {
    const start = this.#at;
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[start + i] !== word.charCodeAt(i)) this.#unexpected('expected a value');
    }
    this.#at = start + word.length;
    this.#entry(kind, start, this.#at);
  }

  /** Skips white space; returns the byte after it, 0 at the end. */
  #space(): number {
    const { bytes } = this;
    let at = this.#at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.#at = at;
        return byte;
      }
    }
    this.#at = at;
    return 0;
  }

  /** Returns the JSON Pointer to the newest value that is `levels` containers deep. */
  #path(levels: number): string {
    let path = '';
    for (let i = 0; i < levels; i++) {
      const isObject = (tape[stack[i]!]! & 7) === KIND.object;
      // An incomplete key is not part of the path.
      if (isObject && (counts[i] === 0 || keys[i]! >= this.#used)) break;
      path = pointerTo(path, isObject ? textAt(this.bytes, tape, keys[i]!) : counts[i]! - 1);
    }
    return path;
  }

  #tooMany(path: string, max: number, limit: string): never {
    const hint = `The limit is \`limits.${limit}\`.`;
    fail('JSON_TOO_MANY_MEMBERS', { path: path || 'The body', max }, { path, hint });
  }

  /** Fails at the current byte, which may be one that no text can contain. */
  #unexpected(what: string): never {
    const { bytes } = this;
    const at = this.#at;
    if (at < bytes.length && bytes[at]! >= 0x80 && utf8Length(bytes, at) === 0)
      fail('BAD_UTF8', { offset: at });
    this.#bad(at >= bytes.length ? `${what}, got the end` : what);
  }

  #bad(what: string): never {
    fail('BAD_JSON', { offset: this.#at, what });
  }
}

function isNumberStart(byte: number): boolean {
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
}

function grow(): void {
  const grown = new Int32Array(tape.length * 2);
  grown.set(tape);
  tape = grown;
}

function deepen(): void {
  const widen = (from: Int32Array): Int32Array<ArrayBuffer> => {
    const to = new Int32Array(from.length * 2);
    to.set(from);
    return to;
  };
  stack = widen(stack);
  counts = widen(counts);
  keys = widen(keys);
}
