// Limits the events per second of each source. Invariant: the time comes from a clock that cannot be set.
import { sharedOriginMs } from '../../engine/internal.js';

export interface Rate {
  /** Counts an event. Returns false if it exceeds the limit. `now`: performance.now(). */
  pass(source: string, now: number): boolean;
}

/** Used where no limit is configured. */
export const noRate: Rate = { pass: () => true };

const sourcesMax = 10_000;

/** Counts on one thread. */
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

/**
 * Number of cells for the sources of one second, a power of two. `probeMax`: maximum distance of a source from
 * its home cell.
 */
const slots = 2 ** 15;
const probeMax = 16;
/** Layout of a cell: 24 bits of the source's hash, 16 bits of the second, 24 bits of the count. */
const countBits = 24n;
const secondBits = 16n;
const countMax = (1n << countBits) - 1n;

/**
 * Counts for all threads together, in a table in shared memory. Each cell changes in one atomic step, so no
 * event is lost between two threads. If all cells of a source are taken in this second, the source shares the
 * last one with another source. Such a source reaches its limit early, never late.
 */
export class SharedRate implements Rate {
  readonly #cells: BigInt64Array;

  constructor(
    private readonly limit: number,
    readonly buffer = new SharedArrayBuffer(slots * 8 + 8),
  ) {
    this.#cells = new BigInt64Array(buffer);
    // The seed is random: a client that chooses the names of sources must not be able to choose their cells.
    if (this.#seed === 0) {
      Atomics.store(this.#cells, slots, BigInt(Math.floor(Math.random() * 2 ** 32)) | 1n);
    }
  }

  get #seed(): number {
    return Number(Atomics.load(this.#cells, slots));
  }

  pass(source: string, now: number): boolean {
    const [slot, tag] = hashOf(source, this.#seed);
    const second = BigInt(Math.floor((now + sharedOriginMs) / 1000) & 0xffff);
    const head = (BigInt(tag) << secondBits) | second;
    for (let step = 0; ; step++) {
      const at = (slot + step) % slots;
      const isLast = step === probeMax;
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

/** Counters of the limits that hold for all threads together. */
export type SharedRates = Record<'rate_per_key' | 'rate_per_address', SharedRate>;

/** Home cell of a source, and a tag that distinguishes it from other sources there. The tag is never 0. */
function hashOf(source: string, seed: number): [slot: number, tag: number] {
  let a = seed | 0;
  let b = ~seed;
  for (let i = 0; i < source.length; i++) {
    a = Math.imul(a ^ source.charCodeAt(i), 0x01000193);
    b = Math.imul(b + source.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
  }
  a = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d);
  return [(a >>> 8) % slots, (b >>> 8) | 1];
}
