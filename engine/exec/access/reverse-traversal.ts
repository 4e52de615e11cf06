// The walk back from known elements: an access path of any length.
import { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import type { Label } from '../../storage/table/view-types.js';
import type { Flow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { findElement } from '../runtime/resolve.js';
import type { Value } from '../runtime/value.js';
import type { IdLookup } from './id-lookup.js';
import { type RowLimit, scanBudget } from './scan-budget.js';

/** A step back along edges of some types; `take`: the edges themselves. */
export interface Hop {
  labels: readonly number[];
  direction: Direction | 'both';
  take: 'edge' | undefined;
}

export interface ReverseTraversal {
  /** What the walk begins at. */
  known: Flow;
  back: readonly Hop[];
  /** The type that is read as a whole to know those. */
  reads: Label | undefined;
}

/**
 * What steps from known elements lead to. Where that takes more than the type has elements, or than as many
 * rows as are wanted are likely to take, the type is read instead. `alone`: what is found is not tested.
 */
export function findReached(
  label: Label,
  way: ReverseTraversal,
  most: RowLimit,
  alone: boolean,
): IdLookup {
  const { reads, known } = way;
  const reach = reached(way);
  // Then an edge costs what asking one element does, and is looked at three times.
  const isQuick = alone && known.kind === 'ids' && reads?.kind === 'edge';
  return (frame) => {
    const all = frame.view.count(label.id);
    if (reads !== undefined) {
      const reading = isQuick ? frame.view.count(reads.id) : readCost(frame, reads);
      if (reading > all) return undefined;
    }
    const visits = (isQuick ? 4 : 2) * all;
    return frame.tryWithin(Math.min(visits, scanBudget(frame, label, most)), () => [
      reach(frame).sort(),
    ]);
  };
}

/** What steps from known elements lead to, each once. */
function reached({ known, back }: ReverseTraversal): (frame: Frame) => Uint32Array {
  const begin = startIds(known);
  return (frame) => back.reduce((from, hop) => reachedFrom(frame, from, hop), begin(frame));
}

/** The elements that a walk back begins at, each once. */
export function startIds(known: Flow): (frame: Frame) => Uint32Array {
  if (known.kind === 'ids') return (frame) => distinct(frame, known.open(frame));
  return (frame) => elementsOf(frame, known.open(frame));
}

/** Ids of a flow are those of elements that are there. */
function distinct(frame: Frame, batches: Iterable<Uint32Array>): Uint32Array {
  const [met, found] = [new IdSet(), new IdBuffer()];
  for (const ids of batches) {
    frame.tick(ids.length);
    for (let i = 0; i < ids.length; i++) if (met.add(ids[i]!)) found.push(ids[i]!);
  }
  return found.take();
}

/** In whose time so many elements are asked for how many edges they have. */
export function readCost(frame: Frame, { id, kind }: Label): number {
  return frame.view.count(id) * (kind === 'edge' ? 4 : 2);
}

function elementsOf(frame: Frame, batches: Iterable<readonly Value[]>): Uint32Array {
  const [met, found] = [new IdSet(), new IdBuffer()];
  for (const batch of batches) {
    frame.tick(batch.length);
    for (const row of batch) {
      const id = findElement(frame, row);
      if (id !== 0 && met.add(id)) found.push(id);
    }
  }
  return found.take();
}

function reachedFrom(frame: Frame, from: Uint32Array, { labels, direction, take }: Hop) {
  const [met, found] = [new IdSet(), new IdBuffer()];
  for (const id of from) {
    for (const each of direction === 'both' ? bothWays : [direction]) {
      for (const label of labels) {
        frame.checkAllowance(id, label, each);
        const pairs = frame.adjacency(id, label, each);
        frame.tick(1 + (pairs.length >>> 1));
        for (let i = take === 'edge' ? 0 : 1; i < pairs.length; i += 2)
          if (met.add(pairs[i]!)) found.push(pairs[i]!);
      }
    }
  }
  return found.take();
}

export const bothWays: readonly Direction[] = ['out', 'in'];
