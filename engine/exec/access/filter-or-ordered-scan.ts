// A condition that an index decides and an order that another has: the few that the condition leads to, or
// a walk in the order, which tests the condition on the way. Invariant: every element that the condition is
// true for comes once, those of equal keys in the order of their age.
import { IdSet } from '../../base/id-set.js';
import type { Label } from '../../storage/table/view-types.js';
import type { Seek } from '../page/page-seek.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import type { IdLookup } from './id-lookup.js';

/** A condition that an index decides, beside a walk in order that tests it on the way. */
export interface FilterOrScan {
  label: Label;
  /** The ids that it leads to, oldest first; undefined where they are many. */
  find: IdLookup;
  /** The same, however many. */
  findAll: IdLookup;
  /** How many rows are wanted. */
  most: (frame: Frame) => number;
}

/** As many times the elements expected are walked past before the walk is given up. */
const patience = 8;

/**
 * With m of n elements wanted, a walk in order meets k of them among k n / m: it is the better way up
 * from m² = k n. What is less is taken as it comes. A walk that meets too few ends, and what it has not
 * yielded comes as it stands; equal keys stay in the order of their age.
 */
export function filterOrOrderedScan(walk: IdFlow, few: FilterOrScan, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => fewOrIds(frame, walk, few, seek) };
}

function* fewOrIds(
  frame: Frame,
  walk: IdFlow,
  { label, find, findAll, most }: FilterOrScan,
  seek: Seek,
): Iterable<Uint32Array> {
  const worth = Math.max(64, Math.sqrt(most(frame) * frame.view.count(label.id)));
  const few = gathered(frame, find(frame, false), worth);
  seek.ordered = few === undefined;
  if (few !== undefined) {
    yield few;
    return;
  }
  const yielded = new IdSet();
  let left = patience * worth;
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

/** All of some ids, unless they are more than `most`. */
function gathered(
  frame: Frame,
  batches: Iterable<Uint32Array> | undefined,
  most: number,
): Uint32Array | undefined {
  if (batches === undefined) return undefined;
  const found = new IdBuffer();
  for (const ids of batches) {
    frame.tick(ids.length);
    found.append(ids);
    if (found.length > most) return undefined;
  }
  frame.reserveMemory(4 * found.length);
  return found.take();
}
