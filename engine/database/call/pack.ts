// Plans, programs and arguments on their way to another thread. Structured cloning drops classes,
// so the two value classes travel as tagged arrays; everything else is plain data already.
import { Instant, Uuid } from '../../base/value.js';

const instantTag = '\u0000instant';
const uuidTag = '\u0000uuid';

/**
 * A structured-cloneable copy of plain data that may contain Instants and Uuids. Shared memory is
 * kept.
 */
export function pack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Instant) return [instantTag, value.seconds, value.micros];
  if (value instanceof Uuid) return [uuidTag, value.text];
  if (Array.isArray(value)) return value.map(pack);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, pack(item)]));
  return mapMembers(value, pack);
}

/** The inverse of `pack`, in place: what comes here is its receiver's own. */
export function unpack<T>(value: unknown): T {
  return restore(value) as T;
}

function restore(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    if (value[0] === instantTag) return new Instant(value[1] as number, value[2] as number);
    if (value[0] === uuidTag) return new Uuid(value[1] as string);
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      if (typeof item === 'object' && item !== null) value[at] = restore(item);
    }
  } else if (value instanceof Map) {
    for (const [key, item] of value) value.set(key, restore(item));
  } else if (!(value instanceof SharedArrayBuffer)) {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      const member = members[name];
      if (typeof member === 'object' && member !== null) members[name] = restore(member);
    }
  }
  return value;
}

function mapMembers(value: object, convert: (member: unknown) => unknown): object {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) result[name] = convert(member);
  return result;
}
