// Builds and parses the keys of property indexes, which property-index.ts draws.
import { ByteWriter } from '../../base/bytes.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { writeOrdered } from './ordered-encoding.js';
import type { StoredProperty } from '../table/view-types.js';

/** Longer than any stored prefix (limits.index_key_bytes), and short enough for a key of LMDB. */
export const longestPrefix = 1940;

const writer = new ByteWriter(256);

function appendIndex(target: ByteWriter, indexId: number): void {
  for (let shift = 24; shift >= 0; shift -= 8) target.byte((indexId >>> shift) & 255);
}

/** Appends the prefix that all keys of a value share. */
function appendPrefix(
  target: ByteWriter,
  property: StoredProperty,
  value: Scalar | ScalarList,
): void {
  appendIndex(target, property.indexId);
  writeOrdered(target, value, property.type);
}

/** Returns the prefix that all keys of a value share: index and value. */
export function prefixOf(property: StoredProperty, value: Scalar | ScalarList): Uint8Array {
  writer.length = 0;
  appendPrefix(writer, property, value);
  return writer.take();
}

/** Returns the lowest possible key of an index. Its keys are below that of the next index id. */
export function indexStart(indexId: number): Uint8Array {
  writer.length = 0;
  appendIndex(writer, indexId);
  return writer.take();
}

/** Returns the key of an id under a value. The key with id 0 is that of the value's list. */
export function indexKey(prefix: Uint8Array, id: number): Uint8Array {
  const at = prefix.length;
  const key = new Uint8Array(at + 4);
  key.set(prefix);
  key[at] = id >>> 24;
  key[at + 1] = id >>> 16;
  key[at + 2] = id >>> 8;
  key[at + 3] = id;
  return key;
}

/** Appends the key of the list of a value: `indexKey` with id 0. */
export function appendListKey(target: ByteWriter, prefix: Uint8Array): void {
  target.append(prefix);
  endListKey(target);
}

/** Appends the key of the list of a value that has no prefix yet. */
export function appendValueKey(
  target: ByteWriter,
  property: StoredProperty,
  value: Scalar | ScalarList,
): void {
  appendPrefix(target, property, value);
  endListKey(target);
}

function endListKey(target: ByteWriter): void {
  for (let i = 0; i < 4; i++) target.byte(0);
}

/** Returns a key above every key with this prefix, and below all other keys above it. */
export function above(prefix: Uint8Array): Uint8Array {
  const key = new Uint8Array(prefix.length + 5).fill(255);
  key.set(prefix);
  return key;
}

/** Returns the id at the end of a key. */
export function idOfKey(key: Uint8Array): number {
  const at = key.length - 4;
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
}
