// At most so many events a second and source. Invariant: what is counted goes by a clock that nobody sets.
import { sharedOriginMs } from '../../engine/internal.js';

export interface Rate {
  /** Counts an event; false when it is one too many. `now`: performance.now(). */
  pass(source: string, now: number): boolean;
}

/** What an open bound is. */
export const noRate: Rate = { pass: () => true };

const sourcesMax = 10_000;

/** For one thread. */
export class OwnRate implements Rate {
  readonly #counts = new Map<string, number>();
  #second = 0;

  constructor(private readonly limit: number) {}

  pass(source: string, now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second || this.#counts.size > sourcesMax) {
      this.#second = second;
      this.#counts.clear();
    }
    const count = (this.#counts.get(source) ?? 0) + 1;
    this.#counts.set(source, count);
    return count <= this.limit;
  }
}

/** A power of two: places for sources of one second, and how far one may stand from where it belongs. */
const places = 2 ** 15;
const reach = 16;
/** A cell: 24 bits of the source's hash, 16 of the second, 24 of the count. */
const countBits = 24n;
const secondBits = 16n;
const countMax = (1n << countBits) - 1n;

/**
 * For all threads together: a table in shared memory, changed cell by cell in one step each, so that no
 * event is lost between two threads. A source whose places are all taken in this second counts with the
 * one it meets there: that errs on the side of the bound.
 */
export class SharedRate implements Rate {
  readonly #cells: BigInt64Array;

  constructor(
    private readonly limit: number,
    readonly buffer = new SharedArrayBuffer(places * 8 + 8),
  ) {
    this.#cells = new BigInt64Array(buffer);
    // Whoever chooses names must not be able to choose places.
    if (this.#seed === 0) {
      Atomics.store(this.#cells, places, BigInt(Math.floor(Math.random() * 2 ** 32)) | 1n);
    }
  }

  get #seed(): number {
    return Number(Atomics.load(this.#cells, places));
  }

  pass(source: string, now: number): boolean {
    const [place, tag] = hashOf(source, this.#seed);
    const second = BigInt(Math.floor((now + sharedOriginMs) / 1000) & 0xffff);
    const head = (BigInt(tag) << secondBits) | second;
    for (let step = 0; ; step++) {
      const at = (place + step) % places;
      const isLast = step === reach;
      for (;;) {
        const cell = BigInt.asUintN(64, Atomics.load(this.#cells, at));
        const known = cell >> countBits;
        const isOwn = known === head;
        const isFree = cell === 0n || (known & 0xffffn) !== second;
        if (!isOwn && !isFree && !isLast) break;
        const count = isFree ? 1n : (cell & countMax) + 1n;
        const next = ((isFree ? head : known) << countBits) | (count > countMax ? countMax : count);
        const [before, after] = [BigInt.asIntN(64, cell), BigInt.asIntN(64, next)];
        if (Atomics.compareExchange(this.#cells, at, before, after) !== before) continue;
        return count <= BigInt(this.limit);
      }
    }
  }
}

/** Of the bounds that all threads keep together. */
export type SharedRates = Record<'rate_per_key' | 'rate_per_address', SharedRate>;

/** Where a source belongs, and what tells it from others there; never 0. */
function hashOf(source: string, seed: number): [place: number, tag: number] {
  let a = seed | 0;
  let b = ~seed;
  for (let i = 0; i < source.length; i++) {
    a = Math.imul(a ^ source.charCodeAt(i), 0x01000193);
    b = Math.imul(b + source.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
  }
  a = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d);
  return [(a >>> 8) % places, (b >>> 8) | 1];
}
