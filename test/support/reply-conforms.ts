// Whether a reply is of the type that the compiler says its query has: the promise behind everything
// that is generated from that type. Members beyond it are as wrong as missing ones.
import type { Schema } from '../../engine/base/schema.js';
import { elementMembers } from '../../engine/contract/element-shape.js';
import type { OutputMember, OutputType, ReplyType } from '../../engine/plan/output-type.js';

/** Where the reply leaves its type, and how; undefined: nowhere. */
export function mismatch(reply: ReplyType, body: string, schema: Schema): string | undefined {
  const value = JSON.parse(body) as unknown;
  return 'bare' in reply
    ? faultOf(reply.bare, value, schema, '')
    : recordFault(reply.members, value, schema, '');
}

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 80);

function faultOf(
  type: OutputType,
  value: unknown,
  schema: Schema,
  path: string,
): string | undefined {
  switch (type.kind) {
    case 'unknown':
      return undefined;
    case 'nullable':
      return value === null ? undefined : faultOf(type.of, value, schema, path);
    case 'literal':
      return value === type.value ? undefined : `${path}: ${shown(value)} is not ${type.value}`;
    case 'list': {
      if (!Array.isArray(value)) return `${path}: ${shown(value)} is no list`;
      for (const [at, item] of value.entries()) {
        const fault = faultOf(type.of, item, schema, `${path}/${at}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    }
    case 'map': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return `${path}: ${shown(value)} is no object`;
      }
      for (const [name, item] of Object.entries(value)) {
        const fault = faultOf(type.of, item, schema, `${path}/${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    }
    case 'union': {
      const faults = type.of.map((one) => faultOf(one, value, schema, path));
      return faults.includes(undefined) ? undefined : faults[0];
    }
    case 'record':
      return recordFault(type.members, value, schema, path);
    case 'element':
      return elementFault(type, value, schema, path);
    case 'scalar': {
      if (type.name === 'Json') return undefined;
      const isText = ['String', 'Date', 'ID'].includes(type.name);
      const wanted = isText ? 'string' : type.name === 'Boolean' ? 'boolean' : 'number';
      const isWhole = wanted !== 'number' || /^F/.test(type.name) || Number.isInteger(value);
      const fits = typeof value === wanted && isWhole;
      return fits ? undefined : `${path}: ${shown(value)} is no ${type.name}`;
    }
  }
}

function recordFault(
  members: readonly OutputMember[],
  value: unknown,
  schema: Schema,
  path: string,
): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${path}: ${shown(value)} is no object`;
  }
  const left = new Map(Object.entries(value));
  for (const { name, type, optional } of members) {
    if (!left.has(name)) {
      if (optional) continue;
      return `${path}/${name} is missing in ${shown(value)}`;
    }
    const fault = faultOf(type, left.get(name), schema, `${path}/${name}`);
    if (fault !== undefined) return fault;
    left.delete(name);
  }
  return left.size === 0 ? undefined : `${path}/${[...left.keys()]} is of no type`;
}

function elementFault(
  form: Extract<OutputType, { kind: 'element' }>,
  value: unknown,
  schema: Schema,
  path: string,
): string | undefined {
  const label = (value as { label?: unknown } | null)?.label;
  const ref = form.types.find((one) => one.name === label);
  if (ref === undefined)
    return `${path}: ${shown(value)} is none of ${form.types.map((t) => t.name)}`;
  const members = elementMembers(schema, ref, form);
  return recordFault(members, value, schema, path);
}
