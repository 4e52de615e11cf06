// Defines flows, the streams between the steps of a pipeline. A flow carries dense ids in typed arrays while
// no step needs more than identity, and rows (elements, scalars, records) from the first step on that does.
// Batches grow from a few rows to a thousand, so that a consumer that stops early has read little.
//
import type { Frame } from './frame.js';
import { Element, isListValue, type Value } from './value.js';

export interface IdFlow {
  kind: 'ids';
  open: (frame: Frame) => Iterable<Uint32Array>;
  /** Returns the number of rows, when it is known for less than opening. */
  count?: (frame: Frame) => number;
  /** Returns true if there is any row, when it is known for less than opening. */
  inhabited?: (frame: Frame) => boolean;
  /**
   * Returns the rows from position `start` on, of which `max` are wanted, when that costs less than opening.
   */
  from?: (frame: Frame, start: number, max: number) => Iterable<Uint32Array>;
}

export interface RowFlow {
  kind: 'rows';
  open: (frame: Frame) => Iterable<readonly Value[]>;
  count?: (frame: Frame) => number;
  inhabited?: (frame: Frame) => boolean;
  from?: (frame: Frame, start: number, max: number) => Iterable<readonly Value[]>;
}

export type Flow = IdFlow | RowFlow;

const firstBatch = 4;
const lastBatch = 1024;

/** Returns the growing sizes of batches. */
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

/** Converts ids to rows, in growing batches. */
export function asRows(flow: Flow): RowFlow {
  if (flow.kind === 'rows') return flow;
  const { count } = flow;
  return { kind: 'rows', open: (frame) => openRows(flow, frame), ...(count && { count }) };
}

/** Opens the rows of a flow. Rows of ids come in growing batches. */
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

/** Yields the rows of a list in growing batches. A short list is one batch. */
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

/**
 * Returns the rows that a value represents: none for null, the items of a list, otherwise the value itself.
 */
export function rowsOf(value: Value): readonly Value[] {
  if (value === null) return [];
  if (!isListValue(value)) return [value];
  return Array.isArray(value) ? value : Array.from(value as Float64Array);
}
