// Encodes and decodes blocks of postings. All numbers are varints (varint.ts).
//
//   block    count  count x (id - previous id, frequency, document length)
//
// Invariant: ids ascend within a block and from block to block.
import type { ByteWriter } from '../base/bytes.js';
import { putVarint, VarintReader } from './varint.js';

export const BLOCK_MAX = 128;

/** Up to 129 decoded postings: one more than a stored block may hold. */
export interface Block {
  count: number;
  ids: Uint32Array;
  frequencies: Uint32Array;
  lengths: Uint32Array;
}

export function newBlock(): Block {
  const size = BLOCK_MAX + 1;
  return {
    count: 0,
    ids: new Uint32Array(size),
    frequencies: new Uint32Array(size),
    lengths: new Uint32Array(size),
  };
}

export function encodeBlock(writer: ByteWriter, block: Block, from: number, to: number): void {
  const { ids, frequencies, lengths } = block;
  putVarint(writer, to - from);
  let previous = 0;
  for (let i = from; i < to; i++) {
    putVarint(writer, ids[i]! - previous);
    putVarint(writer, frequencies[i]!);
    putVarint(writer, lengths[i]!);
    previous = ids[i]!;
  }
}

export function decodeBlock(bytes: Uint8Array, block: Block): void {
  readBlock(new VarintReader(bytes), block);
}

/** Reads a block at the position of the reader. */
export function readBlock(reader: VarintReader, block: Block): void {
  const { ids, frequencies, lengths } = block;
  const count = reader.next();
  block.count = count;
  let id = 0;
  for (let i = 0; i < count; i++) {
    id += reader.next();
    ids[i] = id;
    frequencies[i] = reader.next();
    lengths[i] = reader.next();
  }
}
