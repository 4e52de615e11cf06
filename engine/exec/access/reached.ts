// The walk back from known elements: an access path of any length.
import { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import type { Label } from '../../storage/table/store.js';
import { asRows, type Flow } from '../row/flow.js';
import { IdBuffer } from '../row/id-buffer.js';
import { findElement } from '../row/resolve.js';
import type { Find } from './access.js';

/** A step back along edges of some types. */
export interface Hop {
  labels: readonly number[];
  direction: Direction;
}

/**
 * What steps from known elements lead to. Where those see more edges than the type has elements,
 * reading the type is as quick.
 */
export function findReached(label: Label, known: Flow, back: readonly Hop[]): Find {
  const { open } = asRows(known);
  return (frame) => {
    const most = frame.view.count(label.id);
    let level = new IdBuffer();
    for (const batch of open(frame)) {
      frame.tick(batch.length);
      for (const row of batch) level.push(findElement(frame, row));
      if (level.length > most) return undefined;
    }
    let looked = 0;
    for (const { labels, direction } of back) {
      const [met, next] = [new IdSet(), new IdBuffer()];
      for (const id of level.take()) {
        for (const each of labels) {
          const pairs = id === 0 ? none : frame.adjacency(id, each, direction);
          looked += 1 + (pairs.length >>> 1);
          if (looked > most) return undefined;
          for (let i = 1; i < pairs.length; i += 2) if (met.add(pairs[i]!)) next.push(pairs[i]!);
          frame.tick(1 + (pairs.length >>> 1));
        }
      }
      level = next;
    }
    return [level.take().sort()];
  };
}

const none = new Uint32Array(0);
