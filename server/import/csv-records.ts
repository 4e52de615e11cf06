// Splits the bytes of a CSV file (RFC 4180) into records, each with the offsets of its cells. A cell that
// begins with a quote is quoted; a quote inside is written twice. A malformed record is reported, and reading
// continues after its first line: a quote that is never closed costs one line, not the rest of the file.
// Invariant: every line of the file belongs to exactly one record. The work is linear in the bytes, because a
// scan that fails ends at the quote of a later record.
import { isUtf8 } from 'node:buffer';
import { fail } from '../../engine/internal.js';

/** Maximum number of records in a slab. A slab has a maximum number of cells, too. */
const slabRecords = 64;
const slabCells = 64 * 1024;

/**
 * Maximum bytes of a record, more than an element can have. A longer record has no line end, or a quote
 * that is never closed.
 */
const recordBytes = 64 * 1024 * 1024;

/** Number of bytes of a malformed record that are kept for the report. */
const shownBytes = 8 * 1024;

const quote = 0x22;
const lineFeed = 10;
const carriage = 13;

/** Why a record is malformed. */
export interface CsvError {
  /** What the record should be. */
  allowed: string;
  /** The first bytes of the record. */
  text: string;
}

/** The cells of consecutive records of a CSV file. */
export interface Slab {
  bytes: Uint8Array;
  /** Offsets of the starts of cells, quotes included. */
  starts: number[];
  ends: number[];
  /** Number of cells of each record; 0 for a malformed record. */
  counts: number[];
  /** The line on which each record starts. */
  lines: number[];
  /** Malformed records by their index in the slab. */
  errors: Map<number, CsvError>;
}

const errors = {
  inCell: 'a record whose quotes stand around whole cells',
  behind: 'a record with nothing between a closing quote and the next cell',
  open: 'a record whose quotes are closed',
  long: `a record of at most ${recordBytes} bytes`,
  utf8: 'a record of UTF-8',
  zero: 'a record without zero bytes',
} as const;

export class CsvRecords {
  /** The beginning of a record whose end has not been read yet. */
  #rest: Uint8Array = new Uint8Array(0);
  #isFirst = true;
  /** Whether the rest of a record is skipped because it is too long. The error has been reported. */
  #isPassing = false;
  readonly #scan: RecordScan;

  constructor(
    private readonly path: string,
    delimiter: string,
  ) {
    this.#scan = new RecordScan(delimiter.charCodeAt(0));
  }

  *read(block: Uint8Array): Generator<Slab> {
    const all = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    yield* this.#slabs(all, false);
  }

  *end(): Generator<Slab> {
    yield* this.#slabs(this.#rest, true);
  }

  refuse(line: number, what: string, hint?: string): never {
    const args = { what: `${this.path}, line ${line}: ${what}.` };
    return fail('CONFIG_INVALID', args, hint === undefined ? {} : { hint });
  }

  *#slabs(bytes: Uint8Array, isEnd: boolean): Generator<Slab> {
    const scan = this.#scan;
    if (this.#isFirst) {
      if (!isEnd && bytes.length < 3) {
        this.#rest = bytes;
        return;
      }
      this.#isFirst = false;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) scan.start = 3;
    }
    if (this.#isPassing) this.#pass(bytes, isEnd);
    scan.begin(bytes, isEnd);
    while (!this.#isPassing && scan.start < bytes.length) {
      const from = scan.start;
      const slab = scan.slab();
      this.#checkBytes(slab, from, scan.start);
      if (slab.counts.length > 0) yield slab;
      if (slab.counts.length < slabRecords && slab.starts.length < slabCells) break;
    }
    if (!this.#isPassing && bytes.length - scan.start > recordBytes) yield* this.#tooLong(bytes);
    this.#rest = bytes.subarray(scan.start);
    scan.rebase();
  }

  /** Skips a line that is too long. A quote without an end costs only its line. */
  *#tooLong(bytes: Uint8Array): Generator<Slab> {
    const scan = this.#scan;
    const isLine = lineEnd(bytes, scan.start) < 0;
    yield scan.refused(isLine ? errors.long : errors.open);
    if (isLine) {
      this.#isPassing = true;
      scan.start = bytes.length;
    }
  }

