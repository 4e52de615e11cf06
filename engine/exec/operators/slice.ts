// Steps that select rows by position: FIRST, RANGE, and COUNT, which yields only their number. They read no
// more than they need.
import { compactInteger } from '../../base/integer.js';
import type { Flow } from '../runtime/flow.js';
import { countOf } from '../runtime/collect.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';

/** Rows at start <= i < end. */
export type Window = (frame: Frame) => { start: number; end: number };

type Batch<T> = { length: number; slice(start: number, end: number): T };

function* windowOf<T extends Batch<T>>(batches: Iterable<T>, start: number, end: number) {
  let at = 0;
  for (const batch of batches) {
    // Read one row even for an empty window, so that a source that must fail does fail.
    if (end <= start) return;
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, batch.length);
    if (from === 0 && to === batch.length) yield batch;
    else if (from < to) yield batch.slice(from, to);
    at += batch.length;
    if (at >= end) return;
  }
}

export function slice(input: Flow, window: Window): Flow {
  if (input.kind === 'ids') {
    const { open, from } = input;
    return { kind: 'ids', open: (frame) => sliced({ open, from }, frame, window) };
  }
  const { open, from } = input as Sliced<Value[]>;
  return { kind: 'rows', open: (frame) => sliced({ open, from }, frame, window) };
}

interface Sliced<T> {
  open: (frame: Frame) => Iterable<T>;
  from?: ((frame: Frame, start: number, max: number) => Iterable<T>) | undefined;
}

function* sliced<T extends Batch<T>>({ open, from }: Sliced<T>, frame: Frame, window: Window) {
  const { start, end } = window(frame);
  if (from === undefined) yield* windowOf(open(frame), start, end);
  else yield* windowOf(from(frame, start, end - start), 0, end - start);
}

export function first(input: Flow): Flow {
  return slice(input, () => ({ start: 0, end: 1 }));
}

/** Yields one row: the number of rows. */
export function count(input: Flow): Flow {
  return {
    kind: 'rows',
    open: (frame) => [[compactInteger(BigInt(countOf(input, frame)))]],
    count: () => 1,
  };
}
