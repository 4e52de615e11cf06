// Decodes one scalar of a declared type from a JSON value. Integers never pass through a float.
import { parseDate, toInstant } from '../base/date.js';
import { float32Max, toFloat32 } from '../base/float.js';
import { canonicalUuid } from '../base/id.js';
import { compactInteger, integerFits, integerRange, parseInteger } from '../base/integer.js';
import { compactJson, Json } from '../base/text/json.js';
import type { ScalarName } from '../base/schema.js';
import { type Scalar, Uuid } from '../base/value.js';
import { addError, type Decoding, quote, wrongType } from './validation-error.js';
import type { JsonView } from './view.js';

/** Exceeds the digits of every integer type. */
const digitsMax = 40;
const integerText = /^-?(?:0|[1-9]\d*)$/;

/** Returns the value, or null after adding an error. */
export function decodeScalar(view: JsonView, type: ScalarName, decoding: Decoding): Scalar {
  const { kind } = view;
  switch (type) {
    case 'String':
      return kind === 'string' ? decodeText(view, decoding) : reject(view, type, decoding);
    case 'Boolean':
      return kind === 'boolean' ? view.boolean() : reject(view, type, decoding);
    case 'F32':
    case 'F64':
      return kind === 'number' ? decodeFloat(view, type, decoding) : reject(view, type, decoding);
    case 'Date':
      return decodeDate(view, decoding);
    case 'ID':
      return decodeId(view, decoding);
    case 'Json':
      return decodeJson(view, decoding);
    default:
      return decodeInteger(view, type, decoding);
  }
}

function reject(view: JsonView, name: ScalarName, decoding: Decoding, got?: string): null {
  return wrongType(decoding, view, { kind: 'scalar', name }, got);
}

function decodeText(view: JsonView, decoding: Decoding): string | null {
  const text = view.text();
  const max = decoding.limits.value_bytes;
  // The token is never shorter than the text, so only long tokens need counting.
  if (view.size <= max) return text;
  const size = Buffer.byteLength(text);
  if (size <= max) return text;
  const hint = 'The limit is `limits.value_bytes`.';
  return addError(decoding, view.path, 'VALUE_TOO_LARGE', { size, max }, hint);
}

function decodeInteger(view: JsonView, type: ScalarName, decoding: Decoding): Scalar {
  if (view.kind === 'number') {
    if (!view.integral) return reject(view, type, decoding, quote(view));
    const value = view.float() + 0;
    if (Number.isSafeInteger(value)) return fitInteger(view, value, type, decoding);
    return fitInteger(view, parseDigits(view.token()), type, decoding);
  }
  if (view.kind !== 'string' || (type !== 'I64' && type !== 'U64' && type !== 'U128'))
    return reject(view, type, decoding);
  const digits = view.text();
  if (!integerText.test(digits)) return reject(view, type, decoding, quote(view));
  return fitInteger(view, parseDigits(digits), type, decoding);
}

/** Returns undefined for more digits than any type allows. */
function parseDigits(digits: string): number | bigint | undefined {
  return digits.length <= digitsMax ? parseInteger(digits) : undefined;
}

function fitInteger(
  view: JsonView,
  value: number | bigint | undefined,
  type: ScalarName,
  decoding: Decoding,
): number | bigint | null {
  if (value !== undefined && integerFits(value, type)) return value;
  const { min, max } = integerRange[type]!;
  return addError(decoding, view.path, 'PARAM_RANGE', {
    min: compactInteger(min),
    max: compactInteger(max),
    got: value ?? quote(view),
  });
}

function decodeFloat(view: JsonView, type: 'F32' | 'F64', decoding: Decoding): number | null {
  const float = view.float();
  const value = type === 'F32' ? toFloat32(float) : float;
  if (Number.isFinite(value)) return value;
  const max = type === 'F32' ? float32Max : Number.MAX_VALUE;
  return addError(decoding, view.path, 'PARAM_RANGE', { min: -max, max, got: quote(view) });
}

function decodeDate(view: JsonView, decoding: Decoding): Scalar {
  if (view.kind === 'number' && view.integral)
    return toInstant(view.float()) ?? reject(view, 'Date', decoding, quote(view));
  if (view.kind === 'string')
    return parseDate(view.text()) ?? reject(view, 'Date', decoding, quote(view));
  return reject(view, 'Date', decoding);
}

function decodeJson(view: JsonView, decoding: Decoding): Json | null {
  if (view.kind === 'null') return reject(view, 'Json', decoding);
  const json = new Json(compactJson(view.source()));
  const max = decoding.limits.value_bytes;
  if (json.text.length <= max / 3) return json;
  const size = Buffer.byteLength(json.text);
  if (size <= max) return json;
  const hint = 'The limit is `limits.value_bytes`.';
  return addError(decoding, view.path, 'VALUE_TOO_LARGE', { size, max }, hint);
}

function decodeId(view: JsonView, decoding: Decoding): Scalar {
  if (view.kind !== 'string') return reject(view, 'ID', decoding);
  const text = view.text();
  const canonical = canonicalUuid(text);
  return canonical === undefined ? reject(view, 'ID', decoding, quote(view)) : new Uuid(canonical);
}
