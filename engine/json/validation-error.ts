// Validation errors of one body. All of them are collected, and the first one is the main error. Names and
// paths are computed only for errors.
import {
  type ErrorArgs,
  type ErrorCode,
  type ErrorData,
  excerpt,
  TrellisError,
} from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import { nearestName } from '../base/did-you-mean.js';
import type { ParameterType } from '../base/schema.js';
import { pointerTo } from './pointer.js';
import type { JsonView } from './view.js';

const errorsMax = 8;

/** Input and errors of decoding one body. */
export interface Decoding {
  /** Query or tool that declares the parameters. */
  owner: string;
  limits: Limits;
  /** True if undeclared members are errors. */
  strict: boolean;
  /** Pointer of the object that contains the parameters: `` for queries, `/data` for most tools. */
  prefix: string;
  errors: ErrorData[];
}

export function isFull(decoding: Decoding): boolean {
  return decoding.errors.length >= errorsMax;
}

/** Returns `rows[0].name` for `/data/rows/0/name` if the prefix is `/data`. */
function parameterName(path: string, decoding: Decoding): string {
  let name = '';
  for (const part of path.slice(decoding.prefix.length + 1).split('/')) {
    if (name !== '' && /^\d+$/.test(part)) name += `[${part}]`;
    else name += `${name === '' ? '' : '.'}${part.replaceAll('~1', '/').replaceAll('~0', '~')}`;
  }
  return name;
}

/**
 * Adds an error for the value at `path`; returns null in place of the value. `param` is added to the
 * arguments.
 */
export function addError(
  decoding: Decoding,
  path: string,
  code: ErrorCode,
  args: ErrorArgs,
  hint?: string,
): null {
  if (isFull(decoding)) return null;
  const data: ErrorData = { code, args: { param: parameterName(path, decoding), ...args }, path };
  if (hint !== undefined) data.hint = hint;
  decoding.errors.push(data);
  return null;
}

/** Adds PARAM_TYPE. `got` describes a value of the right kind with an invalid form. */
export function wrongType(
  decoding: Decoding,
  view: JsonView,
  type: ParameterType,
  got = describe(view),
): null {
  return addError(
    decoding,
    view.path,
    'PARAM_TYPE',
    { type: printShort(type), got },
    `For example ${example(type)}.`,
  );
}

/**
 * Adds PARAM_MISSING for a member of `object`; the hint names the members that were sent. `declared` are the
 * known names.
 */
export function missing(
  decoding: Decoding,
  object: JsonView,
  { name, type }: { name: string; type: ParameterType },
  declared: readonly { name: string }[],
): null {
  if (isFull(decoding)) return null;
  const args = { owner: decoding.owner, type: printShort(type) };
  const sent = object.kind === 'object' ? object.names(namesMax) : [];
  const path = pointerTo(object.path, name);
  return addError(decoding, path, 'PARAM_MISSING', args, sentInstead(name, type, sent, declared));
}

/** Maximum number of members to compare with, and to list. */
const namesMax = 100;
const sentMax = 8;

/** Returns the nearest undeclared name that was sent, otherwise the names that were sent. */
function sentInstead(
  name: string,
  type: ParameterType,
  sent: readonly string[],
  declared: readonly { name: string }[],
): string {
  const known = new Set(declared.map((member) => member.name));
  const others = sent.filter((each) => !known.has(each));
  const near = nearestName(name, others);
  if (near !== undefined) return `\`${excerpt(near)}\` was sent. Did you mean \`${name}\`?`;
  if (sent.length === 0) return `For example {"${name}": ${example(type)}}.`;
  const names = sent.slice(0, sentMax).map((each) => `\`${excerpt(each)}\``);
  return `Sent were ${names.join(', ')}${sent.length > sentMax ? ', …' : ''}.`;
}

/** Throws the first error with the others in `errors`. Returns if there are none. */
export function throwErrors(errors: ErrorData[]): void {
  const [first] = errors;
  if (first === undefined) return;
  throw new TrellisError(errors.length === 1 ? first : { errors, ...first });
}

const kindNames = {
  null: 'null',
  boolean: 'a Boolean',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
} as const;

/** Returns `a string`, `an array`, ... for messages. */
export function describe(view: JsonView): string {
  return kindNames[view.kind];
}

/** Returns the value, shortened, for a value of the right kind with an invalid form. */
export function quote(view: JsonView): string {
  return view.kind === 'string' ? `"${excerpt(view.text())}"` : excerpt(view.token());
}

/** Prints like `printType`, but of objects only the member names, to keep messages short. */
function printShort(type: ParameterType): string {
  if (type.kind === 'scalar') return type.name;
  if (type.kind === 'list') return `[${printShort(type.of)}]`;
  return `{${type.members.map((member) => member.name).join(', ')}}`;
}

function example(type: ParameterType): string {
  if (type.kind === 'list') return `[${example(type.of)}]`;
  if (type.kind === 'object') {
    const members = type.members.map((member) => `"${member.name}": ${example(member.type)}`);
    return `{${members.join(', ')}}`;
  }
  switch (type.name) {
    case 'String':
      return '"text"';
    case 'Boolean':
      return 'true';
    case 'Date':
      return '"2026-03-01T08:00:00Z"';
    case 'Json':
      return '{"name": "value"}';
    case 'ID':
      return '"0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21"';
    case 'F32':
    case 'F64':
      return '0.5';
    default:
      return '42';
  }
}
