// Defines the store keys of vectors that replace those of a type when all are there.
//
//   derived key    FF 'w' label(u16 BE) id(u32 BE)
//   derived value  mark(8) · embedding (vector-record.ts)
//
// The mark is the beginning of the SHA-256 of the text: a vector whose text has changed is made again.
import { createHash } from 'node:crypto';
import type { Label, ReadView } from '../../storage/table/view-types.js';
import { decodeProperty } from '../../storage/record/record.js';

export const markBytes = 8;

export function shadowKey(label: number, id: number): Uint8Array {
  const key = Uint8Array.of(0xff, 0x77, label >> 8, label & 255, 0, 0, 0, 0);
  new DataView(key.buffer).setUint32(4, id);
  return key;
}

/** Returns the id of a key of `shadowKey`. */
export const shadowId = (key: Uint8Array): number =>
  new DataView(key.buffer, key.byteOffset).getUint32(4);

/** Range of the new vectors of a type, from an id on. */
export const shadowRange = (label: number, from = 0): [Uint8Array, Uint8Array] => [
  shadowKey(label, from),
  Uint8Array.of(0xff, 0x77, (label + 1) >> 8, (label + 1) & 255),
];

export const markOf = (text: string): Uint8Array =>
  createHash('sha256').update(text).digest().subarray(0, markBytes);

/** Returns true if the new vector of an element is there and was made of this text. */
export function hasShadow(
  view: Pick<ReadView, 'getDerived'>,
  label: number,
  id: number,
  text: string,
): boolean {
  const value = view.getDerived(shadowKey(label, id));
  return value !== undefined && Buffer.compare(value.subarray(0, markBytes), markOf(text)) === 0;
}

/** Returns the text of an element, or undefined if it has none. */
export function textOf(view: ReadView, label: Label, from: string, id: number): string | undefined {
  const property = label.properties.find(({ name }) => name === from);
  const record = property && view.recordShared(id);
  const value = record && decodeProperty(record, property);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
