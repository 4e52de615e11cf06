// The index entries that an element has by its values: one for each indexed property that is set.
import type { Scalar, ScalarList } from '../../base/value.js';
import { prefixOf } from './index-key.js';
import type { Label, StoredProperty } from '../table/store.js';

/** An index entry an element has or should have. */
export interface Entry {
  property: StoredProperty;
  prefix: Uint8Array;
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
