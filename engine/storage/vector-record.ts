// Embeddings as stored: the numbers as given, then one byte that says in which width.
//
//   numbers f64 x n (or f32 x n) · 8 (or 4)
//
// Little-endian. Invariant: what is read equals what was written; F32 storage rounds once, before
// anything sees the vector.
import type { Table } from './env.js';

export type VectorWidth = 'f64' | 'f32';

/** The numbers that will be read back. */
export function storedVector(vector: Float64Array, width: VectorWidth): Float64Array {
  return width === 'f64' ? vector : Float64Array.from(Float32Array.from(vector));
}

export function encodeVector(vector: Float64Array, width: VectorWidth): Uint8Array {
  const numbers = width === 'f64' ? vector : Float32Array.from(vector);
  const value = new Uint8Array(numbers.byteLength + 1);
  value.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  value[numbers.byteLength] = numbers.BYTES_PER_ELEMENT;
  return value;
}

/** A private copy of the embedding of an element, undefined when it has none. */
export function readVector(table: Table<number>, id: number): Float64Array | undefined {
  const value = table.peek(id);
  if (value === undefined) return undefined;
  const size = value.length - 1;
  if (value[size] === 4) {
    const numbers = new Float32Array(size / 4);
    new Uint8Array(numbers.buffer).set(value.subarray(0, size));
    return Float64Array.from(numbers);
  }
  const numbers = new Float64Array(size / 8);
  new Uint8Array(numbers.buffer).set(value.subarray(0, size));
  return numbers;
}
