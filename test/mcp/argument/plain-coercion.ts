// The arguments that a tool takes for what a model sent, by the table of server/mcp/README.md: slowly, over the
// values of the plain reading. It knows nothing of the server's own conversion.
import type { ParameterType } from '../../../engine/base/schema.js';
import { type Read, readJson } from '../plain-reading.js';

interface Member {
  name: string;
  type: ParameterType;
  optional: boolean;
  default?: unknown;
}

const jsonNumber = /^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Digits of a number or text that is an integer, else undefined. */
function digitsOf(text: string): string | undefined {
  if (/^-?(0|[1-9][0-9]*)$/.test(text)) return text;
  if (/^-?(0|[1-9][0-9]*)[.]0+$/.test(text)) return text.slice(0, text.indexOf('.'));
  return undefined;
}

function scalar(read: Read, name: string): string {
  const isText = read.kind === 'string';
  const text = isText ? read.text.trim() : read.raw;
  if (name === 'Boolean') {
    const word = isText ? read.text : '';
    if (word === 'true' || word === 'True') return 'true';
    return word === 'false' || word === 'False' ? 'false' : read.raw;
  }
  if (name === 'F32' || name === 'F64') return isText && jsonNumber.test(text) ? text : read.raw;
  if (!/^[IU][0-9]+$/.test(name)) return read.raw;
  const digits = digitsOf(text);
  if (digits !== undefined) return digits;
  const isWhole = read.kind === 'number' && Number.isSafeInteger(Number(text));
  return isWhole ? String(Number(text)) : read.raw;
}

function plainCoercion(read: Read, type: ParameterType): string {
  if (type.kind === 'scalar') return scalar(read, type.name);
  const kind = type.kind === 'list' ? 'array' : 'object';
  let value = read;
  if (read.kind === 'string') {
    const inner = readJson(Buffer.from(read.text));
    if (inner?.kind === kind) value = inner;
  }
  if (value.kind !== kind) return read.raw;
  return type.kind === 'list'
    ? `[${value.items.map((item) => plainCoercion(item, type.of)).join(',')}]`
    : plainArguments(value, type.members);
}

/** The arguments of a call, or the members of an object. */
export function plainArguments(read: Read, declared: readonly Member[]): string {
  const texts = [...read.members].flatMap(([name, value]) => {
    const member = declared.find((one) => one.name === name);
    if (member === undefined) return [`${JSON.stringify(name)}:${value.raw}`];
    const isString = member.type.kind === 'scalar' && member.type.name === 'String';
    const mayBeAbsent = member.optional || member.default !== undefined;
    if (mayBeAbsent && !isString && value.kind === 'string' && value.text === '') return [];
    return [`${JSON.stringify(name)}:${plainCoercion(value, member.type)}`];
  });
  return `{${texts.join(',')}}`;
}
