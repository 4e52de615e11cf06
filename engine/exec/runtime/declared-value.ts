// Converts values into the declared types of properties, for storing and for index lookups.
import { fail } from '../../base/errors.js';
import { float32Max, toFloat32 } from '../../base/float.js';
import { integerFits, integerRange } from '../../base/integer.js';
import { printDate } from '../../base/date.js';
import { Json } from '../../base/text/json.js';
import { type PropertyType, printType, type ScalarName } from '../../base/schema.js';
import { Instant, type Scalar, type ScalarList, Uuid } from '../../base/value.js';
import { uuidOf } from './element.js';
import type { Frame } from './frame.js';
import { Element, isListValue, RecordValue, type Value } from './value.js';

function wrongType(param: string, type: PropertyType, value: Value): never {
  const got = value === null ? 'null' : isListValue(value) ? 'a list' : `a ${typeof value}`;
  fail('PARAM_TYPE', { param, type: printType(type), got });
}

function outOfRange(param: string, name: ScalarName, value: number | bigint): never {
  const range = integerRange[name];
  const [min, max] = range ? [range.min, range.max] : [-float32Max, float32Max];
  fail('PARAM_RANGE', { param, min, max, got: value });
}

/**
 * The last check before a float is stored. Functions that compute floats have refused non-finite ones
 * already.
 */
function finite(param: string, value: number): number {
  if (Number.isFinite(value)) return value;
  return fail('ARITHMETIC', { operation: `\`${param}\``, what: 'the value is not finite' });
}

function isInteger(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/** Returns the value in the property's type, not null. Fails 400 when it does not fit. */
export function convert(
  frame: Frame,
  param: string,
  type: PropertyType,
  value: Value,
): Scalar | ScalarList {
  if (type.kind === 'list') {
    if (!isListValue(value)) wrongType(param, type, value);
    if (value instanceof Float64Array) {
      for (let i = 0; i < value.length; i++) finite(`${param}[${i}]`, value[i]!);
      return value;
    }
    return value.map((item, i) => convert(frame, `${param}[${i}]`, type.of, item));
  }
  const converted = convertScalar(frame, param, type.name, value);
  if (converted === undefined) wrongType(param, type, value);
  return converted;
}

function convertScalar(
  frame: Frame,
  param: string,
  name: ScalarName,
  value: Value,
): Scalar | undefined {
  switch (name) {
    case 'String':
      return typeof value === 'string' ? value : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'Date':
      return value instanceof Instant ? value : undefined;
    case 'Json':
      return toJson(frame, param, value);
    case 'ID':
      if (value instanceof Element) return uuidOf(frame, value);
      return value instanceof Uuid ? value : undefined;
    case 'F64':
    case 'F32': {
      if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
      const float = finite(param, Number(value));
      if (name === 'F64') return float + 0;
      const rounded = toFloat32(float);
      if (!Number.isFinite(rounded)) outOfRange(param, name, value);
      return rounded + 0;
    }
    default:
      if (!isInteger(value)) return undefined;
      if (!integerFits(value, name)) outOfRange(param, name, value);
      return typeof value === 'number' ? value + 0 : value;
  }
}

/** Returns a value as JSON; undefined if it contains an element. A null inside is the JSON null. */
function toJson(frame: Frame, param: string, value: Value): Json | undefined {
  const text = jsonText(frame, param, value);
  if (text === undefined) return undefined;
  const { limits } = frame.context;
  const size = Buffer.byteLength(text);
  if (size > limits.value_bytes) fail('VALUE_TOO_LARGE', { param, size, max: limits.value_bytes });
  return new Json(text);
}

function jsonText(frame: Frame, param: string, value: Value, depth = 1): string | undefined {
  frame.tick(1);
  if (value === null) return 'null';
  if (value instanceof Json) return value.text;
  if (value instanceof Instant) return `"${printDate(value)}"`;
  if (value instanceof Uuid) return `"${value.text}"`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return String(finite(param, value));
  if (typeof value !== 'object') return String(value);
  if (value instanceof Element) return undefined;
  const max = frame.context.limits.json_depth;
  if (depth > max) fail('JSON_TOO_DEEP', { max });
  const inner = (item: Value) => jsonText(frame, param, item, depth + 1);
  if (isListValue(value)) {
    const items = Array.from(value as readonly Value[], inner);
    return items.includes(undefined) ? undefined : `[${items.join(',')}]`;
  }
  const members =
    value instanceof RecordValue
      ? value.names.map((n, i) => [n, value.values[i]!] as const)
      : [...(value as ReadonlyMap<string, Value>)];
  const parts = members.map(([name, member]) => {
    const text = inner(member);
    return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
  });
  return parts.includes(undefined) ? undefined : `{${parts.join(',')}}`;
}

/**
 * Returns the value of the property's type that equals `value`, for an index lookup. Returns undefined when
 * there is none, such as for 2.5 among integers or 300 among U8.
 */
export function indexKey(
  frame: Frame,
  type: PropertyType,
  value: Value,
): Scalar | ScalarList | undefined {
  if (type.kind === 'list') {
    if (!isListValue(value)) return undefined;
    const items: (Scalar | ScalarList)[] = [];
    for (const item of value) {
      const key = indexKey(frame, type.of, item);
      if (key === undefined) return undefined;
      items.push(key);
    }
    return items;
  }
  const { name } = type;
  if (name === 'F64' || name === 'F32') {
    if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
    if (name === 'F64') return isExactFloat(value) ? Number(value) + 0 : undefined;
    const rounded = toFloat32(Number(value));
    return Number.isFinite(rounded) ? rounded + 0 : undefined;
  }
  if (integerRange[name]) {
    if (!isInteger(value) || !integerFits(value, name)) return undefined;
    // A float beyond 2^53 equals an integer that is stored as a big integer.
    return typeof value === 'number' && !Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  return convertScalar(frame, '', name, value);
}

function isExactFloat(value: number | bigint): boolean {
  if (typeof value === 'number') return true;
  const float = Number(value);
  return Number.isFinite(float) && BigInt(float) === value;
}
