// How far a path is followed before reading the type is the shorter way.
import type { Label } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';

/** How many rows are wanted, if that is known. */
export type RowLimit = ((frame: Frame) => number) | undefined;

/**
 * What a path may cost. With m of n elements to be found, a scan finds k of them among k n / m: a path of m
 * is the better way up to m² = k n.
 */
export function scanBudget(frame: Frame, label: Label, most: RowLimit): number {
  if (most === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(minScanBudget, 2 * Math.sqrt(most(frame) * frame.view.count(label.id)));
}

/** What any path may cost. */
export const minScanBudget = 256;
