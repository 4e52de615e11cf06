// Prints elements for the explorer: lists of whole elements, printed like those of any reply but without
// vectors, and the ids from which a page continues.
// Invariant: every printed element is counted.
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { uuidAt } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/view-types.js';
import type { PrintStyle } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { Element } from '../runtime/value.js';
import { printElement } from './print.js';

const style: PrintStyle = { data: false, compat: false, fractions: false };

export const printOne = (frame: Frame, out: ByteWriter, id: number): void =>
  printElement(frame, out, new Element(id), style);

/** Prints each item with `print`, as a JSON array. */
export function printList<T>(
  frame: Frame,
  out: ByteWriter,
  items: Iterable<T>,
  print: (item: T) => void,
): void {
  let count = 0;
  out.byte(91);
  for (const item of items) {
    if (count++ > 0) out.byte(44);
    frame.countItem(out);
    print(item);
  }
  out.byte(93);
}

export const printElements = (frame: Frame, out: ByteWriter, ids: Iterable<number>): void =>
  printList(frame, out, ids, (id) => printOne(frame, out, id));

export const labelsOf = (frame: Frame, ...kinds: Label['kind'][]): Label[] =>
  frame.view.catalog.labels().filter(({ kind }) => kinds.includes(kind));

/** Returns the id of an existing element. Fails NO_VALUE_FOUND. */
export function existing(frame: Frame, uuid: Uint8Array): number {
  const id = frame.view.idOf(uuid);
  return id === 0 ? fail('NO_VALUE_FOUND', { what: `element ${printUuid(uuid)}` }) : id;
}

export function uuidText(frame: Frame, id: number): string {
  return printUuid(frame.readRecord(id)!, uuidAt.own);
}
