// Finds the first rows of an access path when a scan of the type may reach them sooner. First it reads the
// path within a small budget. If that is not enough, it scans the beginning of the type to estimate the share
// of matching rows. Then it chooses the cheaper of the two ways.
//
// Invariant: both ways yield the same rows in the same order, so the chosen one can start again from the
// beginning.
import type { Label } from '../../storage/table/view-types.js';
import type { RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';
import type { IdLookup } from './id-lookup.js';
import { costModel } from './cost-model.js';

export interface FirstRows {
  label: Label;
  find: IdLookup;
  /** Like `find`, without a limit on the number. */
  findAll: IdLookup;
  /** Returns the rows for the ids of the path. */
  rowsAt: (ids: Iterable<Uint32Array>) => RowFlow;
  /** The matching rows from a scan of the whole type. */
  otherwise: RowFlow;
  /** Returns the number of rows that later steps read. */
  limit: (frame: Frame) => number;
}

export function* firstRows(
  frame: Frame,
  { label, find, findAll, rowsAt, otherwise, limit }: FirstRows,
): Iterable<readonly Value[]> {
  const at = (ids: Iterable<Uint32Array> | undefined) =>
    (ids === undefined ? otherwise : rowsAt(ids)).open(frame);
  const short = frame.tryWithin(costModel.minPathVisits, () => ({ ids: find(frame, false) }));
  if (short !== undefined) {
    yield* at(short.ids);
    return;
  }
  const [wanted, total] = [limit(frame), frame.view.count(label.id)];
  // A fifth of the cost at which index path and full scan break even.
  const cost = Math.max(costModel.minSampleVisits, Math.sqrt(wanted * total) / 5);
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
  const leads = (rows / cost) * costModel.visitsPerElementSquared * total;
  yield* at(reading <= leads ? undefined : frame.tryWithin(reading, () => findAll(frame, false)));
}
