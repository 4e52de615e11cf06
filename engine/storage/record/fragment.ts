// Prints and parses property values as JSON: the form in which records store them and replies contain them
// (http.md 4.2).
// Invariant: parsing a printed value gives an equal value of the property's type. What is not JSON is neither
// printed (a defect) nor parsed (damage).
import type { ByteWriter } from '../../base/bytes.js';
import { parseDate, printDate } from '../../base/date.js';
import { assert } from '../../base/assert.js';
import { toFloat32 } from '../../base/float.js';
import { checkIntegrity } from '../../base/integrity.js';
import { parseInteger } from '../../base/integer.js';
import { Json } from '../../base/text/json.js';
import type { PropertyType, ScalarName } from '../../base/schema.js';
import { slice, sliceUtf8 } from '../../base/byte-slice.js';
import { Instant, type Scalar, type ScalarList, Uuid } from '../../base/value.js';

/** Returns a number as JSON. The code that computes floats has already refused those that are not finite. */
export function numberText(value: number): string {
  assert(Number.isFinite(value), 'a number that is printed is finite');
  return String(value);
}

/** Whether values of the type are floats or lists of them. */
export function isFloat(type: PropertyType): boolean {
  return type.kind === 'list' ? isFloat(type.of) : type.name === 'F64' || type.name === 'F32';
}

const bracket = 91;
const infinity = 73;
const notNumber = 78;
/** Below this many bytes a loop is faster than a call. */
const shortList = 128;

/** Whether a stored fragment of floats is JSON. Older versions stored `Infinity` and `NaN`. */
export function holdsNumbers(bytes: Uint8Array, start: number, end: number): boolean {
  // For a single number, the first two characters decide: a digit, or a sign and a digit.
  const to = bytes[start] === bracket ? end : Math.min(start + 2, end);
  if (to - start > shortList) {
    const items = bytes.subarray(start, to);
    return !items.includes(infinity) && !items.includes(notNumber);
  }
  for (let at = start; at < to; at++) {
    const byte = bytes[at];
    if (byte === infinity || byte === notNumber) return false;
  }
  return true;
}

const notFinite = 'a stored float is not finite';

/** Whether a string has only characters that JSON strings contain unescaped. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code > 126 || code === 34 || code === 92) return false;
  }
  return true;
}

function printText(writer: ByteWriter, text: string): void {
  if (text.length <= 64 && isPlain(text)) {
    writer.byte(34);
    writer.ascii(text);
    writer.byte(34);
  } else writer.utf8(JSON.stringify(text));
}

/**
 * Prints one scalar. `type` matters only for F32: a number is first rounded to the shortest decimal of its
 * float.
 */
export function printScalar(writer: ByteWriter, value: Scalar, type?: ScalarName): void {
  if (typeof value === 'string') printText(writer, value);
  else if (typeof value === 'number') {
    if (value >>> 0 === value && type !== 'F32') writer.digits(value);
    else writer.ascii(numberText(type === 'F32' ? toFloat32(value) : value));
  } else if (value instanceof Instant) writer.ascii(`"${printDate(value)}"`);
  else if (value instanceof Uuid) writer.ascii(`"${value.text}"`);
  else if (value instanceof Json) writer.utf8(value.text);
  else writer.ascii(String(value));
}

/** Prints a scalar, or a list as a JSON array. */
export function printValue(
  writer: ByteWriter,
  value: Scalar | ScalarList,
  type?: PropertyType,
): void {
  if (!(Array.isArray(value) || value instanceof Float64Array)) {
    printScalar(writer, value as Scalar, type?.kind === 'scalar' ? type.name : undefined);
    return;
  }
  const inner = type?.kind === 'list' ? type.of : undefined;
  writer.byte(91);
  for (let i = 0; i < value.length; i++) {
    if (i > 0) writer.byte(44);
    printValue(writer, value[i] as Scalar | ScalarList, inner);
  }
  writer.byte(93);
}

/** Parses the value in bytes [start, end) as `type`. The range must not be empty. */
export function readFragment(
  bytes: Uint8Array,
  start: number,
  end: number,
  type: PropertyType,
): Scalar | ScalarList {
  if (type.kind === 'scalar') return readScalar(bytes, start, end, type.name);
  if (isFloat(type)) checkIntegrity(holdsNumbers(bytes, start, end), notFinite);
  if (type.of.kind === 'scalar' && type.of.name === 'F64') {
    const numbers = JSON.parse(slice(bytes, start, end)) as number[];
    return numbers.includes(null as never) ? numbers : Float64Array.from(numbers);
  }
  const items: (Scalar | ScalarList)[] = [];
  let at = start + 1;
  while (bytes[at] !== 93) {
    const stop = itemEnd(bytes, at);
    items.push(bytes[at] === 110 ? null : readFragment(bytes, at, stop, type.of));
    at = bytes[stop] === 44 ? stop + 1 : stop;
  }
  return items;
}

/** Returns the end of the array item that begins at `at`: the position of the comma or bracket after it. */
function itemEnd(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (; ; at++) {
    const byte = bytes[at];
    if (byte === 34) {
      at++;
      while (bytes[at] !== 34) at += bytes[at] === 92 ? 2 : 1;
    } else if (byte === 91 || byte === 123) depth++;
    else if (byte === 93 || byte === 125) {
      if (depth-- === 0) return at;
    } else if (byte === 44 && depth === 0) return at;
    assert(byte !== undefined, 'a stored list has an end');
  }
}

function readScalar(bytes: Uint8Array, start: number, end: number, name: ScalarName): Scalar {
  switch (name) {
    case 'String': {
      const text = sliceUtf8(bytes, start + 1, end - 1);
      return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
    }
    case 'Boolean':
      return bytes[start] === 116;
    case 'F32':
    case 'F64':
      checkIntegrity(holdsNumbers(bytes, start, end), notFinite);
      return Number(slice(bytes, start, end));
    case 'Date': {
      const instant = parseDate(slice(bytes, start + 1, end - 1));
      assert(instant, 'a stored date is a date');
      return instant;
    }
    case 'ID':
      return new Uuid(slice(bytes, start + 1, end - 1));
    case 'Json':
      return new Json(sliceUtf8(bytes, start, end));
    default:
      return readInteger(bytes, start, end);
  }
}

/** Sums the digits of a short integer; parses all others exactly from their text. */
function readInteger(bytes: Uint8Array, start: number, end: number): number | bigint {
  if (end - start > 15 || bytes[start] === 45) {
    return parseInteger(slice(bytes, start, end));
  }
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + bytes[at]! - 48;
  return value;
}
