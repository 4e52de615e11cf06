// Limits how much of an access path is read before a scan of the type is faster.
import type { Label } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { costModel } from './cost-model.js';

/** Returns the number of rows that later steps read. Undefined when it is not known. */
export type RowLimit = ((frame: Frame) => number) | undefined;

/**
 * Returns the maximum cost of a path. If m of n elements match, a scan finds k of them among k n / m. So a
 * path with m elements is faster while m² < k n.
 */
export function scanBudget(frame: Frame, label: Label, limit: RowLimit): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(
    costModel.minPathVisits,
    2 * Math.sqrt(limit(frame) * frame.view.count(label.id)),
  );
}
