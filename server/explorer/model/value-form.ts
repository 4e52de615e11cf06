// Derives the fields of a form from the types of parameters, and the JSON of a call from the typed texts.
// Numbers keep their digits, so that no integer is rounded. A text that does not fit its type is sent as a
// string, and the error of the server is shown at its field. Pure.
import type { JsonType } from './contract.js';

export type Field =
  | { kind: 'text' | 'id' | 'date' | 'number' | 'wide' | 'boolean' | 'json'; optional: boolean }
  | { kind: 'integer'; optional: boolean; min: number; max: number }
  | { kind: 'numbers'; optional: boolean }
  | { kind: 'list'; optional: boolean; of: Field }
  | { kind: 'object'; optional: boolean; members: Member[] };

export interface Member {
  name: string;
  field: Field;
  about?: string;
  defaultValue?: string;
}

/** Content of a field: the text of a simple one. */
export type Typed = string | undefined | Typed[] | { [member: string]: Typed };

const has = (type: JsonType, name: string): boolean =>
  Array.isArray(type.type) ? type.type.includes(name) : type.type === name;

function fieldOf(type: JsonType, optional = false): Field {
  const { anyOf } = type;
  if (anyOf !== undefined) {
    const inner = anyOf.find((one) => one.type !== 'null');
    return inner === undefined ? { kind: 'json', optional: true } : fieldOf(inner, true);
  }
  if (has(type, 'array') && type.items !== undefined) {
    const of = fieldOf(type.items);
    // Lists of many numbers are pasted as one text.
    return of.kind === 'number' ? { kind: 'numbers', optional } : { kind: 'list', optional, of };
  }
  if (has(type, 'object')) return { kind: 'object', optional, members: membersOf(type) };
  if (type.format === 'int64') return { kind: 'wide', optional };
  if (has(type, 'string') && has(type, 'integer')) return { kind: 'date', optional };
  if (has(type, 'integer')) {
    return { kind: 'integer', optional, min: type.minimum ?? 0, max: type.maximum ?? 0 };
  }
  if (has(type, 'number')) return { kind: 'number', optional };
  if (has(type, 'boolean')) return { kind: 'boolean', optional };
  if (has(type, 'string')) return { kind: type.format === 'uuid' ? 'id' : 'text', optional };
  return { kind: 'json', optional };
}

/** Members of an object type in their order. */
export function membersOf(type: JsonType): Member[] {
  const required = new Set(type.required ?? []);
  return Object.entries(type.properties ?? {}).map(([name, member]) => ({
    name,
    field: fieldOf(member, !required.has(name)),
    ...(member.description !== undefined && { about: member.description }),
    ...(member.default !== undefined && { standard: String(member.default) }),
  }));
}

const integerForm = /^-?(0|[1-9]\d*)$/;
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the JSON of one field, or undefined for a member that is left out. */
function printField(field: Field, typed: Typed): string | undefined {
  if (field.kind === 'object') return printObject(field, typed);
  if (field.kind === 'list') {
    if (!Array.isArray(typed)) return field.optional ? undefined : '[]';
    const items = typed.map((item) => printField(field.of, item) ?? 'null');
    return `[${items.join(',')}]`;
  }
  const text = typeof typed === 'string' ? typed : '';
  if (text === '' && (field.kind !== 'text' || typed === undefined || field.optional)) {
    return undefined;
  }
  const quoted = JSON.stringify(text);
  switch (field.kind) {
    case 'integer':
    case 'wide':
      return integerForm.test(text) ? text : quoted;
    case 'number':
      return numberForm.test(text) ? text : quoted;
    case 'date':
      return integerForm.test(text) ? text : quoted;
    case 'boolean':
      return text === 'true' || text === 'false' ? text : quoted;
    case 'numbers':
    case 'json':
      return isJson(text) ? text : quoted;
    default:
      return quoted;
  }
}

function printObject(
  { members, optional }: { members: Member[]; optional: boolean },
  typed: Typed,
): string | undefined {
  const values = typeof typed === 'object' && !Array.isArray(typed) ? typed : {};
  const parts = members.flatMap(({ name, field }) => {
    const json = printField(field, values[name]);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  return parts.length === 0 && optional ? undefined : `{${parts.join(',')}}`;
}

/** Returns the body of a call. */
export const printBody = (members: Member[], typed: Record<string, Typed>): string =>
  printObject({ members, optional: false }, typed) ?? '{}';

/** Encodes the content of a field as a parameter of the address, and decodes it. */
export const typedText = (typed: Typed): string =>
  typeof typed === 'string' ? typed : typed === undefined ? '' : JSON.stringify(typed);

/** Returns the content of the fields for a value. The user can write an address by hand. */
function typedValue(value: unknown): Typed {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.map(typedValue);
  if (typeof value !== 'object') return String(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typedValue(one)]));
}

export function typedFrom(field: Field, text: string): Typed {
  if (field.kind !== 'list' && field.kind !== 'object') return text;
  try {
    return typedValue(JSON.parse(text));
  } catch {
    return undefined;
  }
}
