// Decodes request bodies into arguments, as the declared types require. Only own members are read, by name.
// An undeclared member is ignored (or an error, if strict) and never becomes a property of an object.
import { excerpt, fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { ParameterDefault, ParameterType } from '../base/schema.js';
import type { Parameter } from '../plan/plan.js';
import type { Argument } from './decoded-argument.js';
import {
  addError,
  type Decoding,
  describe,
  isFull,
  missing,
  throwErrors,
  wrongType,
} from './validation-error.js';
import { decodeScalar } from './scalar.js';
import { scanJson, scanJsonOnce } from './scan.js';
import { pointerTo } from './pointer.js';
import type { JsonView } from './view.js';

const namesListed = 20;

/**
 * Returns the root object of a body. An empty body, `null` and `{}` are equivalent; other kinds fail
 * BODY_NOT_OBJECT.
 */
export function scanBody(body: Uint8Array, limits: Limits): JsonView {
  return checkRoot(scanJson(body, limits));
}

function checkRoot(root: JsonView): JsonView {
  if (root.kind !== 'object' && root.kind !== 'null')
    fail('BODY_NOT_OBJECT', { kind: describe(root) });
  return root;
}

/**
 * Returns the arguments in the order of `parameters`. All errors are found together: the main one is the
 * first in declaration order, `errors` lists up to 8.
 */
export function decodeParameters(
  body: Uint8Array,
  parameters: readonly Parameter[],
  owner: string,
  limits: Limits,
  strict = false,
): Argument[] {
  // The arguments are decoded before the next scan.
  const root = checkRoot(scanJsonOnce(body, limits));
  return decodeArguments(root, parameters, { owner, limits, strict, prefix: '', errors: [] });
}

/**
 * Decodes like `decodeParameters`, from an object (or null) inside a body; `decoding.prefix` is its pointer.
 */
export function decodeArguments(
  object: JsonView,
  parameters: readonly Parameter[],
  decoding: Decoding,
): Argument[] {
  const args: Argument[] = [];
  for (const parameter of parameters)
    args.push(decodeMember(object, parameter, parameter.vector, parameters, decoding));
  if (decoding.strict) refuseOthers(object, parameters, decoding);
  throwErrors(decoding.errors);
  return args;
}

interface Declared {
  name: string;
  type: ParameterType;
  optional: boolean;
  default?: ParameterDefault;
}

/** The instant of the request is known only to the executor, for which null stands for it. */
const readDefault = (defaultValue: ParameterDefault): Argument =>
  defaultValue.kind === 'now' ? null : (defaultValue.value as Argument);

function decodeMember(
  object: JsonView,
  member: Declared,
  vector: boolean,
  declared: readonly Declared[],
  decoding: Decoding,
): Argument {
  const view = object.member(member.name);
  if (member.default && (view === undefined || view.kind === 'null'))
    return readDefault(member.default);
  if (view === undefined)
    return member.optional ? null : missing(decoding, object, member, declared);
  if (member.optional && view.kind === 'null') return null;
  return vector
    ? decodeVectors(view, member.type, decoding)
    : decodeValue(view, member.type, decoding);
}

/** Returns one value of a declared type, or null after adding an error to `decoding.faults`. */
export function decodeValue(view: JsonView, type: ParameterType, decoding: Decoding): Argument {
  switch (type.kind) {
    case 'scalar':
      return decodeScalar(view, type.name, decoding);
    case 'list':
      if (view.kind !== 'array') return wrongType(decoding, view, type);
      if (type.of.kind === 'scalar' && type.of.name === 'F64') return decodeFloats(view, decoding);
      return decodeList(view, type.of, decoding);
    case 'object':
      if (view.kind !== 'object') return wrongType(decoding, view, type);
      return decodeObject(view, type.members, decoding);
  }
}

function decodeList(view: JsonView, of: ParameterType, decoding: Decoding): Argument {
  const { length } = view;
  const values: Argument[] = [];
  for (let i = 0; i < length && !isFull(decoding); i++)
    values.push(decodeValue(view.at(i), of, decoding));
  return values;
}

function decodeObject(
  view: JsonView,
  members: readonly Declared[],
  decoding: Decoding,
): ReadonlyMap<string, Argument> {
  const values = new Map<string, Argument>();
  for (const member of members)
    values.set(member.name, decodeMember(view, member, false, members, decoding));
  if (decoding.strict) refuseOthers(view, members, decoding);
  return values;
}

const float: ParameterType = { kind: 'scalar', name: 'F64' };

/** `every` calls a function for each number, which takes a tenth of the decoding time. */
function areFinite(values: Float64Array): boolean {
  let sum = 0;
  // Infinity times 0 is NaN.
  for (let i = 0; i < values.length; i++) sum += values[i]! * 0;
  return sum === 0;
}

function decodeFloats(view: JsonView, decoding: Decoding): Float64Array {
  const values = new Float64Array(view.length);
  if (view.floats(values) < 0 && areFinite(values)) return values;
  // An element is invalid: decode one by one to report every position.
  decodeList(view, float, decoding);
  return values;
}

/** Decodes a parameter that is used as a vector: `[F64]`, or the innermost lists of `[[F64]]`. */
function decodeVectors(view: JsonView, type: ParameterType, decoding: Decoding): Argument {
  if (type.kind !== 'list' || type.of.kind !== 'list') return decodeVector(view, decoding);
  if (view.kind !== 'array') return wrongType(decoding, view, type);
  const vectors: Argument[] = [];
  for (let i = 0; i < view.length && !isFull(decoding); i++)
    vectors.push(decodeVectors(view.at(i), type.of, decoding));
  return vectors;
}

/**
 * Returns a vector of 1 to `limits.vector_dimensions` numbers, each finite as a 32-bit float; null after an
 * error.
 */
export function decodeVector(view: JsonView, decoding: Decoding): Float64Array | null {
  if (view.kind !== 'array') return wrongType(decoding, view, { kind: 'list', of: float });
  const { length } = view;
  const max = decoding.limits.vector_dimensions;
  if (length === 0) return addError(decoding, view.path, 'VECTOR_EMPTY', {});
  if (length > max) {
    const hint = 'The limit is `limits.vector_dimensions`.';
    return addError(decoding, view.path, 'VECTOR_TOO_LONG', { got: length, max }, hint);
  }
  const vector = new Float64Array(length);
  const other = view.floats(vector);
  if (other >= 0) return wrongType(decoding, view.at(other), float);
  for (let i = 0; i < length; i++) {
    if (Number.isFinite(Math.fround(vector[i]!))) continue;
    return addError(decoding, view.path, 'VECTOR_NOT_FINITE', { index: i });
  }
  return vector;
}

function refuseOthers(view: JsonView, declared: readonly Declared[], decoding: Decoding): void {
  const known = new Set(declared.map((member) => member.name));
  for (const member of view.names()) {
    if (known.has(member)) continue;
    const names = [...known].slice(0, namesListed).map((name) => `\`${name}\``);
    const hint = names.length === 0 ? 'It takes none.' : `Declared: ${names.join(', ')}.`;
    const args = { owner: decoding.owner, member: excerpt(member) };
    addError(decoding, pointerTo(view.path, member), 'UNKNOWN_MEMBER', args, hint);
    if (isFull(decoding)) return;
  }
}
