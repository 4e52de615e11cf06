// Graph steps: Out and In, OutE and InE, FromN/FromV and ToN/ToV (helixql.md 3.6). They work on
// dense ids alone, so that chains of them make no element objects. Results come per row, within a
// row by age of the edge.
import type { Direction } from '../../plan/expression.js';
import { edgeEnd } from '../row/element.js';
import type { Flow, IdFlow } from '../row/flow.js';
import type { Frame } from '../row/frame.js';
import { IdBuffer } from '../row/id-buffer.js';
import { Element } from '../row/value.js';

const flushLength = 1024;

/** The ids of a batch of rows; what is no element has no edges. */
export function* idsOf(flow: Flow, frame: Frame): Iterable<ArrayLike<number>> {
  if (flow.kind === 'ids') {
    yield* flow.open(frame);
    return;
  }
  for (const batch of flow.open(frame)) {
    const ids: number[] = [];
    for (const row of batch) if (row instanceof Element) ids.push(row.id);
    if (ids.length > 0) yield ids;
  }
}

/**
 * Adjacency pairs [edge, far, …] of one element under several labels, merged by age of the edge.
 */
export function adjacent(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction,
): Uint32Array {
  if (labels.length === 1) return frame.view.adjacency(id, labels[0]!, direction);
  const lists = labels
    .map((label) => frame.view.adjacency(id, label, direction))
    .filter((pairs) => pairs.length > 0);
  if (lists.length <= 1) return lists[0] ?? new Uint32Array(0);
  const pairs: [edge: number, far: number][] = [];
  for (const list of lists)
    for (let i = 0; i < list.length; i += 2) pairs.push([list[i]!, list[i + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  return Uint32Array.from(pairs.flat());
}

/** As `adjacent`, in either direction: an edge that joins an element with itself comes once. */
export function touching(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction | 'both',
): Uint32Array {
  if (direction !== 'both') return adjacent(frame, id, labels, direction);
  const [a, b] = [adjacent(frame, id, labels, 'out'), adjacent(frame, id, labels, 'in')];
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const pairs = new Uint32Array(a.length + b.length);
  let at = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; at += 2) {
    const isFirst = j >= b.length || (i < a.length && a[i]! <= b[j]!);
    const [from, place] = isFirst ? [a, i] : [b, j];
    pairs[at] = from[place]!;
    pairs[at + 1] = from[place + 1]!;
    if (!isFirst || a[i] === b[j]) j += 2;
    if (isFirst) i += 2;
  }
  return pairs.subarray(0, at);
}

/** Every second entry of the adjacency of each row: the edges (`take` 0) or their far ends (1). */
function step(input: Flow, labels: readonly number[], direction: Direction, take: 0 | 1): IdFlow {
  return {
    kind: 'ids',
    *open(frame) {
      const out = new IdBuffer();
      for (const ids of idsOf(input, frame)) {
        for (let i = 0; i < ids.length; i++) {
          const pairs = adjacent(frame, ids[i]!, labels, direction);
          for (let at = take; at < pairs.length; at += 2) out.push(pairs[at]!);
          frame.tick(1 + (pairs.length >> 1));
          if (out.length >= flushLength) yield out.take();
        }
        if (out.length > 0) yield out.take();
      }
    },
    count(frame) {
      let total = 0;
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels) total += frame.view.degree(ids[i]!, label, direction);
      }
      return total;
    },
    inhabited(frame) {
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels)
            if (frame.view.degree(ids[i]!, label, direction) > 0) return true;
      }
      return false;
    },
  };
}

/** Far ends of the edges of each node or vector. */
export function neighbours(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  return step(input, labels, direction, 1);
}

/** The edges of each node or vector. */
export function edges(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  return step(input, labels, direction, 0);
}

/**
 * As `edges`, but a row that is itself an edge of one of the labels yields its end instead
 * (sessions.md 5.8).
 */
export function edgesOrEnds(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  const end = direction === 'out' ? 'to' : 'from';
  return {
    kind: 'ids',
    *open(frame) {
      const out = new IdBuffer();
      for (const ids of idsOf(input, frame)) {
        for (let i = 0; i < ids.length; i++) {
          const far = labels
            .map((label) => edgeEnd(frame, ids[i]!, end, label))
            .find((id) => id > 0);
          const pairs = far === undefined ? adjacent(frame, ids[i]!, labels, direction) : [far];
          for (let at = 0; at < pairs.length; at += 2) out.push(pairs[at]!);
          frame.tick(1 + (pairs.length >> 1));
          if (out.length >= flushLength) yield out.take();
        }
        if (out.length > 0) yield out.take();
      }
    },
  };
}

/** Source or target of each edge; with `label` only of the edges of that type. */
export function edgeEnds(input: Flow, end: 'from' | 'to', label: number | undefined): IdFlow {
  return {
    kind: 'ids',
    *open(frame) {
      const out = new IdBuffer();
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++) {
          const id = edgeEnd(frame, ids[i]!, end, label);
          if (id !== 0) out.push(id);
        }
        if (out.length > 0) yield out.take();
      }
    },
  };
}
