// Encodes embeddings: the numbers as given, then one byte with their width.
//
//   numbers f64 x n (or f32 x n) · 8 (or 4)
//
// All numbers are little-endian.
// Invariant: a read returns what was written. F32 storage rounds once, before any other code sees the vector.
import { IdSet } from '../../base/id-set.js';
import { checksumSize } from '../table/checksum.js';
import type { Table } from '../table/env.js';

export type VectorWidth = 'f64' | 'f32';

/** Returns the numbers as a later read returns them. */
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

/** Scratch memory in which loads encode embeddings; the table copies its arguments. */
let joined = new Uint8Array(4096);

/**
 * Appends an embedding encoded by `encodeVector`. Returns false, and writes nothing, if its id is not above
 * all others.
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

/** Returns a private copy of the embedding of an element, or undefined if it has none. */
export function readVector(
  table: Pick<Table<number>, 'peek'>,
  id: number,
): Float64Array | undefined {
  const value = table.peek(id);
  return value && decodeVector(value);
}

/** Returns a copy of an encoded embedding. */
export function decodeVector(value: Uint8Array): Float64Array {
  const size = value.length - 1;
  const width = value[size]!;
  if (width === 4) return widened(value, size / 4);
  return new Float64Array(value.slice(0, size).buffer);
}

/**
 * Reads many embeddings into one buffer. The tens of them that every search scores exactly then allocate
 * nothing, and the checksum of each is verified only once.
 */
export class VectorReader {
  #bytes = new Uint8Array(0);
  #numbers = new Float64Array(0);
  readonly #checked = new IdSet();

  constructor(private readonly table: Table<number>) {}

  /** Returns the embedding, valid until the next call, or undefined if the element has none. */
  read(id: number): Float64Array | undefined {
    const value = this.table.peek(id, this.#checked.has(id));
    if (value === undefined) return undefined;
    this.#checked.add(id);
    const size = value.length - 1;
    if (value[size] === 4) return widened(value, size / 4);
    if (this.#numbers.length !== size / 8) this.#fit(size);
    // Copied with the width byte: cutting it off would allocate one more object.
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
