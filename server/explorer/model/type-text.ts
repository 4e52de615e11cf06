// Prints a JSON Schema of the contract as a short text: `{person: text, limit?: 0…255}`. Pure.
import type { JsonType } from './contract.js';

const depthMax = 4;

const names: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  null: 'null',
  integer: 'integer',
  number: 'number',
};

export function printType(
  type: JsonType & { $ref?: string; oneOf?: JsonType[] },
  depth = 0,
): string {
  if (type.$ref !== undefined) return type.$ref.replace(/^.*\//, '');
  const parts = type.anyOf ?? type.oneOf;
  if (parts !== undefined) return parts.map((one) => printType(one, depth)).join(' or ');
  const kinds = [type.type ?? []].flat();
  if (kinds.includes('array')) return `[${printType(type.items ?? {}, depth)}]`;
  if (kinds.includes('object')) return printMembers(type, depth);
  if (type.format === 'uuid') return 'id';
  if (type.format === 'int64') return 'integer (64 bits)';
  if (kinds.includes('string') && kinds.includes('integer')) return 'date';
  const isNullable = kinds.includes('null') && kinds.length > 1;
  const kind = kinds.filter((one) => one !== 'null' || !isNullable).map((one) => names[one] ?? one);
  return `${kind.join(' or ') || 'anything'}${isNullable ? '?' : ''}`;
}

function printMembers(type: JsonType, depth: number): string {
  const members = Object.entries(type.properties ?? {});
  if (members.length === 0) return '{}';
  if (depth >= depthMax) return '{…}';
  const required = new Set(type.required ?? []);
  const inner = '  '.repeat(depth + 1);
  const lines = members.map(
    ([name, member]) =>
      `${inner}${name}${required.has(name) ? '' : '?'}: ${printType(member, depth + 1)}`,
  );
  const short = `{${lines.map((line) => line.trim()).join(', ')}}`;
  return short.length < 80 ? short : `{\n${lines.join(',\n')}\n${'  '.repeat(depth)}}`;
}
