// The bytes of a CSV file (RFC 4180) as records: where each ends is found here, what stands between
// quotes is taken apart by csv-parse. Records without a quote, as machines write most, stay bytes.
//
// Invariant: no record is merged, cut or dropped without a word: where the file cannot be taken apart
// reading ends with its place.
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { fail } from '../../engine/index.js';

/** Records go on in slabs: those of one slab with a quote in it all go to the parser. */
const slabRecords = 64;

/** More than an element may take: a quote that is never closed. */
const recordBytes = 64 * 1024 * 1024;

const quote = 0x22;
const lineFeed = 10;
const carriage = 13;

/** Records of a block that follow each other. */
export type Slab =
  | { records: QuotedRecord[]; plain?: undefined; line: number }
  /** Ends of cells in `bytes`; each record's last cell is followed by `recordEnd`. */
  | { plain: Uint8Array; starts: number[]; ends: number[]; counts: number[]; line: number };

export interface QuotedRecord {
  record: string[];
  raw: string;
}

export class CsvRecords {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** The beginning of a record whose end has not come. */
  #rest: Buffer = Buffer.alloc(0);
  /** Line on which it starts. */
  #line = 1;
  /** Lines in the blocks before, as the text is checked. */
  #checked = 0;
  #isFirst = true;
  readonly #delimiter: number;

  constructor(
    private readonly path: string,
    private readonly delimiter: string,
  ) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  *read(block: Uint8Array): Generator<Slab> {
    this.#check(block);
    const all = this.#rest.length === 0 ? asBuffer(block) : Buffer.concat([this.#rest, block]);
    yield* this.#slabs(all, false);
  }

  *end(): Generator<Slab> {
    this.#decode(new Uint8Array(0), false);
    yield* this.#slabs(this.#rest, true);
  }

  refuse(line: number, what: string, hint?: string): never {
    const args = { what: `${this.path}, line ${line}: ${what}.` };
    return fail('CONFIG_INVALID', args, hint === undefined ? {} : { hint });
  }

  *#slabs(bytes: Buffer, isEnd: boolean): Generator<Slab> {
    let at = 0;
    if (this.#isFirst && (isEnd || bytes.length >= 3)) {
      this.#isFirst = false;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) at = 3;
    }
    const scan = new SlabScan(bytes, this.#delimiter);
    while (at < bytes.length && !this.#isFirst) {
      const line = this.#line;
      const end = scan.run(at, isEnd);
      if (end === at) break;
      this.#line += scan.lines;
      const { starts, ends, counts } = scan;
      if (scan.hasQuote) {
        yield { records: this.#parse(bytes.subarray(at, end), line), line };
      } else yield { plain: bytes, starts, ends, counts, line };
      at = end;
    }
    this.#rest = bytes.subarray(at);
    // What is refused as too long is refused by the parser, which knows where the quote stands.
    if (this.#rest.length > recordBytes) this.#parse(this.#rest, this.#line);
  }

  #parse(bytes: Buffer, line: number): QuotedRecord[] {
    try {
      // What `raw` makes of the records, its types do not say.
      const records: unknown = parse(bytes, {
        raw: true,
        delimiter: this.delimiter,
        relax_column_count: true,
        record_delimiter: ['\r\n', '\n', '\r'],
        max_record_size: recordBytes,
      });
      return records as QuotedRecord[];
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const { lines = 1, index } = error as CsvError & { lines?: number; index?: number };
      const column = index === undefined ? '' : `, column ${index + 1}`;
      const message = error.message.replace(/ (on|at) line \d+/, '');
      return this.refuse(line + lines - 1, `${message}${column}`);
    }
  }

  /** What no text of records holds, told before it can be taken for some. */
  #check(bytes: Uint8Array): void {
    const zero = bytes.indexOf(0);
    if (zero >= 0) this.refuse(this.#lineAt(bytes, zero), 'a zero byte; is the file UTF-16?');
    this.#decode(bytes, true);
    this.#checked = this.#lineAt(bytes, bytes.length) - 1;
  }

  #decode(bytes: Uint8Array, stream: boolean): void {
    try {
      this.#decoder.decode(bytes, { stream });
    } catch {
      this.refuse(this.#checked + 1 + linesBeforeFault(bytes), 'bytes that are no UTF-8');
    }
  }

  /** The line on which the byte `at` of a block stands. */
  #lineAt(bytes: Uint8Array, at: number): number {
    let line = this.#checked + 1;
    for (let i = bytes.indexOf(lineFeed); i >= 0 && i < at; i = bytes.indexOf(lineFeed, i + 1))
      line++;
    return line;
  }
}

/** Finds the ends of records and cells, a slab at a time. */
class SlabScan {
  starts: number[] = [];
  ends: number[] = [];
  /** Cells by record. */
  counts: number[] = [];
  hasQuote = false;
  /** Lines that the slab takes. */
  lines = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly delimiter: number,
  ) {}

  /** Gives the end of the slab that starts at `from`, `from` when no record ends there. */
  run(from: number, isEnd: boolean): number {
    const { bytes, delimiter } = this;
    const { length } = bytes;
    this.starts = [];
    this.ends = [];
    this.counts = [];
    this.hasQuote = false;
    this.lines = 0;
    let lines = 0;
    let done = from;
    let start = from;
    let cells = 0;
    let isQuoted = false;
    let hasQuote = false;
    for (let at = from; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === quote) {
        isQuoted = !isQuoted;
        hasQuote = true;
        continue;
      }
      if (byte > 13 && byte !== delimiter) continue;
      if (isQuoted) {
        if (byte === lineFeed) lines++;
        continue;
      }
      if (byte === delimiter) {
        this.starts.push(start);
        this.ends.push(at);
        start = at + 1;
        cells++;
        continue;
      }
      if (byte !== lineFeed && byte !== carriage) continue;
      // A carriage return at the end of a block may be half of a line's end.
      if (byte === carriage && at + 1 === length && !isEnd) return done;
      this.#closeRecord(start, at, cells + 1);
      if (byte === carriage && bytes[at + 1] === lineFeed) at++;
      this.lines = ++lines;
      this.hasQuote ||= hasQuote;
      start = done = at + 1;
      cells = 0;
      if (this.counts.length === slabRecords) return done;
    }
    if (!isEnd || done === length) return done;
    this.#closeRecord(start, length, cells + 1);
    this.lines = lines + 1;
    this.hasQuote ||= hasQuote;
    return length;
  }

  #closeRecord(start: number, end: number, cells: number): void {
    this.starts.push(start);
    this.ends.push(end);
    this.counts.push(cells);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** How many lines of a block come before the first that is no UTF-8. */
function linesBeforeFault(bytes: Uint8Array): number {
  // The block may begin within a character.
  let start = 0;
  while (start < 3 && start < bytes.length && bytes[start]! >> 6 === 2) start++;
  for (let line = 0; ; line++) {
    const end = bytes.indexOf(lineFeed, start);
    if (end < 0) return line;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
