// Expands rows along edges: in either direction, with a condition, and repeated. A repetition is a
// breadth-first search over dense ids with one bit per visited element. It runs level by level, so that a
// consumer that stops early has expanded no further than the level that it needs.
import { IdSet } from '../../base/id-set.js';
import { fromOf, kindOf, toOf } from '../../storage/record/record.js';
import { edgeEnd } from '../runtime/element.js';
import { batchSizes, type Flow, type IdFlow, openRows, type RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { copyOf } from '../runtime/bound-element.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { Element, type Value } from '../runtime/value.js';
import { idsOf } from './neighbour.js';
import { incidentEdges } from '../runtime/edge-list.js';
import {
  type Bounds,
  edgeFrom,
  follows,
  isEnd,
  nextLevel,
  readMax,
  type Walk,
} from './bfs-level.js';

const flushLength = 1024;
/** Yields the edges of every row that may be followed, or the elements at their other ends. */
export function expandEdges(input: Flow, walk: Walk, take: 'far' | 'edge'): RowFlow {
  return { kind: 'rows', open: (frame) => walkedRows(frame, input, walk, take) };
}

function* walkedRows(
  frame: Frame,
  input: Flow,
  walk: Walk,
  take: 'far' | 'edge',
): Iterable<readonly Value[]> {
  let out: Value[] = [];
  for (const ids of idsOf(input, frame)) {
    for (let i = 0; i < ids.length; i++) {
      const from = ids[i]!;
      const pairs = incidentEdges(frame, from, walk.labels, walk.direction);
      frame.tick(1);
      for (let at = 0; at < pairs.length; at += 2) {
        frame.tick(1);
        const edge = pairs[at]!;
        if (!follows(frame, walk, edge, from)) continue;
        out.push(take === 'far' ? new Element(pairs[at + 1]!) : edgeFrom(walk, edge, from));
        if (out.length === flushLength) {
          yield out;
          out = [];
        }
      }
    }
    if (out.length > 0) yield out;
    out = [];
  }
}

/** Yields the far ends in both directions, by age of the edge, self-loops once. */
export function bothEnds(input: Flow, labels: readonly number[]): IdFlow {
  return {
    kind: 'ids',
    open: (frame) => bothEndsIds(frame, input, labels),
    count(frame) {
      let total = 0;
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels) total += degreeOf(frame, ids[i]!, label);
      }
      return total;
    },
    inhabited(frame) {
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels)
            if (['out', 'in'].some((end) => frame.degree(ids[i]!, label, end as 'out') > 0))
              return true;
      }
      return false;
    },
  };
}

function* bothEndsIds(frame: Frame, input: Flow, labels: readonly number[]): Iterable<Uint32Array> {
  const out = new IdBuffer();
  for (const ids of idsOf(input, frame)) {
    for (let i = 0; i < ids.length; i++) {
      const pairs = incidentEdges(frame, ids[i]!, labels, 'both');
      for (let at = 1; at < pairs.length; at += 2) out.push(pairs[at]!);
      frame.tick(1 + (pairs.length >> 1));
      if (out.length >= flushLength) yield out.take();
    }
    if (out.length > 0) yield out.take();
  }
}

/**
 * Returns the number of edges of a label at an element. Only an element with edges in both directions can
 * have self-loops.
 */
function degreeOf(frame: Frame, id: number, label: number): number {
  const [out, into] = [frame.degree(id, label, 'out'), frame.degree(id, label, 'in')];
  if (out === 0 || into === 0) return out + into;
  const pairs = frame.adjacency(id, label, out < into ? 'out' : 'in');
  frame.tick(pairs.length >> 1);
  let loops = 0;
  for (let at = 1; at < pairs.length; at += 2) if (pairs[at] === id) loops++;
  return out + into - loops;
}

/** Yields the elements whose distance from a row is within the bounds, by distance, then by age. */
export function expandRepeated(input: Flow, walk: Walk, bounds: Bounds): RowFlow {
  return {
    kind: 'rows',
    open: (frame) => repeatedRows(frame, input, walk, bounds),
    count(frame) {
      const max = readMax(frame, bounds);
      const met = new IdSet();
      let total = 0;
      for (const ids of idsOf(input, frame))
        for (let i = 0; i < ids.length; i++)
          for (const level of levels(frame, walk, met, ids[i]!, bounds.min, max))
            total += level.length;
      return total;
    },
  };
}

function* repeatedRows(
  frame: Frame,
  input: Flow,
  walk: Walk,
  bounds: Bounds,
): Iterable<readonly Value[]> {
  const max = readMax(frame, bounds);
  const met = new IdSet();
  for (const ids of idsOf(input, frame)) {
    for (let i = 0; i < ids.length; i++) {
      let hops = bounds.min;
      for (const level of levels(frame, walk, met, ids[i]!, bounds.min, max)) {
        const distance = hops++;
        yield* rowsAt(level.sort(), distance);
      }
    }
  }
}

function* rowsAt(ids: Uint32Array, hops: number): Iterable<readonly Value[]> {
  const sizes = batchSizes();
  for (let at = 0; at < ids.length; ) {
    const end = Math.min(at + sizes.next(), ids.length);
    const rows: Value[] = [];
    for (; at < end; at++) {
      const element = new Element(ids[at]!);
      element.hops = hops;
      rows.push(element);
    }
    yield rows;
  }
}

/** Yields the levels of a search from `start`, from `min` to `max`, while they are not empty. */
function* levels(
  frame: Frame,
  walk: Walk,
  met: IdSet,
  start: number,
  min: number,
  max: number,
): Iterable<Uint32Array> {
  met.clear();
  met.add(start);
  let level: Uint32Array = Uint32Array.of(start);
  for (let hops = 0; hops <= max && level.length > 0; hops++) {
    if (hops > 0) level = nextLevel(frame, walk, met, level);
    if (hops === 0 && min === 0 && !isEnd(frame, start)) return;
    if (hops >= min && level.length > 0) yield level;
  }
}

/** Yields for each edge the endpoint from which it was not reached. */
export function otherEnds(input: Flow): RowFlow {
  return { kind: 'rows', open: (frame) => otherEndsRows(frame, input) };
}

function* otherEndsRows(frame: Frame, input: Flow): Iterable<readonly Value[]> {
  for (const batch of openRows(input, frame)) {
    frame.tick(batch.length);
    const ends: Value[] = [];
    for (const row of batch) {
      const far = row instanceof Element ? farEnd(frame, row) : 0;
      if (far !== 0) ends.push(new Element(far));
    }
    if (ends.length > 0) yield ends;
  }
}

function farEnd(frame: Frame, { id, origin }: Element): number {
  const record = frame.peekRecord(id);
  if (record === undefined || kindOf(record) !== 'edge') return 0;
  const from = fromOf(record);
  return from === origin ? toOf(record) : from;
}

/** Yields the edges, as reached from one of their endpoints. */
export function withOrigin(input: Flow, end: 'from' | 'to'): RowFlow {
  return { kind: 'rows', open: (frame) => withOriginRows(frame, input, end) };
}

function* withOriginRows(
  frame: Frame,
  input: Flow,
  end: 'from' | 'to',
): Iterable<readonly Value[]> {
  for (const batch of openRows(input, frame)) {
    frame.tick(batch.length);
    yield batch.map((row) => {
      if (!(row instanceof Element)) return row;
      const copy = copyOf(frame, row);
      copy.origin = edgeEnd(frame, row.id, end);
      return copy;
    });
  }
}
