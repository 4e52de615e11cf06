// The walk back from known elements: an access path of any length.
import { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import type { Label } from '../../storage/table/store.js';
import { asRows, type Flow } from '../row/flow.js';
import type { Frame } from '../row/frame.js';
import { IdBuffer } from '../row/id-buffer.js';
import { findElement } from '../row/resolve.js';
import type { Value } from '../row/value.js';
import type { Find } from './access.js';
import { type Most, worthOf } from './worth.js';

/** A step back along edges of some types; `take`: the edges themselves. */
export interface Hop {
  labels: readonly number[];
  direction: Direction | 'both';
  take: 'edge' | undefined;
}

export interface Reached {
  label: Label;
  /** What the walk begins at. */
  known: Flow;
  back: readonly Hop[];
  /** The type that is read as a whole to know those. */
  reads: Label | undefined;
  most: Most;
}

/**
 * What steps from known elements lead to. Where that takes more than the type has elements, or than as many
 * rows as are wanted are likely to take, the type is read instead.
 */
export function findReached({ label, known, back, reads, most }: Reached): Find {
  const { open } = asRows(known);
  return (frame) => {
    const all = frame.view.count(label.id);
    if (reads !== undefined && frame.view.count(reads.id) * 2 > all) return undefined;
    return frame.attempt(Math.min(2 * all, worthOf(frame, label, most)), () => {
      const level = elementsOf(frame, open(frame));
      return [back.reduce((from, hop) => reachedFrom(frame, from, hop), level).sort()];
    });
  };
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
        const pairs = frame.adjacency(id, label, each);
        frame.tick(1 + (pairs.length >>> 1));
        for (let i = take === 'edge' ? 0 : 1; i < pairs.length; i += 2)
          if (met.add(pairs[i]!)) found.push(pairs[i]!);
      }
    }
  }
  return found.take();
}

const bothWays: readonly Direction[] = ['out', 'in'];
