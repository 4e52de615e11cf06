// Faults of one body: all of them are collected, the first one answers. Names and paths are only
// made when needed.
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

const faultsMax = 8;

/** What decoding one body needs and finds. */
export interface Decoding {
  /** Query or tool whose parameters these are. */
  owner: string;
  limits: Limits;
  /** Members that are not declared are faults. */
  strict: boolean;
  /** Pointer of the object that holds the parameters: `` for queries, `/data` for most tools. */
  prefix: string;
  faults: ErrorData[];
}

export function isFull(decoding: Decoding): boolean {
  return decoding.faults.length >= faultsMax;
}

/** `rows[0].name` for `/data/rows/0/name`, the prefix being `/data`. */
function parameterName(path: string, decoding: Decoding): string {
  let name = '';
  for (const part of path.slice(decoding.prefix.length + 1).split('/')) {
    if (name !== '' && /^\d+$/.test(part)) name += `[${part}]`;
    else name += `${name === '' ? '' : '.'}${part.replaceAll('~1', '/').replaceAll('~0', '~')}`;
  }
  return name;
}

/**
 * Notes a fault of the value at `path` and stands in for its value. `param` is added to the
 * arguments.
 */
export function addFault(
  decoding: Decoding,
  path: string,
  code: ErrorCode,
  args: ErrorArgs,
  hint?: string,
): null {
  if (isFull(decoding)) return null;
  const data: ErrorData = { code, args: { param: parameterName(path, decoding), ...args }, path };
  if (hint !== undefined) data.hint = hint;
  decoding.faults.push(data);
  return null;
}

/** PARAM_TYPE for a value of another kind, or `got` when the kind is right and the form is not. */
export function wrongType(
  decoding: Decoding,
  view: JsonView,
  type: ParameterType,
  got = describe(view),
): null {
  return addFault(
    decoding,
    view.path,
    'PARAM_TYPE',
    { type: printShort(type), got },
    `For example ${example(type)}.`,
  );
}

/** PARAM_MISSING for a member of `object`, of which those `declared` are known; says what was sent. */
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
  return addFault(decoding, path, 'PARAM_MISSING', args, sentInstead(name, type, sent, declared));
}

/** Members looked at for a name that was meant, and shown. */
const namesMax = 100;
const sentMax = 8;

/** What was sent instead: the nearest name that means nothing here, else the names there are. */
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

/** Throws the first fault, the others beside it. */
export function throwFaults(faults: ErrorData[]): void {
  const [first] = faults;
  if (first === undefined) return;
  throw new TrellisError(faults.length === 1 ? first : { errors: faults, ...first });
}

const kindNames = {
  null: 'null',
  boolean: 'a Boolean',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
} as const;

/** `a string`, `an array`, ... for messages. */
export function describe(view: JsonView): string {
  return kindNames[view.kind];
}

/** The value itself, shortened, where its kind is right but its form is not. */
export function quote(view: JsonView): string {
  return view.kind === 'string' ? `"${excerpt(view.text())}"` : excerpt(view.token());
}

/** As `printType`, but of objects only the member names: messages stay short. */
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
    case 'ID':
      return '"0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21"';
    case 'F32':
    case 'F64':
      return '0.5';
    default:
      return '42';
  }
}
