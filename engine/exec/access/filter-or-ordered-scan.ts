// Chooses at run time between two access paths: an index for a condition, and another index for the order. It
// reads the ids that the condition selects if there are few. Otherwise it scans in order and tests the
// condition on each row.
// Invariant: every element that satisfies the condition comes once. Elements with equal keys come oldest
// first.
import { IdSet } from '../../base/id-set.js';
import type { Label } from '../../storage/table/view-types.js';
import type { Seek } from '../page/page-seek.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { costModel } from './cost-model.js';
import type { IdLookup } from './id-lookup.js';

/** A condition that an index decides, for a scan in order that tests the same condition. */
export interface FilterOrScan {
  label: Label;
  /** Finds the ids that satisfy the condition, oldest first. Returns undefined when they are many. */
  find: IdLookup;
  /** Like `find`, without a limit on the number. */
  findAll: IdLookup;
  /** Returns the number of rows that later steps read. */
  limit: (frame: Frame) => number;
}

/**
 * If m of n elements satisfy the condition, an ordered scan finds k of them among k n / m. So the scan is
 * faster when m² > k n. Smaller sets are read directly. If the scan finds too few elements, it ends, and the
 * rest follows in order of age; equal keys stay in order of age.
 */
export function filterOrOrderedScan(walk: IdFlow, filter: FilterOrScan, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => chooseIds(frame, walk, filter, seek) };
}

function* chooseIds(
  frame: Frame,
  walk: IdFlow,
  { label, find, findAll, limit }: FilterOrScan,
  seek: Seek,
): Iterable<Uint32Array> {
  const budget = Math.max(
    costModel.minFilterIds,
    Math.sqrt(limit(frame) * frame.view.count(label.id)),
  );
  const few = gathered(frame, find(frame, false), budget);
  seek.ordered = few === undefined;
  if (few !== undefined) {
    yield few;
    return;
  }
  const yielded = new IdSet();
  let left = costModel.orderedScanFactor * budget;
  for (const ids of walk.open(frame)) {
    for (let i = 0; i < ids.length; i++) yielded.add(ids[i]!);
    frame.reserveMemory(4 * ids.length);
    left -= ids.length;
    yield ids;
    if (left < 0 || !seek.ordered) break;
  }
  if (left >= 0 && seek.ordered) return;
  seek.ordered = false;
  for (const ids of findAll(frame, false) ?? frame.view.scan(label.id)) {
    frame.tick(ids.length);
    yield ids.filter((id) => !yielded.has(id));
  }
}

/** Returns all ids, or undefined when there are more than `max`. */
function gathered(
  frame: Frame,
  batches: Iterable<Uint32Array> | undefined,
  max: number,
): Uint32Array | undefined {
  if (batches === undefined) return undefined;
  const found = new IdBuffer();
  for (const ids of batches) {
    frame.tick(ids.length);
    found.append(ids);
    if (found.length > max) return undefined;
  }
  frame.reserveMemory(4 * found.length);
  return found.take();
}
