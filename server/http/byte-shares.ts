// Counts the bytes of request bodies and answers that each caller holds, over all HTTP threads, so that one
// caller cannot hold all of them. The counts are in shared memory: one row per thread, and in each row a hash
// table of callers. Invariant: only its thread writes to a row; an entry belongs to one caller as long as its
// counts are above 0.
//
// Only long bodies and answers, and bodies in several pieces, are counted. Other requests cost nothing. A
// caller for whom a row has no free entry is not counted in that row.
import { createHash } from 'node:crypto';
import { type ErrorData, sharedOriginMs } from '../../engine/internal.js';
import type { Exchange } from './exchange.js';
import type { TransportOptions } from './transport.js';

export type Held = 'bodies' | 'answers';

/** Shorter bodies and answers are counted only if they are buffered. */
export const longBytes = 64 * 1024;
/** A caller counts as active for this many milliseconds after its last change. */
const thereMs = 1_000;

const entriesMax = 1_024;
/** Maximum distance of an entry from its home position in the table. */
const probesMax = 8;
/** Numbers per entry: tag of the caller, bytes of bodies, bytes of answers, time of the last change. */
const width = 4;
const offsets: Record<Held, number> = { bodies: 1, answers: 2 };
const timeOffset = 3;
/** Numbers before the rows. The first one is 1 if a caller may hold more than half of the answer bytes. */
const headWidth = 8;
const rowWidth = entriesMax * width;

/** Allocates the shared memory for this number of threads. */
export const shareBuffer = (rows: number): SharedArrayBuffer =>
  new SharedArrayBuffer((headWidth + rows * rowWidth) * Float64Array.BYTES_PER_ELEMENT);

/** Clears the row of a thread that ended: its exchanges hold no bytes now. */
export function forgetShares(buffer: SharedArrayBuffer, row: number): void {
  const from = headWidth + row * rowWidth;
  new Float64Array(buffer).fill(0, from, from + rowWidth);
}

const tagOf = (holder: string): number =>
  createHash('sha256').update(holder).digest().readUIntLE(0, 6) || 1;

const now = (): number => performance.now() + sharedOriginMs;

/** The view of one thread: it reads all rows and writes its own. */
export class ByteShares {
  readonly #cells: Float64Array;
  readonly #row: number;
  readonly #halves: Record<Held, number>;

