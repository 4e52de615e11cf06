// Serializes embeddings that one node of a cluster sends with a call to the node that writes.
// Invariant: an embedding is found only by its model, its use and its text.
import { createHash } from 'node:crypto';
import type { EmbedUse } from './embedder.js';

/** What decides, together with the text, which vector it has. */
export interface TransferUse extends EmbedUse {
  model: string | undefined;
}

/** Result of one text. */
export interface Embedded {
  use: TransferUse;
  text: string;
  vector: Float64Array;
}

/** `TLV1`, then for each: hash of use and text, count of numbers u32, the numbers f64; little-endian. */
const mark = 0x31564c54;
const hashBytes = 32;

const computeHash = ({ model, purpose, dimensions }: TransferUse, text: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([model, purpose, dimensions, text]))
    .digest();

export function packEmbedded(list: readonly Embedded[]): Uint8Array {
  const bytes = list.reduce((sum, { vector }) => sum + hashBytes + 4 + vector.length * 8, 4);
  const out = Buffer.alloc(bytes);
  let at = out.writeUInt32LE(mark);
  for (const { use, text, vector } of list) {
    at += computeHash(use, text).copy(out, at);
    at = out.writeUInt32LE(vector.length, at);
    for (const number of vector) at = out.writeDoubleLE(number, at);
  }
  return out;
}

export class CarriedEmbeddings {
  readonly #vectors = new Map<string, Float64Array>();

  /** An unknown format or a truncated message counts as empty. */
  constructor(packed: Uint8Array) {
    const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
    if (bytes.length < 4 || bytes.readUInt32LE() !== mark) return;
    for (let at = 4; at + hashBytes + 4 <= bytes.length; ) {
      const name = bytes.toString('latin1', at, at + hashBytes);
      const count = bytes.readUInt32LE(at + hashBytes);
      at += hashBytes + 4;
      if (at + count * 8 > bytes.length) return;
      this.#vectors.set(
        name,
        Float64Array.from({ length: count }, (_, i) => bytes.readDoubleLE(at + i * 8)),
      );
      at += count * 8;
    }
  }

  find(use: TransferUse, text: string): Float64Array | undefined {
    return this.#vectors.get(computeHash(use, text).toString('latin1'));
  }
}
