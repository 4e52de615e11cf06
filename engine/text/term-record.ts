// Encodes the record under a term key: the number of documents that contain the term, and the newest
// postings.
//
//   record   df  block (posting.ts)                                  df is a varint
import { ByteWriter } from '../base/bytes.js';
import { BLOCK_MAX, type Block, encodeBlock, newBlock, readBlock } from './posting.js';
import { putVarint, VarintReader } from './varint.js';

export interface TermRecord {
  /** Number of documents that contain the term. */
  df: number;
  /** Newest postings, with ids above those of all sealed blocks. */
  tail: Block;
}

export function newRecord(): TermRecord {
  return { df: 0, tail: newBlock() };
}

export function encodeRecord(writer: ByteWriter, record: TermRecord): void {
  putVarint(writer, record.df);
  encodeBlock(writer, record.tail, 0, record.tail.count);
}

export function decodeRecord(bytes: Uint8Array, record: TermRecord): void {
  const reader = new VarintReader(bytes);
  record.df = reader.next();
  readBlock(reader, record.tail);
}

const longer = new ByteWriter(1024);

/**
 * Returns the record with one more posting at its end, or undefined when the id is not the highest or the
 * tail is full. The other postings are copied, not decoded.
 */
export function appendToRecord(
  bytes: Uint8Array,
  id: number,
  frequency: number,
  length: number,
): Uint8Array | undefined {
  const reader = new VarintReader(bytes);
  const df = reader.next();
  const count = reader.next();
  if (count === 0 || count >= BLOCK_MAX) return undefined;
  const start = reader.at;
  let last = 0;
  for (let i = 0; i < count; i++) {
    last += reader.next();
    reader.next();
    reader.next();
  }
  if (id <= last) return undefined;
  putVarint(longer, df + 1);
  putVarint(longer, count + 1);
  longer.append(bytes, start, bytes.length);
  putVarint(longer, id - last);
  putVarint(longer, frequency);
  putVarint(longer, length);
  return longer.take();
}
