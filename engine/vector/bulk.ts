// Inserts many vectors together: the writer thread publishes rows in the segment's ring, and every helping
// thread links some of them. Rows are linked while later ones are still being written.
// Invariant: the writer alone maps an id to its slot, after all rows of its round are linked.
import {
  BULK_ROWS,
  H_BULK_DONE,
  H_BULK_END,
  H_BULK_NEXT,
  H_DIMENSION,
  H_PADDED,
} from '../../wasm/layout.js';
import type { Segment } from './segment.js';

/** Returns the numbers of row i; undefined skips the row. */
export type Rows = (i: number) => ArrayLike<number> | undefined;

/**
 * Returns the factor for a row's numbers in this segment; undefined if the row belongs to another segment.
 */
export type RowFactor = (row: ArrayLike<number>) => number | undefined;

export interface LinkedRows {
  next: number;
  /** Rows that belong to another segment. */
  strays: number[];
  isFull: boolean;
}

/** Number of vectors from which a bulk build pays. Fewer are linked before other threads wake up. */
export const bulkFrom = 128;

const noSlot = 0xffffffff;

/**
 * Links rows [from, to), at most BULK_ROWS of them, together with the helping threads. Returns the next row:
 * before the end of the round only if the segment is full.
 */
export function linkRows(
  segment: Segment,
  ids: Uint32Array,
  rows: Rows,
  from: number,
  to: number,
  factorOf: RowFactor,
): LinkedRows {
  const { kernel, header } = segment;
  const ring = openRing(segment);
  const base = Atomics.load(header, H_BULK_NEXT >> 2);
  const slots: number[] = [];
  const taken: number[] = [];
  const strays: number[] = [];
  const end = Math.min(to, from + BULK_ROWS);
  let next = from;
  let isFull = false;
  for (; next < end; next++) {
    const row = rows(next);
    if (row === undefined) continue;
    const factor = factorOf(row);
    if (factor === undefined) {
      strays.push(next);
      continue;
    }
    const slot = kernel.reserveId(ids[next]!) ? kernel.takeSlot() >>> 0 : noSlot;
    if (slot === noSlot) {
      isFull = true;
      break;
    }
    ring.write((base + slots.length) & (BULK_ROWS - 1), slot, ids[next]!, row, factor);
    slots.push(slot);
    taken.push(ids[next]!);
    Atomics.store(header, H_BULK_END >> 2, base + slots.length);
  }
  const { address } = segment.scratch;
  while (kernel.bulkStep(address)) {
    // This thread's share of the rows.
  }
  waitForHelpers(header, base + slots.length);
  for (let i = 0; i < slots.length; i++) kernel.setId(taken[i]!, slots[i]!);
  return { next, strays, isFull };
}

interface Ring {
  write(position: number, slot: number, id: number, row: ArrayLike<number>, factor: number): void;
}

function openRing(segment: Segment): Ring {
  const at = segment.kernel.openBulk() >>> 0;
  const padded = segment.field(H_PADDED);
  const dimension = segment.field(H_DIMENSION);
  const stride = 16 + padded;
  const length = BULK_ROWS * stride;
  const words = new Uint32Array(segment.buffer(at + length * 4), at, length);
  const floats = new Float32Array(words.buffer, at, length);
  return {
    write(position, slot, id, row, factor) {
      const base = position * stride;
      words[base] = slot;
      words[base + 1] = id;
      for (let d = 0; d < dimension; d++) floats[base + 16 + d] = row[d]! * factor;
      floats.fill(0, base + 16 + dimension, base + stride);
    },
  };
}

/**
 * Waits for the last rows of the helping threads: about a millisecond, or more if their thread has no core.
 */
function waitForHelpers(header: Int32Array, wanted: number): void {
  for (;;) {
    const done = Atomics.load(header, H_BULK_DONE >> 2);
    if (done === (wanted | 0)) return;
    Atomics.wait(header, H_BULK_DONE >> 2, done, 0.05);
  }
}

/**
 * Links rows of another thread's build until none is left or `until` (performance.now(), in milliseconds) has
 * passed.
 */
export function helpLink(segment: Segment, until: number): void {
  const { kernel, scratch } = segment;
  while (kernel.bulkStep(scratch.address)) if (performance.now() >= until) return;
}
