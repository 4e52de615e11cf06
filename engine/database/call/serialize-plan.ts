// Serializes plans, programs and arguments for another thread. Structured cloning loses classes, so the value
// classes become tagged arrays. Everything else is plain data already.
import { Json } from '../../base/text/json.js';
import { Instant, Uuid } from '../../base/value.js';

const instantTag = '\u0000instant';
const uuidTag = '\u0000uuid';
const jsonTag = '\u0000json';

/**
 * Returns structured-cloneable data for a value that may contain Instants, Uuids and Jsons. A value that
 * contains none of them is returned itself. Shared memory stays shared.
 */
export function pack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Instant) return [instantTag, value.seconds, value.micros];
  if (value instanceof Uuid) return [uuidTag, value.text];
  if (value instanceof Json) return [jsonTag, value.text];
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

/** The inverse of `pack`. It changes the received data in place. */
export function unpack<T>(value: unknown): T {
  return restore(value) as T;
}

function restore(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    if (value[0] === instantTag) return new Instant(value[1] as number, value[2] as number);
    if (value[0] === uuidTag) return new Uuid(value[1] as string);
    if (value[0] === jsonTag) return new Json(value[1] as string);
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
