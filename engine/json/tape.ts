// The tape: the result of one pass over a body, and the views that read it.
//
// Four 32-bit words per entry. An object's members follow it as key entry, value entry, key entry,
// ...; an array's elements follow it in order.
//
//   word 0   bits 0-2 kind
//            bit 3 escaped (strings), fraction or exponent (numbers)   bit 4 not ASCII (strings)
//            bits 8-31 number of elements or members (arrays, objects)
//   word 1   first byte; of a string the one after the quote
//   word 2   strings: closing quote   arrays, objects: byte after the last
//   word 3   arrays, objects: tape index of the entry after their content
//   words 2 and 3 of a number: its value as a 64-bit float
//
// Invariant: a tape exists only for a body that passes every check of the scanner.
import { numberEnd } from './number.js';
import { pointerTo } from './pointer.js';
import { slice, sliceUtf8 } from '../base/byte-slice.js';
import type { JsonKind, JsonView } from './view.js';

export const KIND = { null: 0, boolean: 1, number: 2, string: 3, array: 4, object: 5 } as const;
export const FLAG = { escaped: 8, fraction: 8, wide: 16 } as const;
export const ENTRY = 4;
export const COUNT_SHIFT = 8;

const kinds: readonly JsonKind[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];

const pair = new Int32Array(2);
const pairFloat = new Float64Array(pair.buffer);

export function putFloat(tape: Int32Array, entry: number, value: number): void {
  pairFloat[0] = value;
  tape[entry + 2] = pair[0]!;
  tape[entry + 3] = pair[1]!;
}

function floatAt(tape: Int32Array, entry: number): number {
  pair[0] = tape[entry + 2]!;
  pair[1] = tape[entry + 3]!;
  return pairFloat[0]!;
}

/** Returns the tape index of the entry after a value and its content. */
export function entryAfter(tape: Int32Array, entry: number): number {
  return (tape[entry]! & 7) >= KIND.array ? tape[entry + 3]! : entry + ENTRY;
}

/** Returns the decoded text of the string or key entry at `index`. */
export function textAt(bytes: Uint8Array, tape: Int32Array, index: number): string {
  const head = tape[index]!;
  const start = tape[index + 1]!;
  const end = tape[index + 2]!;
  if ((head & (FLAG.escaped | FLAG.wide)) === 0) return slice(bytes, start, end);
  const text = sliceUtf8(bytes, start, end);
  return (head & FLAG.escaped) === 0 ? text : (JSON.parse(`"${text}"`) as string);
}

/** Returns true if the string or key entry at `index` spells `name`. */
function spells(bytes: Uint8Array, tape: Int32Array, index: number, name: string): boolean {
  if ((tape[index]! & (FLAG.escaped | FLAG.wide)) !== 0) return textAt(bytes, tape, index) === name;
  const start = tape[index + 1]!;
  if (tape[index + 2]! - start !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false;
  return true;
}

/**
 * A view of the entry at `index`. Reading all elements or members in order is linear, because each view
 * stores the position of the last one read.
 */
export class TapeView implements JsonView {
  #lastIndex = 0;
  #lastEntry: number;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly tape: Int32Array,
    private readonly index: number,
    private readonly parent: TapeView | undefined = undefined,
    private readonly name: string | number = '',
  ) {
    this.#lastEntry = index + ENTRY;
  }

  get kind(): JsonKind {
    return kinds[this.tape[this.index]! & 7]!;
  }

  get path(): string {
    return this.parent === undefined ? '' : pointerTo(this.parent.path, this.name);
  }

  get length(): number {
    return this.tape[this.index]! >>> COUNT_SHIFT;
  }

  get integral(): boolean {
    return (this.tape[this.index]! & (7 | FLAG.fraction)) === KIND.number;
  }

  get start(): number {
    return this.tape[this.index + 1]!;
  }

  get verbatim(): boolean {
    return (this.tape[this.index]! & (7 | FLAG.escaped)) === KIND.string;
  }

  get size(): number {
    return this.#end() - this.tape[this.index + 1]!;
  }

  boolean(): boolean {
    return this.bytes[this.tape[this.index + 1]!] === 0x74;
  }

  token(): string {
    return slice(this.bytes, this.tape[this.index + 1]!, this.#end());
  }

  source(): string {
    const around = Number(this.kind === 'string');
    return sliceUtf8(this.bytes, this.start - around, this.#end() + around);
  }

  /** Returns the position after the last byte. */
  #end(): number {
    const { bytes, tape, index } = this;
    return this.kind === 'number' ? numberEnd(bytes, tape[index + 1]!) : tape[index + 2]!;
  }

  float(): number {
    return floatAt(this.tape, this.index);
  }

  text(): string {
    return textAt(this.bytes, this.tape, this.index);
  }

  is(text: string): boolean {
    const { tape, index } = this;
    return (tape[index]! & 7) === KIND.string && spells(this.bytes, tape, index, text);
  }

  at(index: number): JsonView {
    const { tape } = this;
    if (index < this.#lastIndex) {
      this.#lastIndex = 0;
      this.#lastEntry = this.index + ENTRY;
    }
    let entry = this.#lastEntry;
    for (let i = this.#lastIndex; i < index; i++) entry = entryAfter(tape, entry);
    this.#lastIndex = index;
    this.#lastEntry = entry;
    return new TapeView(this.bytes, tape, entry, this, index);
  }

  /** Tape index after the entries of the members. Null has no member entries and reads like `{}`. */
  get #membersEnd(): number {
    return this.kind === 'object' ? this.tape[this.index + 3]! : this.index;
  }

  member(name: string): JsonView | undefined {
    const { bytes, tape } = this;
    const end = this.#membersEnd;
    const first = this.#lastEntry;
    for (let key = first; key < end; key = entryAfter(tape, key + ENTRY))
      if (spells(bytes, tape, key, name)) return this.#found(key, name);
    for (let key = this.index + ENTRY; key < first; key = entryAfter(tape, key + ENTRY))
      if (spells(bytes, tape, key, name)) return this.#found(key, name);
    return undefined;
  }

  #found(key: number, name: string): JsonView {
    this.#lastEntry = entryAfter(this.tape, key + ENTRY);
    return new TapeView(this.bytes, this.tape, key + ENTRY, this, name);
  }

  names(max = Number.POSITIVE_INFINITY): string[] {
    const { bytes, tape } = this;
    const names: string[] = [];
    const end = this.#membersEnd;
    let key = this.index + ENTRY;
    for (; key < end && names.length < max; key = entryAfter(tape, key + ENTRY))
      names.push(textAt(bytes, tape, key));
    return names;
  }

  floats(into: Float64Array): number {
    const { tape } = this;
    let entry = this.index + ENTRY;
    for (let i = 0; i < into.length; i++) {
      if ((tape[entry]! & 7) !== KIND.number) return i;
      into[i] = floatAt(tape, entry);
      entry += ENTRY;
    }
    return -1;
  }
}