  #pass(bytes: Uint8Array, isEnd: boolean): void {
    const end = lineEnd(bytes, 0);
    // A carriage return at the end of a block can be the first half of a line end.
    const isHalf = end === bytes.length - 1 && bytes[end] === carriage && !isEnd;
    this.#isPassing = (end < 0 || isHalf) && !isEnd;
    this.#scan.start = this.#isPassing ? (isHalf ? end : bytes.length) : nextLine(bytes, end);
  }

  /** Fails if the bytes contain something that no CSV text contains. */
  #checkBytes(slab: Slab, from: number, to: number): void {
    const { bytes, counts, starts, ends, errors: found } = slab;
    const part = bytes.subarray(from, to);
    if (isUtf8(part) && part.indexOf(0) < 0) return;
    let cell = 0;
    for (let record = 0; record < counts.length; record++) {
      const count = counts[record]!;
      if (count === 0) continue;
      const own = bytes.subarray(starts[cell]!, ends[cell + count - 1]!);
      const zero = own.indexOf(0) >= 0;
      if (zero || !isUtf8(own)) {
        found.set(record, { allowed: zero ? errors.zero : errors.utf8, text: shown(own) });
      }
      cell += count;
    }
  }
}

/**
 * Finds the ends of records and cells. Keeps the state of an incomplete record until more bytes arrive.
 */
class RecordScan {
  /** Offset at which the next record starts. */
  start = 0;
  /** Number of the line on which it starts. */
  #line = 1;
  #bytes: Uint8Array = new Uint8Array(0);
  #isEnd = false;
  /** State of the current record: next byte, line, number of cells, whether a quote is open. */
  #at = 0;
  #lines = 0;
  #cellStart = 0;
  #isOpen = false;
  #starts: number[] = [];
  #ends: number[] = [];

  /** 1 for the bytes that end a cell or do not belong in one. */
  private readonly special = new Uint8Array(256);

  constructor(private readonly delimiter: number) {
    for (const byte of [delimiter, quote, lineFeed, carriage]) this.special[byte] = 1;
  }

  begin(bytes: Uint8Array, isEnd: boolean): void {
    this.#bytes = bytes;
    this.#isEnd = isEnd;
    if (this.#at < this.start) this.#fresh();
  }

  /** Removes the bytes before `start`. */
  rebase(): void {
    const by = this.start;
    this.start = 0;
    this.#at = Math.max(0, this.#at - by);
    this.#cellStart = Math.max(0, this.#cellStart - by);
    for (let i = 0; i < this.#starts.length; i++) {
      this.#starts[i]! -= by;
      this.#ends[i]! -= by;
    }
  }

  /** Returns the next records. The slab is not full if no more records are complete. */
  slab(): Slab {
    const slab = this.#slab();
    while (slab.counts.length < slabRecords && slab.starts.length < slabCells) {
      if (this.start >= this.#bytes.length) break;
      const outcome = this.#record(slab);
      if (outcome === undefined) break;
      if (outcome !== '') this.#recordError(slab, outcome);
    }
    return slab;
  }

  /** Marks the current record as malformed. */
  refused(allowed: string): Slab {
    const slab = this.#slab();
    this.#recordError(slab, allowed);
    return slab;
  }

  #slab(): Slab {
    const bytes = this.#bytes;
    return { bytes, starts: [], ends: [], counts: [], lines: [], errors: new Map() };
  }

  #fresh(): void {
    this.#at = this.start;
    this.#cellStart = this.start;
    this.#lines = 0;
    this.#isOpen = false;
    this.#starts = [];
    this.#ends = [];
  }

