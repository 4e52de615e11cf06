// Converts stored scalars for `AS` in migrations (helixql.md 2.6): exactly, or not at all.
import { parseDate, printDate } from '../../base/date.js';
import { toFloat32 } from '../../base/float.js';
import { parseUuid } from '../../base/id.js';
import { compactInteger, integerFits, integerRange } from '../../base/integer.js';
import { Json } from '../../base/text/json.js';
import type { ScalarName } from '../../base/schema.js';
import { Instant, type Scalar, Uuid } from '../../base/value.js';

const integerText = /^-?\d{1,60}$/;
const floatText = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Returns the value as type `to`, or undefined if that type has no equal value. */
export function convertScalar(value: Scalar, to: ScalarName): Scalar | undefined {
  if (value === null) return null;
  if (to === 'String') return textOf(value);
  if (typeof value === 'string') return parseText(value, to);
  if (typeof value === 'number' || typeof value === 'bigint') return convertNumber(value, to);
  if (typeof value === 'boolean') return to === 'Boolean' ? value : undefined;
  if (value instanceof Instant) return to === 'Date' ? value : undefined;
  return to === 'ID' ? value : undefined;
}

function textOf(value: Scalar): string {
  if (value instanceof Instant) return printDate(value);
  return value instanceof Uuid || value instanceof Json ? value.text : String(value);
}

function parseText(text: string, to: ScalarName): Scalar | undefined {
  switch (to) {
    case 'Boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'Date':
      return parseDate(text);
    case 'ID':
      return parseUuid(text) && new Uuid(text.toLowerCase());
    case 'F32':
    case 'F64': {
      if (!floatText.test(text)) return undefined;
      const number = to === 'F32' ? toFloat32(Number(text)) : Number(text);
      return Number.isFinite(number) ? number : undefined;
    }
    default:
      return integerText.test(text) ? convertNumber(compactInteger(BigInt(text)), to) : undefined;
  }
}

function convertNumber(value: number | bigint, to: ScalarName): number | bigint | undefined {
  if (integerRange[to]) {
    if (typeof value === 'number' && !Number.isInteger(value)) return undefined;
    const integer = compactInteger(BigInt(value));
    return integerFits(integer, to) ? integer : undefined;
  }
  if (to !== 'F32' && to !== 'F64') return undefined;
  const number = Number(value);
  if (typeof value === 'bigint' && (!Number.isFinite(number) || BigInt(number) !== value))
    return undefined;
  if (to === 'F64') return number;
  return toFloat32(number) === number || Math.fround(number) === number
    ? toFloat32(number)
    : undefined;
}
