// The first rows of what a path leads to, where reading the type from its beginning may meet them sooner:
// the path, as far as that is a trifle; then a look at the beginning of the type, which shows how many of
// it are wanted; then the one of the two that this speaks for.
//
// Invariant: both yield the same rows in the same order, so that whichever is taken is begun anew.
import type { Label } from '../../storage/table/view-types.js';
import type { RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';
import type { IdLookup } from './id-lookup.js';
import { minScanBudget } from './scan-budget.js';

export interface FirstRows {
  label: Label;
  find: IdLookup;
  /** The same, however many are read. */
  findAll: IdLookup;
  /** The rows of what the path leads to. */
  rowsAt: (ids: Iterable<Uint32Array>) => RowFlow;
  /** The same from the whole type. */
  otherwise: RowFlow;
  /** How many of them are read. */
  most: (frame: Frame) => number;
}

/** The least that a look at the beginning of a type may cost. */
const leastLook = 256;

/** Of visits that looking at an element takes on one way, times those that it takes on the other: about. */
const visitsEach = 32;

export function* firstRows(
  frame: Frame,
  { label, find, findAll, rowsAt, otherwise, most }: FirstRows,
): Iterable<readonly Value[]> {
  const at = (ids: Iterable<Uint32Array> | undefined) =>
    (ids === undefined ? otherwise : rowsAt(ids)).open(frame);
  const short = frame.tryWithin(minScanBudget, () => ({ ids: find(frame, false) }));
  if (short !== undefined) {
    yield* at(short.ids);
    return;
  }
  const [wanted, total] = [most(frame), frame.view.count(label.id)];
  // Where path and type cost the same, a fifth of that.
  const cost = Math.max(leastLook, Math.sqrt(wanted * total) / 5);
  const further = otherwise.open(frame)[Symbol.iterator]();
  const met: (readonly Value[])[] = [];
  let rows = 0;
  const isMet = frame.tryWithin(cost, () => {
    while (rows < wanted) {
      const { value, done } = further.next();
      if (done) break;
      met.push(value);
      rows += value.length;
    }
    return true;
  });
  if (isMet) {
    yield* met;
    yield* { [Symbol.iterator]: () => further };
    return;
  }
  const reading = (cost * wanted) / Math.max(rows, 1 / 2);
  const leads = (rows / cost) * visitsEach * total;
  yield* at(reading <= leads ? undefined : frame.tryWithin(reading, () => findAll(frame, false)));
}
