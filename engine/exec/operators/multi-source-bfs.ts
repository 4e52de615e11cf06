// Runs a repetition from all rows in one search (multi-source BFS). It finds the elements that at least one
// row reaches within the bounds, each once, in no order. With `min` 1, a row itself does not count, but
// another row may reach it. Therefore the search records the source row of each element, and continues
// through an element for its two nearest source rows.
import { IdSet } from '../../base/id-set.js';
import { incidentEdges } from '../runtime/edge-list.js';
import type { IdFlow, Flow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { idsOf } from './neighbour.js';
import { type Bounds, follows, isEnd, nextLevel, readMax, type Walk } from './bfs-level.js';

/** Bytes of memory per visited element with its source row. */
const metBytes = 64;

export function expandRepeatedFromAll(input: Flow, walk: Walk, bounds: Bounds): IdFlow {
  return { kind: 'ids', open: (frame) => repeatedTogetherIds(frame, input, walk, bounds) };
}

function* repeatedTogetherIds(
  frame: Frame,
  input: Flow,
  walk: Walk,
  bounds: Bounds,
): Iterable<Uint32Array> {
  const max = readMax(frame, bounds);
  const starts = distinct(frame, input);
  const found =
    bounds.min === 0 ? fromAny(frame, walk, starts, max) : fromOthers(frame, walk, starts, max);
  if (found.length > 0) yield found;
}

function distinct(frame: Frame, input: Flow): Uint32Array {
  const seen = new IdSet();
  const starts = new IdBuffer();
  for (const ids of idsOf(input, frame)) {
    frame.tick(ids.length);
    for (let i = 0; i < ids.length; i++) if (seen.add(ids[i]!)) starts.push(ids[i]!);
  }
  return starts.take();
}

/** Includes the source rows. */
function fromAny(frame: Frame, walk: Walk, starts: Uint32Array, max: number): Uint32Array {
  const met = new IdSet();
  const found = new IdBuffer();
  let level: Uint32Array = starts.filter((id) => isEnd(frame, id) && met.add(id));
  for (let hops = 0; level.length > 0; hops++) {
    found.append(level);
    if (hops >= max) break;
    level = nextLevel(frame, walk, met, level);
  }
  return found.take();
}

/** Records for each element the nearest source row, and whether a second one reaches it. */
function fromOthers(frame: Frame, walk: Walk, starts: Uint32Array, max: number): Uint32Array {
  const nearest = new Map<number, number>();
  for (const id of starts) nearest.set(id, id);
  const twice = new IdSet();
  const found = new IdBuffer();
  let [level, rows]: [Uint32Array, Uint32Array] = [starts, starts];
  for (let hops = 0; hops < max && level.length > 0; hops++) {
    const [next, from] = [new IdBuffer(), new IdBuffer()];
    for (let i = 0; i < level.length; i++) {
      const row = rows[i]!;
      const pairs = incidentEdges(frame, level[i]!, walk.labels, walk.direction);
      frame.tick(1 + (pairs.length >> 1));
      for (let at = 0; at < pairs.length; at += 2) {
        const far = pairs[at + 1]!;
        const near = nearest.get(far);
        if (near === row || (near !== undefined && twice.has(far))) continue;
        if (!follows(frame, walk, pairs[at]!, level[i]!)) continue;
        if (near === undefined) nearest.set(far, row);
        else twice.add(far);
        // A source row counts as reached only when another row reaches it.
        if (near === undefined || near === far) found.push(far);
        next.push(far);
        from.push(row);
      }
    }
    frame.reserveMemory(next.length * metBytes);
    [level, rows] = [next.take(), from.take()];
  }
  return found.take();
}
