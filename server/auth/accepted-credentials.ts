// Which credentials were accepted lately, by their digests, in memory that all threads share: who has shown a
// right key goes on while others guess, and when a key was last used can be told. Invariant: what stands here
// opens nothing: it says only that a credential is worth a look.
//
// The table holds as many credentials as it has places. Two threads that write the same place at once may lose one
// of the two: its owner is then looked at as if it came for the first time.
import { sharedOriginMs } from '../../engine/internal.js';

const minuteMs = 60_000;
/** Minutes for which an accepted credential is one. */
const keptMinutes = 10;
/** A power of two. */
const places = 2 ** 15;
/** How far an entry may stand from where it belongs. */
const reach = 8;
/** Of an entry: 32 bits of the digest, never 0, and the minute in which it was last used. */
const words = 2;

const minuteAt = (now: number): number => Math.floor((now + sharedOriginMs) / minuteMs);

export class Accepted {
  readonly #words: Int32Array;

  constructor(readonly buffer = new SharedArrayBuffer(places * words * 4)) {
    this.#words = new Int32Array(buffer);
  }

  /** The entry of a credential that was accepted in the last minutes, or -1. `now`: performance.now(). */
  find(digest: Buffer, now: number): number {
    const at = this.#entryOf(digest);
    if (at < 0) return -1;
    return minuteAt(now) - this.#words[at + 1]! <= keptMinutes ? at : -1;
  }

  /** It was accepted again. */
  renew(at: number, now: number): void {
    const minute = minuteAt(now);
    // Most who call again do so in the same minute: a word that many threads read is seldom written.
    if (this.#words[at + 1] !== minute) this.#words[at + 1] = minute;
  }

  /** It was accepted. Where there is no room, the one goes that was used least lately. */
  note(digest: Buffer, now: number): void {
    const [place, tag] = [placeOf(digest), tagOf(digest)];
    let chosen = this.#entryOf(digest);
    for (let step = 0; chosen < 0 && step < reach; step++) {
      const at = ((place + step) % places) * words;
      if (this.#words[at] === 0) chosen = at;
    }
    if (chosen < 0) chosen = this.#oldest(place);
    this.#words[chosen + 1] = minuteAt(now);
    this.#words[chosen] = tag;
  }

  #oldest(place: number): number {
    let oldest = place * words;
    for (let step = 1; step < reach; step++) {
      const at = ((place + step) % places) * words;
      if (this.#words[at + 1]! < this.#words[oldest + 1]!) oldest = at;
    }
    return oldest;
  }

  /** It is good no longer. */
  forget(digest: Buffer): void {
    const at = this.#entryOf(digest);
    if (at >= 0) this.#words[at + 1] = 0;
  }

  /** When it was last used, in milliseconds on the clock of performance.now() and to the minute; undefined: unknown. */
  usedAt(digest: Buffer): number | undefined {
    const at = this.#entryOf(digest);
    const minute = at < 0 ? 0 : this.#words[at + 1]!;
    return minute === 0 ? undefined : minute * minuteMs - sharedOriginMs;
  }

  #entryOf(digest: Buffer): number {
    const [place, tag] = [placeOf(digest), tagOf(digest)];
    for (let step = 0; step < reach; step++) {
      const at = ((place + step) % places) * words;
      if (this.#words[at] === tag) return at;
    }
    return -1;
  }
}

const placeOf = (digest: Buffer): number => digest.readUInt32LE(0) % places;
const tagOf = (digest: Buffer): number => digest.readInt32LE(4) | 1;
