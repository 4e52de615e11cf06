// An access path of any length: a traversal backwards from known elements.
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

/** One hop backwards along edges of some types. With `take: 'edge'`, it collects the edges themselves. */
export interface Hop {
  labels: readonly number[];
  direction: Direction | 'both';
  take: 'edge' | undefined;
}

export interface ReverseTraversal {
  /** Elements at which the traversal starts. */
  known: Flow;
  back: readonly Hop[];
  /** Type that must be read as a whole to find the start elements. */
  reads: Label | undefined;
}

/**
 * Finds the elements that a reverse traversal reaches. If that takes more visits than the type has elements,
 * or more than the wanted rows probably need, a scan of the type runs instead. `alone` means that no further
 * condition tests the result.
 */
export function findReached(
  label: Label,
  traversal: ReverseTraversal,
  limit: RowLimit,
  alone: boolean,
): IdLookup {
  const { reads, known } = traversal;
  const traverse = reached(traversal);
  // In this case, each edge costs three visits, which take the time of one scanned element.
  const isQuick = alone && known.kind === 'ids' && reads?.kind === 'edge';
  return (frame) => {
    const all = frame.view.count(label.id);
    if (reads !== undefined) {
      const reading = isQuick ? frame.view.count(reads.id) : readCost(frame, reads);
      if (reading > all) return undefined;
    }
    const visits = (isQuick ? 4 : 2) * all;
    return frame.tryWithin(Math.min(visits, scanBudget(frame, label, limit)), () => [
      traverse(frame).sort(),
    ]);
  };
}

/** Returns the ids that the traversal reaches, without duplicates. */
function reached({ known, back }: ReverseTraversal): (frame: Frame) => Uint32Array {
  const begin = startIds(known);
  return (frame) => back.reduce((from, hop) => reachedFrom(frame, from, hop), begin(frame));
}

/** Returns the start elements, without duplicates. */
export function startIds(known: Flow): (frame: Frame) => Uint32Array {
  if (known.kind === 'ids') return (frame) => distinct(frame, known.open(frame));
  return (frame) => elementsOf(frame, known.open(frame));
}

/** Ids of a flow always refer to existing elements. */
function distinct(frame: Frame, batches: Iterable<Uint32Array>): Uint32Array {
  const [met, found] = [new IdSet(), new IdBuffer()];
  for (const ids of batches) {
    frame.tick(ids.length);
    for (let i = 0; i < ids.length; i++) if (met.add(ids[i]!)) found.push(ids[i]!);
  }
  return found.take();
}

/** Cost of reading all start elements, in visits. */
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
    for (const each of direction === 'both' ? bothDirections : [direction]) {
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

export const bothDirections: readonly Direction[] = ['out', 'in'];
