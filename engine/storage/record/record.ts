// The record of an element: a fixed head, then its properties as JSON, so that replies are built by copying.
//
//   offset  size
//      0      2    label id
//      2      1    kind: 0 node, 1 edge, 2 vector
//      3      1    zero
//      4      2    number of property slots S
//      6      2    zero
//      8     16    uuid
//     24      4    edges: id of the from end
//     28      4    edges: id of the to end
//     32     16    edges: uuid of the from end
//     48     16    edges: uuid of the to end
//   24|64   4 S    end of the fragment in each slot, counted from the start of the record
//     ...          fragments in slot order; an empty one means unset
//
// The fragment of a `Json` property is its text without white space, as the client wrote it (format 2.2).
//
// All numbers are little-endian. record-writer.ts builds records.
// Invariant: a slot keeps its meaning forever; slots beyond S are unset.
import type { ElementKind } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { readFragment } from './fragment.js';
import type { StoredProperty } from '../table/view-types.js';
import { getWord } from '../table/little-endian.js';

const kinds: readonly ElementKind[] = ['node', 'edge', 'vector'];
const plainHead = 24;
const edgeHead = 64;

/** Offsets of the 16-byte uuids in a record. */
export const uuidAt = { own: 8, from: 32, to: 48 } as const;

/** `at`: start of the record in the bytes. */
export const labelOf = (record: Uint8Array, at = 0): number => record[at]! | (record[at + 1]! << 8);
export const kindOf = (record: Uint8Array, at = 0): ElementKind => kinds[record[at + 2]!]!;

/** Ids of the endpoints of an edge. */
export const fromOf = (record: Uint8Array): number => getWord(record, 24);
export const toOf = (record: Uint8Array): number => getWord(record, 28);

const headSize = (record: Uint8Array): number => (record[2] === 1 ? edgeHead : plainHead);
const slotsOf = (record: Uint8Array): number => record[4]! | (record[5]! << 8);

const range = { start: 0, end: 0 };

/**
 * Returns the bytes [start, end) of the fragment in a slot of a record that starts at `at`. They are equal if
 * the property is unset. The result is valid until the next call.
 */
export function fragmentOf(
  bytes: Uint8Array,
  slot: number,
  at = 0,
): { readonly start: number; readonly end: number } {
  const slots = bytes[at + 4]! | (bytes[at + 5]! << 8);
  const table = at + (bytes[at + 2] === 1 ? edgeHead : plainHead);
  range.start = range.end = 0;
  if (slot >= slots) return range;
  range.start = slot === 0 ? table + 4 * slots : at + getWord(bytes, table + 4 * slot - 4);
  range.end = at + getWord(bytes, table + 4 * slot);
  return range;
}

/** Returns the offset of the table of ends and the number of slots, for reading many fragments. */
export function fragmentsOf(record: Uint8Array): { table: number; slots: number } {
  return { table: headSize(record), slots: slotsOf(record) };
}

/** Returns the value of a property, or null if it is unset. */
export function decodeProperty(
  record: Uint8Array,
  property: StoredProperty,
): Scalar | ScalarList | null {
  const { start, end } = fragmentOf(record, property.slot);
  return start === end ? null : readFragment(record, start, end, property.type);
}
