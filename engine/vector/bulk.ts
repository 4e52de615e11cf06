// Many vectors at once: the writer hands rows out through the segment's ring, and every thread that
// helps links some of them. Rows are handed out while they are still being filled in. Invariant: an
// id is given its slot after all rows of its round are linked, by the writer alone.
import {
  BULK_ROWS,
  H_BULK_DONE,
  H_BULK_END,
  H_BULK_NEXT,
  H_DIMENSION,
  H_PADDED,
} from '../../wasm/layout.js';
import type { Segment } from './segment.js';

/** Row i as numbers; undefined leaves it out. */
export type Rows = (i: number) => ArrayLike<number> | undefined;

/** What a row's numbers are multiplied by in this segment; undefined when it belongs in another. */
export type FactorOf = (row: ArrayLike<number>) => number | undefined;

export interface Linked {
  next: number;
  /** Rows that belong in another segment. */
  strays: number[];
  isFull: boolean;
}

/** A bulk build pays from this many vectors on: fewer are linked before others have woken up. */
export const bulkFrom = 128;

const noSlot = 0xffffffff;

/**
 * Links rows [from, to), at most BULK_ROWS of them, with whoever helps. Returns where it stopped:
 * before the end of the round only when the segment is full.
 */
export function linkRows(
  segment: Segment,
  ids: Uint32Array,
  rows: Rows,
  from: number,
  to: number,
  factorOf: FactorOf,
): Linked {
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
  const { address } = segment.lane;
  while (kernel.bulkStep(address)) {
    // This thread's share.
  }
  awaitDone(header, base + slots.length);
  for (let i = 0; i < slots.length; i++) kernel.setId(taken[i]!, slots[i]!);
  return { next, strays, isFull };
}

interface Ring {
  write(place: number, slot: number, id: number, row: ArrayLike<number>, factor: number): void;
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
    write(place, slot, id, row, factor) {
      const base = place * stride;
      words[base] = slot;
      words[base + 1] = id;
      for (let d = 0; d < dimension; d++) floats[base + 16 + d] = row[d]! * factor;
      floats.fill(0, base + 16 + dimension, base + stride);
    },
  };
}

/** Waits for the last rows of helpers: about a millisecond, more when their thread has no core. */
function awaitDone(header: Int32Array, wanted: number): void {
  for (;;) {
    const done = Atomics.load(header, H_BULK_DONE >> 2);
    if (done === (wanted | 0)) return;
    Atomics.wait(header, H_BULK_DONE >> 2, done, 0.05);
  }
}

/**
 * Links rows of a build that another thread runs until none is left or `until` (performance.now())
 * has passed.
 */
export function helpLink(segment: Segment, until: number): void {
  const { kernel, lane } = segment;
  while (kernel.bulkStep(lane.address)) if (performance.now() >= until) return;
}
