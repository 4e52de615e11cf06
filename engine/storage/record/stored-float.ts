// Handles stored floats that are not finite, which older versions could store. Reading one fails DATA_CORRUPT
// and names the element. Replacing or deleting one still removes its index entry.
import { printUuid } from '../../base/id.js';
import { checkIntegrity } from '../../base/integrity.js';
import { slice } from '../../base/byte-slice.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { holdsNumbers, isFloat, readFragment } from './fragment.js';
import { fragmentOf, uuidAt } from './record.js';
import type { StoredProperty } from '../table/view-types.js';

/** Fails DATA_CORRUPT for a fragment of floats that is not JSON, because replies copy fragments. */
export function checkFloats(record: Uint8Array, start: number, end: number): void {
  if (holdsNumbers(record, start, end)) return;
  checkIntegrity(false, `a float of element ${printUuid(record, uuidAt.own)} is not finite`);
}

/**
 * Like `decodeProperty`, for removing index entries. Also returns floats that are not finite, so that they
 * can be replaced and deleted.
 */
export function decodeFormer(
  record: Uint8Array,
  property: StoredProperty,
): Scalar | ScalarList | null {
  const { start, end } = fragmentOf(record, property.slot);
  if (start === end) return null;
  if (!isFloat(property.type) || holdsNumbers(record, start, end)) {
    return readFragment(record, start, end, property.type);
  }
  const numbers = slice(record, start, end)
    .split(/[[\],]+/)
    .filter(Boolean)
    .map(Number);
  return property.type.kind === 'list' ? numbers : numbers[0]!;
}
