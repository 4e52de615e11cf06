// Numbers and vectors that steps of the oracle take as arguments, with their errors (helixql.md 8).
import { fail } from '../../../engine/base/errors.js';
import { isList, isNumber, type Value } from './oracle-value.js';

/** A number within bounds, as `RANGE`, `k` and the rerankers need it. */
export function numberOf(value: Value, param: string, min: number, max: number): number {
  if (value === null) fail('PARAM_MISSING', { owner: param, param, type: 'a number' });
  if (!isNumber(value)) fail('PARAM_TYPE', { param, type: 'a number', got: typeof value });
  if (value < min || value > max) fail('PARAM_RANGE', { param, min, max, got: value });
  return Number(value);
}

export function vectorOf(value: Value): number[] {
  if (value === null) fail('PARAM_MISSING', { owner: 'vector', param: 'vector', type: '[F64]' });
  const vector = isList(value) ? value.map(Number) : [];
  if (vector.length === 0) fail('VECTOR_EMPTY', { param: 'vector' });
  return vector;
}
