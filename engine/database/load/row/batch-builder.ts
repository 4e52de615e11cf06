// Collects the rows of one batch (row-batch.ts). A row is appended after the others and becomes part of the
// batch with `closeRow`; `abandonRow` removes an open row.
import { ByteWriter } from '../../../base/bytes.js';
import { checksumSize } from '../../../storage/table/checksum.js';
import { appendListKey } from '../../../storage/index/index-key.js';
import { type Reject, type RetriedRow, type RowBatch, type RowText, keyBase } from './row-batch.js';
import { TermCollector } from '../../../text/term-batch.js';

/** Lengths of the lists before the open row, to which `abandonRow` cuts them. */
interface Mark {
  entries: number;
  vectorHeads: number;
  floats: number;
  texts: number;
  ends: number;
  own: number;
  keys: number;
  upserts: number;
}

export class BatchBuilder {
  readonly writer = new ByteWriter(1 << 20);
  rejects: Reject[] = [];
  retried: RetriedRow[] = [];
  #count = 0;
  #heads: number[] = [];
  #entries: number[] = [];
  #vectorHeads: number[] = [];
  #floats = new Float64Array(1024);
  #floatCount = 0;
  #texts: RowText[] = [];
  #ends: Uint8Array[] = [];
  readonly #keys = new ByteWriter(1 << 10);
  #keyEnds: number[] = [];
  #upserts: number[] = [];
  #ownRows: number[] = [];
  #ownIds: Uint8Array[] = [];
  readonly #terms = new TermCollector();
  #documents: number[] = [];
  #row = { label: 0, line: 0, from: 0, to: 0, start: 0 };
  #isOpen = false;
  #mark: Mark = {
    entries: 0,
    vectorHeads: 0,
    floats: 0,
    texts: 0,
    ends: 0,
    own: 0,
    keys: 0,
    upserts: 0,
  };

  begin(): void {
    this.rejects = [];
    this.retried = [];
    this.writer.length = 0;
    this.#count = 0;
    this.#floatCount = 0;
    this.#heads = [];
    this.#entries = [];
    this.#vectorHeads = [];
    this.#texts = [];
    this.#ends = [];
    this.#keys.length = 0;
    this.#keyEnds = [];
    this.#upserts = [];
    this.#ownRows = [];
    this.#ownIds = [];
    this.#terms.clear();
    this.#documents = [];
    this.#isOpen = false;
  }

  openRow(label: number, line: number): void {
    const row = this.#row;
    row.label = label;
    row.line = line;
    row.from = row.to = 0;
    row.start = this.writer.length;
    const mark = this.#mark;
    mark.entries = this.#entries.length;
    mark.vectorHeads = this.#vectorHeads.length;
    mark.floats = this.#floatCount;
    mark.texts = this.#texts.length;
    mark.ends = this.#ends.length;
    mark.own = this.#ownRows.length;
    mark.keys = this.#keyEnds.length;
    mark.upserts = this.#upserts.length;
    this.#isOpen = true;
  }

  abandonRow(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const mark = this.#mark;
    this.writer.length = this.#row.start;
    this.#entries.length = mark.entries;
    this.#vectorHeads.length = mark.vectorHeads;
    this.#floatCount = mark.floats;
    this.#texts.length = mark.texts;
    this.#ends.length = mark.ends;
    this.#ownRows.length = this.#ownIds.length = mark.own;
    this.#keyEnds.length = mark.keys;
    this.#keys.length = this.#keyEnds.at(-1) ?? 0;
    this.#upserts.length = mark.upserts;
  }

  /** Commits the open row to the batch. */
  closeRow(name: number): void {
    const { label, line, from, to, start } = this.#row;
    this.#heads.push(label, name, from, to, start, this.#recordEnd, line);
    this.#count++;
    this.#isOpen = false;
  }

  #recordEnd = 0;

  /** Ends the record. Index keys follow, after space for the checksum. */
  endRecord(): void {
    this.#recordEnd = this.writer.length;
    this.writer.reserve(checksumSize);
    this.writer.length += checksumSize;
  }

  /** Offset of the record of the open row. */
  get recordStart(): number {
    return this.#row.start;
  }

  ends(from: number, to: number): void {
    this.#row.from = from;
    this.#row.to = to;
  }

  /** Adds an endpoint that is named by its own id. */
  end(uuid: Uint8Array): number {
    return ~(this.#ends.push(uuid) - 1);
  }

  /** Adds an endpoint that is named by a unique value. */
  endByKey(prefix: Uint8Array): number {
    appendListKey(this.#keys, prefix);
    return -keyBase - (this.#keyEnds.push(this.#keys.length) - 1);
  }

  /** The open row changes the element with its value of the property at `index`. */
  upsert(index: number, properties: readonly number[]): void {
    this.#upserts.push(this.#count, index, properties.length, ...properties);
  }

  ownId(uuid: Uint8Array): void {
    this.#ownRows.push(this.#count);
    this.#ownIds.push(uuid);
  }

  /** Adds an index entry. The key of its value's list is appended to the bytes. */
  entry(index: number, prefix: Uint8Array): void {
    const start = this.writer.length;
    appendListKey(this.writer, prefix);
    this.#entries.push(this.#count, index, start, this.writer.length);
  }

  vector(vector: Float64Array): void {
    const start = this.#floatCount;
    const needed = start + vector.length;
    if (needed > this.#floats.length) {
      const longer = new Float64Array(Math.max(needed, this.#floats.length * 2));
      longer.set(this.#floats.subarray(0, start));
      this.#floats = longer;
    }
    this.#floats.set(vector, start);
    this.#floatCount = needed;
    this.#vectorHeads.push(this.#count, start, vector.length);
  }

  /** Adds a text whose embedding becomes the row's vector. */
  text(type: string, text: string): void {
    this.#vectorHeads.push(this.#count, ~(this.#texts.push({ type, text }) - 1), 0);
  }

  /** Adds the keyword document of the open row. The row can no longer fail after this. */
  document(frequencies: ReadonlyMap<string, number>, length: number): void {
    if (frequencies.size === 0) return;
    const row = this.#count;
    this.#terms.add(this.#row.label, row, frequencies);
    this.#documents.push(row, length);
  }

  take(): RowBatch {
    return {
      count: this.#count,
      heads: Float64Array.from(this.#heads),
      bytes: this.writer.take(),
      entries: Int32Array.from(this.#entries),
      vectorHeads: Int32Array.from(this.#vectorHeads),
      vectors: this.#floats.slice(0, this.#floatCount),
      texts: this.#texts,
      embedded: [],
      ends: Buffer.concat(this.#ends),
      keys: this.#keys.take(),
      keyEnds: Uint32Array.from(this.#keyEnds),
      upserts: Int32Array.from(this.#upserts),
      ownRows: Uint32Array.from(this.#ownRows),
      ownIds: Buffer.concat(this.#ownIds),
      terms: this.#terms.take(),
      documents: Uint32Array.from(this.#documents),
      rejects: this.rejects,
      retried: this.retried,
    };
  }
}