  constructor({ limits, shares }: Pick<TransportOptions, 'limits' | 'shares'>) {
    this.#cells = new Float64Array(shares?.buffer ?? shareBuffer(1));
    this.#row = shares?.row ?? 0;
    this.#halves = {
      bodies: limits.buffered_body_bytes / 2,
      answers: limits.buffered_response_bytes / 2,
    };
  }

  /** Starts to count what an exchange will hold. */
  holding(kind: Held, { holder }: Exchange): Holding {
    return new Holding(this, kind, tagOf(holder));
  }

  /**
   * Refuses a call of a caller that holds more than half of the answer bytes. Returns undefined if the call
   * may run.
   */
  refusalOfCall(exchange: Exchange): ErrorData | undefined {
    const cells = this.#cells;
    // Runs on every call. This check is enough as long as no caller holds more than half.
    if (cells[0] === 0 || exchange.method !== 'POST') return undefined;
    if (!this.isAnyOver('answers')) {
      cells[0] = 0;
      return undefined;
    }
    const tag = tagOf(exchange.holder);
    const count = this.heldBy('answers', tag);
    if (count <= this.#halves.answers || this.#isAlone(tag)) return undefined;
    return { code: 'SHARE_EXCEEDED', args: { count, what: 'bytes of answers' } };
  }

  /**
   * Refuses `more` body bytes beyond the share of a caller. A caller that holds nothing may send a body of
   * any length.
   */
  refusalOfBody(tag: number, more: number): ErrorData | undefined {
    const count = this.heldBy('bodies', tag);
    if (count === 0 || count + more <= this.#halves.bodies || this.#isAlone(tag)) return undefined;
    return { code: 'SHARE_EXCEEDED', args: { count, what: 'bytes of bodies' } };
  }

  /**
   * The error for a caller above its share, when all callers together reach the limit. Returns undefined for
   * other callers.
   */
  excessOf(kind: Held, tag: number): ErrorData | undefined {
    const count = this.heldBy(kind, tag);
    if (count <= this.#halves[kind] || this.#isAlone(tag)) return undefined;
    return { code: 'SHARE_EXCEEDED', args: { count, what: `bytes of ${kind}` } };
  }

  isOver(kind: Held, tag: number): boolean {
    return this.heldBy(kind, tag) > this.#halves[kind];
  }

  isAnyOver(kind: Held): boolean {
    const cells = this.#cells;
    for (let at = headWidth; at < cells.length; at += width) {
      if (cells[at + offsets[kind]]! > 0 && this.isOver(kind, cells[at]!)) return true;
    }
    return false;
  }

  heldBy(kind: Held, tag: number): number {
    let sum = 0;
    for (let base = headWidth; base < this.#cells.length; base += rowWidth) {
      const at = this.#find(base, tag);
      if (at >= 0) sum += this.#cells[at + offsets[kind]]!;
    }
    return sum;
  }

  /** Whether no other caller holds counted bytes now or did so within `thereMs`. */
  #isAlone(tag: number): boolean {
    const cells = this.#cells;
    const since = now() - thereMs;
    for (let at = headWidth; at < cells.length; at += width) {
      if (cells[at] === 0 || cells[at] === tag) continue;
      if (cells[at + 1]! > 0 || cells[at + 2]! > 0 || cells[at + timeOffset]! > since) return false;
    }
    return true;
  }

  #find(base: number, tag: number): number {
    for (let step = 0; step < probesMax; step++) {
      const at = base + ((tag + step) % entriesMax) * width;
      if (this.#cells[at] === tag) return at;
    }
    return -1;
  }

  /** Index of the caller's entry in the row of this thread, or -1 if the row has no free entry. */
  entryOf(tag: number): number {
    const cells = this.#cells;
    const base = headWidth + this.#row * rowWidth;
    let chosen = this.#find(base, tag);
    for (let step = 0; chosen < 0 && step < probesMax; step++) {
      const at = base + ((tag + step) % entriesMax) * width;
      if (cells[at + 1] === 0 && cells[at + 2] === 0) chosen = at;
    }
    if (chosen >= 0) cells[chosen] = tag;
    return chosen;
  }

  /** Adds bytes to an entry; `place` comes from `placeOf`. */
  add(kind: Held, entry: number, bytes: number): void {
    const cells = this.#cells;
    cells[entry + offsets[kind]]! += bytes;
    cells[entry + timeOffset] = now();
    if (kind === 'answers' && bytes > 0 && this.isOver(kind, cells[entry]!)) cells[0] = 1;
  }
}

/** Counts the bytes that one exchange holds. */
export class Holding {
  #bytes = 0;
  #entry = -1;

  constructor(
    private readonly shares: ByteShares,
    private readonly kind: Held,
    private readonly tag: number,
  ) {}

  /** Refuses a body that would exceed the caller's share at this length. */
  refusalOfBody(bytes: number): ErrorData | undefined {
    return bytes > this.#bytes
      ? this.shares.refusalOfBody(this.tag, bytes - this.#bytes)
      : undefined;
  }

  /** Sets the number of bytes that the exchange holds. */
  hold(bytes: number): void {
    if (this.#entry < 0) this.#entry = this.shares.entryOf(this.tag);
    if (this.#entry < 0 || bytes === this.#bytes) return;
    this.shares.add(this.kind, this.#entry, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  release(): void {
    if (this.#entry >= 0) this.hold(0);
    this.#entry = -1;
  }

  /** Whether the caller holds more than half of the limit. */
  get isOver(): boolean {
    return this.shares.isOver(this.kind, this.tag);
  }

  get excess(): ErrorData | undefined {
    return this.shares.excessOf(this.kind, this.tag);
  }
}
