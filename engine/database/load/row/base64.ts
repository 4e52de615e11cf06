// Reads vectors in the form of dumps: base64 of their little-endian numbers, in stored precision.
import { fail } from '../../../base/errors.js';
import type { Limits } from '../../../base/limits.js';
import type { VectorWidth } from '../../../storage/record/vector-record.js';

export function base64OfVector(vector: Float64Array, width: VectorWidth): string {
  const numbers = width === 'f64' ? vector : Float32Array.from(vector);
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('base64');
}

/** Fails PARAM_VALUE, VECTOR_EMPTY, VECTOR_TOO_LONG, VECTOR_NOT_FINITE. */
export function vectorOfBase64(
  text: string,
  width: VectorWidth,
  limits: Pick<Limits, 'vector_dimensions'>,
): Float64Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  const size = width === 'f64' ? 8 : 4;
  if (bytes.length % size !== 0) {
    fail('PARAM_VALUE', { param: width, allowed: 'base64 of whole numbers', got: bytes.length });
  }
  const got = bytes.length / size;
  const max = limits.vector_dimensions;
  if (got === 0) fail('VECTOR_EMPTY', { param: width });
  if (got > max) fail('VECTOR_TOO_LONG', { param: width, got, max });
  const vector =
    width === 'f64'
      ? new Float64Array(bytes.buffer)
      : Float64Array.from(new Float32Array(bytes.buffer));
  const index = vector.findIndex((number) => !Number.isFinite(Math.fround(number)));
  if (index >= 0) fail('VECTOR_NOT_FINITE', { param: width, index });
  return vector;
}
