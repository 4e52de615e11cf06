// Embeddings as stored: the numbers as given, then one byte that says in which width.
//
//   numbers f64 x n (or f32 x n) · 8 (or 4)
//
// Little-endian. Invariant: what is read equals what was written; F32 storage rounds once, before
// anything sees the vector.
import { IdSet } from '../../base/id-set.js';
import { checksumSize } from '../table/checksum.js';
import type { Table } from '../table/env.js';

export type VectorWidth = 'f64' | 'f32';

/** The numbers that will be read back. */
export function storedVector(vector: Float64Array, width: VectorWidth): Float64Array {
  return width === 'f64' ? vector : Float64Array.from(Float32Array.from(vector));
}

export function encodeVector(vector: Float64Array, width: VectorWidth): Uint8Array {
  const numbers = numbersOf(vector, width);
  const value = new Uint8Array(numbers.byteLength + 1);
  writeNumbers(value, numbers);
  return value;
}

type Numbers = Float64Array | Float32Array;

function numbersOf(vector: Float64Array, width: VectorWidth): Numbers {
  return width === 'f64' ? vector : Float32Array.from(vector);
}

/** Writes an embedding to the beginning of `value`. */
function writeNumbers(value: Uint8Array, numbers: Numbers): void {
  value.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  value[numbers.byteLength] = numbers.BYTES_PER_ELEMENT;
}

/** Where embeddings of loads are put together; the table copies what it is given. */
let joined = new Uint8Array(4096);

/**
 * Puts an embedding behind all others as `encodeVector` writes it; false, and nothing is put, when
 * its id is not above all others.
 */
export function appendVector(
  table: Table<number>,
  id: number,
  vector: Float64Array,
  width: VectorWidth,
): boolean {
  const numbers = numbersOf(vector, width);
  const size = numbers.byteLength + 1;
  if (size + checksumSize > joined.length) joined = new Uint8Array(2 * size + checksumSize);
  writeNumbers(joined, numbers);
  return table.appendPart(id, joined, 0, size);
}

/** A private copy of the embedding of an element, undefined when it has none. */
export function readVector(
  table: Pick<Table<number>, 'peek'>,
  id: number,
): Float64Array | undefined {
  const value = table.peek(id);
  if (value === undefined) return undefined;
  const size = value.length - 1;
  const width = value[size]!;
  if (width === 4) return widened(value, size / 4);
  return new Float64Array(value.slice(0, size).buffer);
}

/**
 * Reads many embeddings for a moment each: into one buffer, so that the tens of them that every
 * search scores exactly leave nothing behind, and the checksum of each only the first time.
 */
export class VectorReader {
  #bytes = new Uint8Array(0);
  #numbers = new Float64Array(0);
  readonly #checked = new IdSet();

  constructor(private readonly table: Table<number>) {}

  /** Valid until the next call. */
  read(id: number): Float64Array | undefined {
    const value = this.table.peek(id, this.#checked.has(id));
    if (value === undefined) return undefined;
    this.#checked.add(id);
    const size = value.length - 1;
    if (value[size] === 4) return widened(value, size / 4);
    if (this.#numbers.length !== size / 8) this.#fit(size);
    // With the width behind the numbers, since cutting it off would make one more object.
    this.#bytes.set(value);
    return this.#numbers;
  }

  #fit(size: number): void {
    this.#bytes = new Uint8Array(size + 8);
    this.#numbers = new Float64Array(this.#bytes.buffer, 0, size / 8);
  }
}

function widened(value: Uint8Array, count: number): Float64Array {
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const numbers = new Float64Array(count);
  for (let i = 0; i < count; i++) numbers[i] = view.getFloat32(i * 4, true);
  return numbers;
}
