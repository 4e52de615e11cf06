// Plans, programs and arguments on their way to another thread. Structured cloning drops classes,
// so the two value classes travel as tagged arrays; everything else is plain data already.
import { Instant, Uuid } from '../../base/value.js';

const instantTag = '\u0000instant';
const uuidTag = '\u0000uuid';

/**
 * Plain data that may contain Instants and Uuids, structured-cloneable: what contains none is itself.
 * Shared memory is kept.
 */
export function pack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Instant) return [instantTag, value.seconds, value.micros];
  if (value instanceof Uuid) return [uuidTag, value.text];
  if (Array.isArray(value)) return packList(value);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, pack(item)]));
  if (value instanceof SharedArrayBuffer) return value;
  return packMembers(value as Record<string, unknown>);
}

function packList(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const packed = pack(list[at]);
    if (packed === list[at]) continue;
    copy ??= [...list];
    copy[at] = packed;
  }
  return copy ?? list;
}

function packMembers(value: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    const packed = pack(value[name]);
    if (packed === value[name]) continue;
    copy ??= { ...value };
    copy[name] = packed;
  }
  return copy ?? value;
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
