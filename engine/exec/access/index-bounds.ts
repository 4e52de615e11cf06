// Converts bounds of a comparison into bounds of an index, in the type of the property. Exactly the values
// that satisfy the comparison lie between them.
import { toFloat32 } from '../../base/float.js';
import { compactInteger, integerRange } from '../../base/integer.js';
import type { ScalarName } from '../../base/schema.js';
import type { Scalar } from '../../base/value.js';
import type { Bound } from '../../plan/expression.js';
import type { IndexBounds, StoredProperty } from '../../storage/table/view-types.js';
import { indexKey } from '../runtime/declared-value.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { type Found, partEdge } from './function-bounds.js';

export interface Range {
  property: StoredProperty;
  path: { low?: Bound; high?: Bound };
  low: Evaluate | undefined;
  high: Evaluate | undefined;
}

export function indexBounds(
  frame: Frame,
  { property, path, low, high }: Range,
): IndexBounds | 'nothing' | undefined {
  const bounds: IndexBounds = {};
  for (const end of ['low', 'high'] as const) {
    const evaluate = end === 'low' ? low : high;
    if (evaluate === undefined) continue;
    const { inclusive, part } = path[end]!;
    const value = evaluate(frame);
    const found =
      part === undefined
        ? edgeOf(frame, property, value, end, inclusive)
        : partEdge(part, value, end, inclusive, path.low === path.high);
    if (found === undefined || found === 'nothing') return found;
    if (found !== 'open') bounds[end] = found;
  }
  return bounds;
}

function edgeOf(
  frame: Frame,
  property: StoredProperty,
  value: Value,
  end: 'low' | 'high',
  inclusive: boolean,
): Found {
  if (value === null || property.type.kind !== 'scalar') return 'nothing';
  const { name } = property.type;
  const isNumeric = name === 'F32' || name === 'F64' || integerRange[name] !== undefined;
  if (isNumeric) {
    if (typeof value !== 'number' && typeof value !== 'bigint') return 'nothing';
    if (name === 'F64') return doubleEdge(value, inclusive);
    return name === 'F32'
      ? singleEdge(Math.fround(Number(value)), end, inclusive)
      : integerEdge(name, value, end, inclusive);
  }
  const key = indexKey(frame, property.type, value);
  return key === undefined ? 'nothing' : { value: key as Scalar, inclusive };
}

/** An integer that equals no double is compared exactly, which a bound cannot express. */
function doubleEdge(value: number | bigint, inclusive: boolean): Found {
  const float = Number(value);
  if (typeof value === 'bigint' && (!Number.isFinite(float) || BigInt(float) !== value)) {
    return undefined;
  }
  return { value: float + 0, inclusive };
}

/** There is no value beyond the largest F32. */
function singleEdge(value: number, end: 'low' | 'high', inclusive: boolean): Found {
  if (Number.isFinite(value)) return { value: toFloat32(value) + 0, inclusive };
  return value > 0 === (end === 'low') ? 'nothing' : 'open';
}

/** For integers, above 2.5 means above 2, and below 2.5 means at most 2. */
function integerEdge(
  name: ScalarName,
  value: number | bigint,
  end: 'low' | 'high',
  inclusive: boolean,
): Found {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  const floor = BigInt(isWhole ? value : Math.floor(value as number));
  const { min, max } = integerRange[name]!;
  if (floor < BigInt(min)) return end === 'low' ? 'open' : 'nothing';
  if (floor > BigInt(max)) return end === 'low' ? 'nothing' : 'open';
  return { value: compactInteger(floor), inclusive: isWhole ? inclusive : end === 'high' };
}
