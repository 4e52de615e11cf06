// How many bytes of request bodies and of answers each caller holds, over all threads that take connections, so that
// one does not hold all of them (access.md 8). Invariant: each row has one writer, its thread; a place of a row belongs
// to one caller for as long as anything is held in it.
//
// Only what is long, or comes in pieces, is counted: for other requests nothing is done. A caller for whom a row has
// no place is not counted there.
import { createHash } from 'node:crypto';
import { type ErrorData, sharedOriginMs } from '../../engine/internal.js';
import type { Exchange } from './exchange.js';
import type { TransportOptions } from './transport.js';

export type Held = 'bodies' | 'answers';

/** Shorter bodies and answers are counted only where they are kept. */
export const longBytes = 64 * 1024;
/** Who held something so lately is there. */
const thereMs = 1_000;

const places = 1_024;
/** How far an entry may stand from where it belongs. */
const reach = 8;
/** Of a place: whose it is, what is held, and when that has changed last. */
const width = 4;
const offsets: Record<Held, number> = { bodies: 1, answers: 2 };
const timeOffset = 3;
/** Before the rows: whether somebody may have more than half of the answers. */
const headWidth = 8;
const rowWidth = places * width;

/** For so many threads. */
export const shareBuffer = (rows: number): SharedArrayBuffer =>
  new SharedArrayBuffer((headWidth + rows * rowWidth) * Float64Array.BYTES_PER_ELEMENT);

/** The thread of this row has ended: what it held is held no more. */
export function forgetShares(buffer: SharedArrayBuffer, row: number): void {
  const from = headWidth + row * rowWidth;
  new Float64Array(buffer).fill(0, from, from + rowWidth);
}

const tagOf = (holder: string): number =>
  createHash('sha256').update(holder).digest().readUIntLE(0, 6) || 1;

const now = (): number => performance.now() + sharedOriginMs;

/** As one thread sees and counts them. */
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

  /** What an exchange is going to hold. */
  holding(kind: Held, { holder }: Exchange): Holding {
    return new Holding(this, kind, tagOf(holder));
  }

  /** Why a caller may not call now: so many bytes of answers are theirs to read first. */
  refusalOfCall(exchange: Exchange): ErrorData | undefined {
    const cells = this.#cells;
    // Looked at for every call: as long as nobody is over half that is all.
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

  /** Why a caller may not send so many bytes more. One who holds nothing may send a body of any length. */
  refusalOfBody(tag: number, more: number): ErrorData | undefined {
    const count = this.heldBy('bodies', tag);
    if (count === 0 || count + more <= this.#halves.bodies || this.#isAlone(tag)) return undefined;
    return { code: 'SHARE_EXCEEDED', args: { count, what: 'bytes of bodies' } };
  }

  /** Why a caller loses what is held for them, where there is no room for others. */
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

  /** Nobody else holds anything that is counted, or did so lately. */
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
    for (let step = 0; step < reach; step++) {
      const at = base + ((tag + step) % places) * width;
      if (this.#cells[at] === tag) return at;
    }
    return -1;
  }

  /** The place of a caller in the row of this thread; -1: there is none. */
  placeOf(tag: number): number {
    const cells = this.#cells;
    const base = headWidth + this.#row * rowWidth;
    let chosen = this.#find(base, tag);
    for (let step = 0; chosen < 0 && step < reach; step++) {
      const at = base + ((tag + step) % places) * width;
      if (cells[at + 1] === 0 && cells[at + 2] === 0) chosen = at;
    }
    if (chosen >= 0) cells[chosen] = tag;
    return chosen;
  }

  /** Of a place that `placeOf` gave. */
  add(kind: Held, place: number, bytes: number): void {
    const cells = this.#cells;
    cells[place + offsets[kind]]! += bytes;
    cells[place + timeOffset] = now();
    if (kind === 'answers' && bytes > 0 && this.isOver(kind, cells[place]!)) cells[0] = 1;
  }
}

/** What one exchange holds. */
export class Holding {
  #bytes = 0;
  #place = -1;

  constructor(
    private readonly shares: ByteShares,
    private readonly kind: Held,
    private readonly tag: number,
  ) {}

  /** Why its body may not become so long. */
  refusalOfBody(bytes: number): ErrorData | undefined {
    return bytes > this.#bytes
      ? this.shares.refusalOfBody(this.tag, bytes - this.#bytes)
      : undefined;
  }

  /** From now on it is so many bytes. */
  hold(bytes: number): void {
    if (this.#place < 0) this.#place = this.shares.placeOf(this.tag);
    if (this.#place < 0 || bytes === this.#bytes) return;
    this.shares.add(this.kind, this.#place, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  release(): void {
    if (this.#place >= 0) this.hold(0);
    this.#place = -1;
  }

  /** Its caller holds more than half. */
  get isOver(): boolean {
    return this.shares.isOver(this.kind, this.tag);
  }

  get excess(): ErrorData | undefined {
    return this.shares.excessOf(this.kind, this.tag);
  }
}
