// Postings as bytes. All numbers are varints (7 bits a byte, lowest first).
//
//   block    count  top  shortest  count x (id - previous id, frequency, document length)
//   record   df  top  shortest  block
//
// `top` is the highest frequency and `shortest` the least document length: together they bound the score of any
// posting, whatever the average length is by then. Of a record they bound all blocks of the term, and may be loose
// after removals. Ids ascend within a block and from block to block.
import type { ByteWriter } from '../base/bytes.js';

export const BLOCK_MAX = 128;

/** Up to 129 decoded postings: one more than a stored block may hold. */
export interface Block {
  count: number;
  ids: Uint32Array;
  frequencies: Uint32Array;
  lengths: Uint32Array;
  top: number;
  shortest: number;
}

/** What is kept under a term key. */
export interface TermRecord {
  /** Documents that hold the term. */
  df: number;
  top: number;
  shortest: number;
  /** The newest postings, above all block keys. */
  tail: Block;
}

export function newBlock(): Block {
  const size = BLOCK_MAX + 1;
  return {
    count: 0,
    ids: new Uint32Array(size),
    frequencies: new Uint32Array(size),
    lengths: new Uint32Array(size),
    top: 0,
    shortest: 0,
  };
}

export function newRecord(): TermRecord {
  return { df: 0, top: 0, shortest: 0xffffffff, tail: newBlock() };
}

export function clearRecord(record: TermRecord): void {
  record.df = 0;
  record.top = 0;
  record.shortest = 0xffffffff;
  record.tail.count = 0;
}

export function encodeBlock(writer: ByteWriter, block: Block, from: number, to: number): void {
  const { ids, frequencies, lengths } = block;
  let top = 0;
  let shortest = 0xffffffff;
  for (let i = from; i < to; i++) {
    top = Math.max(top, frequencies[i]!);
    shortest = Math.min(shortest, lengths[i]!);
  }
  put(writer, to - from);
  put(writer, top);
  put(writer, shortest);
  let previous = 0;
  for (let i = from; i < to; i++) {
    put(writer, ids[i]! - previous);
    put(writer, frequencies[i]!);
    put(writer, lengths[i]!);
    previous = ids[i]!;
  }
}

export function encodeRecord(writer: ByteWriter, record: TermRecord): void {
  put(writer, record.df);
  put(writer, record.top);
  put(writer, record.shortest);
  encodeBlock(writer, record.tail, 0, record.tail.count);
}

/** The place of the reader below; decoding is synchronous and never nested. */
let cursor = 0;

export function decodeBlock(bytes: Uint8Array, block: Block): void {
  cursor = 0;
  readBlock(bytes, block);
}

export function decodeRecord(bytes: Uint8Array, record: TermRecord): void {
  cursor = 0;
  record.df = get(bytes);
  record.top = get(bytes);
  record.shortest = get(bytes);
  readBlock(bytes, record.tail);
}

function readBlock(bytes: Uint8Array, block: Block): void {
  const { ids, frequencies, lengths } = block;
  const count = get(bytes);
  block.count = count;
  block.top = get(bytes);
  block.shortest = get(bytes);
  let id = 0;
  for (let i = 0; i < count; i++) {
    id += get(bytes);
    ids[i] = id;
    frequencies[i] = get(bytes);
    lengths[i] = get(bytes);
  }
}

function put(writer: ByteWriter, value: number): void {
  while (value > 127) {
    writer.byte((value & 127) | 128);
    value >>>= 7;
  }
  writer.byte(value);
}

function get(bytes: Uint8Array): number {
  let byte = bytes[cursor++]!;
  if (byte < 128) return byte;
  let value = byte & 127;
  for (let shift = 7; byte > 127; shift += 7) {
    byte = bytes[cursor++]!;
    value |= (byte & 127) << shift;
  }
  return value >>> 0;
}
