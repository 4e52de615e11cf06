// Computes the index entries of an element from its values: one for each indexed property that is set.
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { prefixOf } from './index-key.js';
import type { Label, StoredProperty } from '../table/view-types.js';

/** An index entry that an element has or should have. */
export interface Entry {
  property: StoredProperty;
  prefix: Uint8Array;
}

/**
 * Returns the bytes of the value in a prefix of `size` bytes, as limits count them: a string without its end
 * mark.
 */
export function valueSize(size: number, property: StoredProperty): number {
  const isText = property.type.kind === 'scalar' && property.type.name === 'String';
  return size - (isText ? 6 : 4);
}

/**
 * Fails INDEX_KEY_TOO_LONG if the prefix of a new entry is too long. Stored entries keep the limit of their
 * time.
 */
export function checkKeySize(
  bytes: number,
  property: StoredProperty,
  { index_key_bytes: max }: Pick<Limits, 'index_key_bytes'>,
): void {
  const size = valueSize(bytes, property);
  if (size > max) fail('INDEX_KEY_TOO_LONG', { property: property.name, max, size });
}

export function entriesOf(
  label: Label,
  read: (property: StoredProperty) => Scalar | ScalarList | null,
): Entry[] {
  const entries: Entry[] = [];
  for (const property of label.properties) {
    if (property.indexId === 0) continue;
    const value = read(property);
    if (value !== null) entries.push({ property, prefix: prefixOf(property, value) });
  }
  return entries;
}