  /** Reports a malformed record and continues after its first line. */
  #recordError(slab: Slab, allowed: string): void {
    const end = lineEnd(this.#bytes, this.start);
    const stop = end < 0 ? this.#bytes.length : end;
    slab.errors.set(slab.counts.length, {
      allowed,
      text: shown(this.#bytes.subarray(this.start, stop)),
    });
    slab.counts.push(0);
    slab.lines.push(this.#line++);
    this.start = nextLine(this.#bytes, end);
    this.#fresh();
  }

  /**
   * Reads one record. Returns '' if it is complete, the reason if it is malformed, or undefined if its
   * end has not been read.
   */
  #record(slab: Slab): string | undefined {
    const bytes = this.#bytes;
    const { length } = bytes;
    const { delimiter, special } = this;
    let at = this.#at;
    for (;;) {
      if (this.#isOpen || (at === this.#cellStart && bytes[at] === quote)) {
        const next = this.#quoted(this.#isOpen ? at : at + 1);
        if (typeof next !== 'number') return next;
        at = next;
      }
      while (at < length && special[bytes[at]!] === 0) at++;
      const byte = at < length ? bytes[at]! : lineFeed;
      if (byte === quote) return this.#resolved(errors.inCell);
      if (byte === delimiter) {
        this.#cell(at);
        this.#cellStart = ++at;
        continue;
      }
      // A carriage return at the end of a block can be the first half of a line end.
      const isComplete = at < length && (byte === lineFeed || at + 1 < length);
      this.#at = at;
      if (!isComplete && !this.#isEnd) return undefined;
      this.#cell(at);
      this.#take(slab, at < length ? nextLine(bytes, at) : length);
      return '';
    }
  }

  /**
   * Returns the offset after a quoted cell, from a position inside it. Returns the reason if it is
   * malformed, or undefined if its end has not been read.
   */
  #quoted(from: number): number | string | undefined {
    const bytes = this.#bytes;
    const { length } = bytes;
    this.#isOpen = true;
    for (let at = from; at < length; at++) {
      const byte = bytes[at]!;
      if (byte > quote || (byte !== quote && byte !== lineFeed && byte !== carriage)) continue;
      // The meaning of the byte can depend on the next one.
      if (at + 1 === length && !this.#isEnd && byte !== lineFeed) {
        this.#at = at;
        return undefined;
      }
      const next = bytes[at + 1];
      if (byte === lineFeed || (byte === carriage && next !== lineFeed)) this.#lines++;
      if (byte !== quote) continue;
      if (next === quote) {
        at++;
        continue;
      }
      this.#isOpen = false;
      const isOver = at + 1 === length || next === lineFeed || next === carriage;
      return isOver || next === this.delimiter ? at + 1 : this.#resolved(errors.behind);
    }
    this.#at = length;
    return this.#isEnd ? errors.open : undefined;
  }

  /** Reports an error once the first line of the record is complete, and skips this line. */
  #resolved(allowed: string): string | undefined {
    const end = lineEnd(this.#bytes, this.start);
    const isTerminated =
      end >= 0 && (this.#bytes[end] === lineFeed || end + 1 < this.#bytes.length);
    if (isTerminated || this.#isEnd) return allowed;
    // The scan finds it again when more bytes have arrived: the line is short, or too long.
    this.#fresh();
    return undefined;
  }

  #cell(end: number): void {
    this.#starts.push(this.#cellStart);
    this.#ends.push(end);
  }

  #take(slab: Slab, next: number): void {
    slab.counts.push(this.#starts.length);
    slab.lines.push(this.#line);
    for (let i = 0; i < this.#starts.length; i++) {
      slab.starts.push(this.#starts[i]!);
      slab.ends.push(this.#ends[i]!);
    }
    this.#line += this.#lines + 1;
    this.start = next;
    this.#fresh();
  }
}

/** Returns the offset of the next line feed or carriage return, or -1. */
function lineEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === lineFeed || bytes[at] === carriage) return at;
  }
  return -1;
}

/** Returns the offset of the line after the line end at `at`. */
function nextLine(bytes: Uint8Array, at: number): number {
  if (at < 0) return bytes.length;
  return bytes[at] === carriage && bytes[at + 1] === lineFeed ? at + 2 : at + 1;
}

const shown = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, shownBytes)).toString();
