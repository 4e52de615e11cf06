// PAGE: the first rows after a position in a total order, and the position of the last of them. Ids order
// rows with equal keys. If ids increase with element numbers, the numbers are compared, and ids are read only
// for the rows of the page.
// Invariant: a page keeps no more than its own rows, however deep it is.
import { readK } from '../runtime/step-argument.js';
import { type Flow, openRows, type RowFlow } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { keep } from '../runtime/collect.js';
import { Element, RecordValue, type Value } from '../runtime/value.js';
import { byIds, candidates, PlacedRow } from './page-ids.js';
import type { Seek } from './page-seek.js';
import type { Evaluate } from '../runtime/compiled.js';
import { keyedBy, type Ordering } from '../operators/order.js';
import { fingerprintOf, type Position, readPosition, writePosition } from './page-cursor.js';
import { TopK } from '../operators/top-k.js';

export interface Paging extends Ordering {
  /** Identifies the order, so that positions of other orders are refused. */
  order: string;
  count: Evaluate;
  after: Evaluate | undefined;
  /** Computed for each item, in the slot of the keys. */
  shape: Evaluate | undefined;
  /** Source that starts at the position, in the order of the first key. */
  seek: Seek | undefined;
}

const names = ['items', 'next'];

export function page(input: Flow, paging: Paging): RowFlow {
  const fingerprint = fingerprintOf(paging.order);
  return { kind: 'rows', open: (frame) => pageRows(frame, input, paging, fingerprint) };
}

function* pageRows(
  frame: Frame,
  input: Flow,
  paging: Paging,
  fingerprint: Uint8Array,
): Iterable<readonly Value[]> {
  const { slot, keys, count, after } = paging;
  const max = readK(frame, count, '`PAGE`', 'n');
  const start = readPosition(after ? after(frame) : null, fingerprint, keys.length);
  const by = keyedBy(frame, paging);
  const ids = byIds(frame, start);
  const compare = (a: PlacedRow, b: PlacedRow) => by.compare(a, b) || ids.compare(a, b);
  const isAfter = (placed: PlacedRow, position: Position): boolean => {
    const order = by.compare(placed, position);
    return order === 0 ? ids.isAfter(placed, position) : order > 0;
  };
  // One more row tells whether there is another page.
  const top = new TopK<PlacedRow>(max + 1, compare);
  const { seek } = paging;
  if (seek !== undefined) seek.start = start;
  const first = keyedBy(frame, { slot, keys: keys.slice(0, 1) });
  let offered = 0;
  let full: PlacedRow | undefined;
  const isById = keys.length === 0 && input.kind === 'ids' && seek === undefined;
  const rows = isById ? candidates(frame, input, ids, () => top.worst) : openRows(input, frame);
  search: for (const batch of rows) {
    frame.tick(batch.length);
    for (const row of batch) {
      if (!(row instanceof Element)) continue;
      const placed = new PlacedRow(frame, row, by.keyed(row).keys);
      if (start !== undefined && !isAfter(placed, start)) continue;
      // After the last kept value of the first key, no row can come before the kept ones.
      const isPast = full && first.compare(placed, full) > 0;
      if (isPast && seek?.ordered) break search;
      if (!top.offer(placed)) continue;
      if (++offered > max && seek?.ordered) full = placed;
      frame.reserveMemory((2 + keys.length) * rowBytes);
      keep(frame, row);
      if (full && keys.length === 0) break search;
    }
  }
  const found = top.sorted();
  const last = found.length > max ? found[max - 1] : undefined;
  const items = found.slice(0, max).map(({ row }): Value => {
    frame.slots[slot] = row;
    return paging.shape ? paging.shape(frame) : row;
  });
  yield [new RecordValue(names, [items, last ? writePosition(frame, last, fingerprint) : null])];
}
