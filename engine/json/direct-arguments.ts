// Takes the arguments of an embedded call from a JavaScript object, without JSON text between. It serves
// plain objects of plain scalars. All other arguments take the way through JSON, which finds every error.
//
// Invariant: what this returns equals what `decodeParameters` makes of the JSON text of the object.
import { toFloat32 } from '../base/float.js';
import type { Limits } from '../base/limits.js';
import { canonicalUuid } from '../base/id.js';
import { integerFits } from '../base/integer.js';
import type { ParameterType } from '../base/schema.js';
import { type Scalar, Uuid } from '../base/value.js';
import type { Parameter } from '../plan/plan.js';
import type { Argument } from './decoded-argument.js';
import { plainText } from './json-text.js';

/** Returns the arguments in the order of `parameters`, or undefined if they take the way through JSON. */
export function directArguments(
  object: object,
  parameters: readonly Parameter[],
  limits: Limits,
): Argument[] | undefined {
  const { length } = parameters;
  // Every member is a value, and so is the object.
  if (length > limits.json_members || length >= limits.json_values) return undefined;
  try {
    return membersOf(object, parameters, limits);
  } catch {
    // A getter or a proxy of the caller.
    return undefined;
  }
}

function membersOf(
  object: object,
  parameters: readonly Parameter[],
  limits: Limits,
): Argument[] | undefined {
  if (Object.getPrototypeOf(object) !== Object.prototype) return undefined;
  const { length } = parameters;
  const names = Object.keys(object);
  if (names.length !== length) return undefined;
  const args: Argument[] = [];
  for (let i = 0; i < length; i++) {
    const { name, type } = parameters[i]!;
    if (names[i] !== name && !names.includes(name)) return undefined;
    const value = directScalar((object as Record<string, unknown>)[name], type, limits);
    if (value === undefined) return undefined;
    args.push(value);
  }
  return args;
}

/** Returns undefined for a value that takes the way through JSON. */
function directScalar(value: unknown, type: ParameterType, limits: Limits): Scalar | undefined {
  if (type.kind !== 'scalar') return undefined;
  switch (type.name) {
    case 'String':
      if (typeof value !== 'string' || value.length > limits.value_bytes) return undefined;
      return plainText.test(value) ? value : undefined;
    case 'ID':
      return typeof value === 'string' ? directId(value) : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'Date':
      return undefined;
    case 'F32':
    case 'F64':
      return typeof value === 'number' ? directFloat(value, type.name) : undefined;
    default:
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined;
      // JSON has no -0 from JavaScript: its text is 0.
      return integerFits(value, type.name) ? value + 0 : undefined;
  }
}

function directId(text: string): Uuid | undefined {
  const canonical = canonicalUuid(text);
  return canonical === undefined ? undefined : new Uuid(canonical);
}

function directFloat(value: number, type: 'F32' | 'F64'): number | undefined {
  const float = type === 'F32' ? toFloat32(value) : value;
  return Number.isFinite(float) ? float + 0 : undefined;
}
