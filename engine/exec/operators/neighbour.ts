// Graph steps: Out and In, OutE and InE, FromN/FromV and ToN/ToV. They use dense ids only, so that chains of
// them create no element objects. Results come row by row, within a row by age of the edge.
import type { Direction } from '../../plan/expression.js';
import { edgeEnd } from '../runtime/element.js';
import type { Flow, IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { adjacent } from '../runtime/edge-list.js';
import { Element } from '../runtime/value.js';

const flushLength = 1024;

/** Yields the ids of a batch of rows. A value that is no element has no edges. */
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

/** Yields every second entry of the adjacency of each row: the edges (`take` 0) or their far ends (1). */
function step(input: Flow, labels: readonly number[], direction: Direction, take: 0 | 1): IdFlow {
  return {
    kind: 'ids',
    open: (frame) => stepIds(frame, input, labels, direction, take),
    count(frame) {
      let total = 0;
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels) total += frame.degree(ids[i]!, label, direction);
      }
      return total;
    },
    inhabited(frame) {
      for (const ids of idsOf(input, frame)) {
        frame.tick(ids.length);
        for (let i = 0; i < ids.length; i++)
          for (const label of labels) if (frame.degree(ids[i]!, label, direction) > 0) return true;
      }
      return false;
    },
  };
}

function* stepIds(
  frame: Frame,
  input: Flow,
  labels: readonly number[],
  direction: Direction,
  take: 0 | 1,
): Iterable<Uint32Array> {
  const out = new IdBuffer();
  for (const ids of idsOf(input, frame)) {
    for (let i = 0; i < ids.length; i++) {
      const lists = labels.length === 1 ? frame.edges()?.of(labels[0]!, direction) : undefined;
      const word = lists?.find(ids[i]!) ?? 0;
      if (word !== 0) {
        const { words } = lists!;
        const end = word + words[word]!;
        for (let at = word + 1 + take; at <= end; at += 2) out.push(words[at]!);
        frame.tick(1 + (words[word]! >> 1));
      } else {
        const pairs = adjacent(frame, ids[i]!, labels, direction);
        for (let at = take; at < pairs.length; at += 2) out.push(pairs[at]!);
        frame.tick(1 + (pairs.length >> 1));
      }
      if (out.length >= flushLength) yield out.take();
    }
    if (out.length > 0) yield out.take();
  }
}

/** Yields the far ends of the edges of each node or vector. */
export function neighbours(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  return step(input, labels, direction, 1);
}

/** Yields the edges of each node or vector. */
export function edges(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  return step(input, labels, direction, 0);
}

/** Like `edges`, but a row that is an edge of one of the labels yields its endpoint. */
export function edgesOrEnds(input: Flow, labels: readonly number[], direction: Direction): IdFlow {
  const end = direction === 'out' ? 'to' : 'from';
  return { kind: 'ids', open: (frame) => edgesOrEndsIds(frame, input, labels, direction, end) };
}

function* edgesOrEndsIds(
  frame: Frame,
  input: Flow,
  labels: readonly number[],
  direction: Direction,
  end: 'to' | 'from',
): Iterable<Uint32Array> {
  const out = new IdBuffer();
  for (const ids of idsOf(input, frame)) {
    for (let i = 0; i < ids.length; i++) {
      const far = labels.map((label) => edgeEnd(frame, ids[i]!, end, label)).find((id) => id > 0);
      const pairs = far === undefined ? adjacent(frame, ids[i]!, labels, direction) : [far];
      for (let at = 0; at < pairs.length; at += 2) out.push(pairs[at]!);
      frame.tick(1 + (pairs.length >> 1));
      if (out.length >= flushLength) yield out.take();
    }
    if (out.length > 0) yield out.take();
  }
}

/** Yields the source or target of each edge. With `label`, only for edges of that type. */
export function edgeEnds(input: Flow, end: 'from' | 'to', label: number | undefined): IdFlow {
  return { kind: 'ids', open: (frame) => edgeEndsIds(frame, input, end, label) };
}

function* edgeEndsIds(
  frame: Frame,
  input: Flow,
  end: 'from' | 'to',
  label: number | undefined,
): Iterable<Uint32Array> {
  const out = new IdBuffer();
  for (const ids of idsOf(input, frame)) {
    frame.tick(ids.length);
    for (let i = 0; i < ids.length; i++) {
      const id = edgeEnd(frame, ids[i]!, end, label);
      if (id !== 0) out.push(id);
    }
    if (out.length > 0) yield out.take();
  }
}
