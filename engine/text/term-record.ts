// What is kept under a term key: how many documents hold the term, and the newest postings.
//
//   record   df  block (posting.ts)                                  df is a varint
import type { ByteWriter } from '../base/bytes.js';
import { type Block, encodeBlock, newBlock, readBlock } from './posting.js';
import { putVarint, VarintReader } from './varint.js';

export interface TermRecord {
  /** Documents that hold the term. */
  df: number;
  /** The newest postings, above all older blocks. */
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
