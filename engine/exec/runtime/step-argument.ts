// Reads the numbers, vectors and strings that steps take as arguments, and fails with typed errors.
import { fail } from '../../base/errors.js';
import type { Frame } from './frame.js';
import { isListValue, type Value } from './value.js';
import type { Evaluate } from './compiled.js';

/** Fails for a null argument: the caller left out an optional parameter that the step needs. */
function missing(owner: string, param: string, type: string): never {
  fail('PARAM_MISSING', { owner, param, type });
}

/** Reads an integer bound of RANGE, at least 0. Bounds beyond 2^53 mean the end. */
export function readBound(frame: Frame, evaluate: Evaluate): number {
  const value = evaluate(frame);
  if (value === null) missing('RANGE', 'bound', 'an integer');
  return readNumber('RANGE', value, 0, Number.MAX_SAFE_INTEGER, true);
}

/** Reads `k` of a search or `n` of a page: an integer from 1 to the limit. */
export function readK(frame: Frame, evaluate: Evaluate, owner: string, param = 'k'): number {
  const value = evaluate(frame);
  if (value === null) missing(owner, param, 'an integer');
  const k = readNumber(param, value, 1, frame.context.limits.search_k, false);
  if (!Number.isInteger(k)) fail('PARAM_TYPE', { param, type: 'an integer', got: k });
  return k;
}

/** Reads a finite number within bounds. With `clamp`, a number above `max` counts as `max`. */
export function readNumber(
  param: string,
  value: Value,
  min: number,
  max: number,
  clamp: boolean,
): number {
  if (typeof value !== 'number' && typeof value !== 'bigint')
    fail('PARAM_TYPE', { param, type: 'a number', got: typeof value });
  if (value > max && clamp) return max;
  if (!(value >= min && value <= max)) fail('PARAM_RANGE', { param, min, max, got: value });
  return Number(value);
}

/** Reads the lowest score of a search's hits; negative infinity without one. */
export function readScoreMin(frame: Frame, evaluate: Evaluate | undefined): number {
  const value = evaluate?.(frame) ?? null;
  if (value === null) return Number.NEGATIVE_INFINITY;
  return readNumber('min_score', value, -Number.MAX_VALUE, Number.MAX_VALUE, false);
}

/** Greatest width of a vector search; a greater `ef` counts as this. */
const efMax = 4096;

/** Reads the width of a vector search; undefined without one. */
export function readWidth(frame: Frame, evaluate: Evaluate | undefined): number | undefined {
  const value = evaluate?.(frame) ?? null;
  if (value === null) return undefined;
  const ef = readNumber('ef', value, 1, efMax, true);
  if (!Number.isInteger(ef)) fail('PARAM_TYPE', { param: 'ef', type: 'an integer', got: ef });
  return ef;
}

/** Reads a search text. */
export function readText(frame: Frame, evaluate: Evaluate, owner: string): string {
  const value = evaluate(frame);
  if (value === null) missing(owner, 'text', 'String');
  if (typeof value !== 'string')
    fail('PARAM_TYPE', { param: 'text', type: 'String', got: typeof value });
  return value;
}

/** Reads a vector: at least one number, each finite also as a 32-bit float. */
export function readVector(frame: Frame, evaluate: Evaluate, owner: string): Float64Array {
  const value = evaluate(frame);
  if (value === null) missing(owner, 'vector', '[F64]');
  if (!isListValue(value))
    fail('PARAM_TYPE', { param: 'vector', type: '[F64]', got: typeof value });
  return vectorOf(value, frame.context.limits.vector_dimensions);
}

/** Returns the numbers of a list as a vector. */
export function vectorOf(value: readonly Value[] | Float64Array, max: number): Float64Array {
  if (value.length === 0) fail('VECTOR_EMPTY', { param: 'vector' });
  if (value.length > max) fail('VECTOR_TOO_LONG', { param: 'vector', got: value.length, max: max });
  const vector = value instanceof Float64Array ? value : new Float64Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const item = value[i]!;
    if (typeof item !== 'number' && typeof item !== 'bigint')
      fail('PARAM_TYPE', {
        param: `vector[${i}]`,
        type: 'F64',
        got: item === null ? 'null' : typeof item,
      });
    const number = Number(item);
    if (!Number.isFinite(Math.fround(number)))
      fail('VECTOR_NOT_FINITE', { param: 'vector', index: i });
    vector[i] = number;
  }
  return vector;
}
