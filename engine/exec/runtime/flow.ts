// What a pipeline carries from step to step. A flow carries dense ids in typed arrays as long as no
// step needs more than identity, and rows (elements, scalars, records) from the first step on that
// does. Batches grow from a few rows to a thousand, so that a consumer which stops early has asked
// for little.
//
// `open` calls a generator that stands by itself, and is none: V8 makes a hidden class for every closure
// of a generator when it is first called, and a process keeps a word of each for good. A session makes
// its flows anew with every call.
import type { Frame } from './frame.js';
import { Element, isListValue, type Value } from './value.js';

export interface IdFlow {
  kind: 'ids';
  open: (frame: Frame) => Iterable<Uint32Array>;
  /** The number of rows, when it is known for less than opening. */
  count?: (frame: Frame) => number;
  /** Whether there is any row, likewise. */
  inhabited?: (frame: Frame) => boolean;
  /** The rows from a position on, likewise; `most` of them are wanted. */
  from?: (frame: Frame, start: number, most: number) => Iterable<Uint32Array>;
}

export interface RowFlow {
  kind: 'rows';
  open: (frame: Frame) => Iterable<readonly Value[]>;
  count?: (frame: Frame) => number;
  inhabited?: (frame: Frame) => boolean;
  from?: (frame: Frame, start: number, most: number) => Iterable<readonly Value[]>;
}

export type Flow = IdFlow | RowFlow;

const firstBatch = 4;
const lastBatch = 1024;

/** How many rows to make at a time. */
export function batchSizes(): { next(): number } {
  let next = firstBatch;
  return {
    next() {
      const size = next;
      next = Math.min(size * 4, lastBatch);
      return size;
    },
  };
}

/** Rows for ids, in growing batches. */
export function asRows(flow: Flow): RowFlow {
  if (flow.kind === 'rows') return flow;
  const { count } = flow;
  return { kind: 'rows', open: (frame) => openRows(flow, frame), ...(count && { count }) };
}

/** The rows of a flow, those of ids in growing batches. */
export function openRows(flow: Flow, frame: Frame): Iterable<readonly Value[]> {
  return flow.kind === 'rows' ? flow.open(frame) : elementsOf(flow.open(frame));
}

function* elementsOf(batches: Iterable<Uint32Array>): Iterable<readonly Value[]> {
  const sizes = batchSizes();
  for (const ids of batches) {
    for (let at = 0; at < ids.length; ) {
      const end = Math.min(at + sizes.next(), ids.length);
      const rows: Value[] = [];
      while (at < end) rows.push(new Element(ids[at++]!));
      yield rows;
    }
  }
}

/** The rows of a list in growing batches; a short list is one batch. */
export function* batchesOf(list: readonly Value[] | Float64Array): Iterable<readonly Value[]> {
  if (list.length === 0) return;
  if (list.length <= firstBatch && Array.isArray(list)) {
    yield list;
    return;
  }
  let size = firstBatch;
  for (let at = 0; at < list.length; at += size, size = Math.min(size * 4, lastBatch)) {
    const part = list.slice(at, at + size);
    yield Array.isArray(part) ? part : Array.from(part);
  }
}

/** The rows that a value stands for: null none, a list its items, anything else itself. */
export function rowsOf(value: Value): readonly Value[] {
  if (value === null) return [];
  if (!isListValue(value)) return [value];
  return Array.isArray(value) ? value : Array.from(value as Float64Array);
}
