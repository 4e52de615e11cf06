// Remembers the digests of recently accepted credentials in memory that all threads share. Callers with a
// valid key continue to be served while others guess, and the last use of a key is known. Invariant: an entry
// grants no access. It only decides that a credential is looked up without a guess limit.
//
// The table holds at most as many credentials as it has entries. If two threads write the same entry at the
// same time, one credential may be lost. The next request with it counts as a guess.
import { sharedOriginMs } from '../../engine/internal.js';

const minuteMs = 60_000;
/** An accepted credential stays in force in this table for this many minutes. */
const cachedMinutes = 10;
/** Number of entries; a power of two. */
const slots = 2 ** 15;
/** Maximum distance of an entry from its home position in the table. */
const probeMax = 8;
/** 32-bit words per entry: 32 bits of the digest, never 0, and the minute of the last use. */
const words = 2;

const minuteAt = (now: number): number => Math.floor((now + sharedOriginMs) / minuteMs);

export class Accepted {
  readonly #words: Int32Array;

  constructor(readonly buffer = new SharedArrayBuffer(slots * words * 4)) {
    this.#words = new Int32Array(buffer);
  }

  /** Index of a credential accepted within the last `cachedMinutes`, or -1. `now`: performance.now(). */
  find(digest: Buffer, now: number): number {
    const at = this.#entryOf(digest);
    if (at < 0) return -1;
    return minuteAt(now) - this.#words[at + 1]! <= cachedMinutes ? at : -1;
  }

  /** Records that the credential of an entry was accepted again. */
  renew(at: number, now: number): void {
    const minute = minuteAt(now);
    // Most calls repeat within a minute. The word is shared by many threads, so it is written only when it
    // changes.
    if (this.#words[at + 1] !== minute) this.#words[at + 1] = minute;
  }

  /** Adds an accepted credential. If no entry is free, it replaces the least recently used one nearby. */
  note(digest: Buffer, now: number): void {
    const [slot, tag] = [slotOf(digest), tagOf(digest)];
    let chosen = this.#entryOf(digest);
    for (let step = 0; chosen < 0 && step < probeMax; step++) {
      const at = ((slot + step) % slots) * words;
      if (this.#words[at] === 0) chosen = at;
    }
    if (chosen < 0) chosen = this.#oldest(slot);
    this.#words[chosen + 1] = minuteAt(now);
    this.#words[chosen] = tag;
  }

  #oldest(slot: number): number {
    let oldest = slot * words;
    for (let step = 1; step < probeMax; step++) {
      const at = ((slot + step) % slots) * words;
      if (this.#words[at + 1]! < this.#words[oldest + 1]!) oldest = at;
    }
    return oldest;
  }

  /** Marks a credential as no longer accepted. */
  remove(digest: Buffer): void {
    const at = this.#entryOf(digest);
    if (at >= 0) this.#words[at + 1] = 0;
  }

  /**
   * Time of the last use, to the minute, in milliseconds of performance.now(). Returns undefined if it is
   * unknown.
   */
  usedAt(digest: Buffer): number | undefined {
    const at = this.#entryOf(digest);
    const minute = at < 0 ? 0 : this.#words[at + 1]!;
    return minute === 0 ? undefined : minute * minuteMs - sharedOriginMs;
  }

  #entryOf(digest: Buffer): number {
    const [slot, tag] = [slotOf(digest), tagOf(digest)];
    for (let step = 0; step < probeMax; step++) {
      const at = ((slot + step) % slots) * words;
      if (this.#words[at] === tag) return at;
    }
    return -1;
  }
}

const slotOf = (digest: Buffer): number => digest.readUInt32LE(0) % slots;
const tagOf = (digest: Buffer): number => digest.readInt32LE(4) | 1;
