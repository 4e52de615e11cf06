// Ids of elements by their uuids, as the table of uuids has them: one probe of memory instead of a search
// of its tree, for who writes: elements that were just made get edges next, and the same ends come again.
// It is asked within a transaction only. A thread that reads hears of no commit of others here, and may
// have opened the data for writing all the same.
//
//   places   uuid 16 · id, by hash of the uuid; one takes the place of another; id 0 is free
//
// Invariant: an id in here is the table's, in the open transaction: whatever changes an entry tells. What
// was known at the end of the last one is known at the next only if nobody else has committed meanwhile.

const keyWords = 4;
const placeWords = keyWords + 1;

/** Places at first and at most: 80 KB to 5 MB. */
const firstBits = 12;
const lastBits = 18;

const wordAt = (key: Uint8Array, at: number): number =>
  key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24);

export class UuidCache {
  #bits = firstBits;
  #places: Int32Array | undefined;
  #taken = 0;
  #isOpen = false;
  /** Of the data that this is about, between transactions. */
  #commits = -1;
  /** The key at hand. */
  readonly #key = new Int32Array(keyWords);

  /** Reads a key of 16 bytes; where its place begins. */
  #at(key: Uint8Array): number {
    const words = this.#key;
    let hash = 0;
    for (let i = 0; i < keyWords; i++) {
      const word = wordAt(key, 4 * i);
      words[i] = word;
      hash = Math.imul(hash ^ word, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x85ebca6b);
    hash ^= hash >>> 13;
    return placeWords * (Math.imul(hash, 0xc2b2ae35) >>> (32 - this.#bits));
  }

  #holds(places: Int32Array, at: number): boolean {
    const words = this.#key;
    return (
      places[at] === words[0] &&
      places[at + 1] === words[1] &&
      places[at + 2] === words[2] &&
      places[at + 3] === words[3]
    );
  }

  /** A transaction begins, on data of this count of commits. */
  begin(commits: number): void {
    if (commits !== this.#commits) this.#clear();
    this.#isOpen = true;
  }

  /** It ends; without a count it was undone. */
  end(commits: number | undefined): void {
    this.#isOpen = false;
    this.#commits = commits ?? -1;
    if (commits === undefined) this.#clear();
  }

  /** 0 when it is not known. */
  find(key: Uint8Array): number {
    const places = this.#places;
    if (!this.#isOpen || places === undefined || key.length !== 4 * keyWords) return 0;
    const at = this.#at(key);
    return this.#holds(places, at) ? places[at + keyWords]! >>> 0 : 0;
  }

  keep(key: Uint8Array, word: number): void {
    if (!this.#isOpen || key.length !== 4 * keyWords || word === 0) return;
    if (this.#places === undefined || 2 * this.#taken > 1 << this.#bits) this.#widen();
    const places = this.#places!;
    const at = this.#at(key);
    if (places[at + keyWords] === 0) this.#taken++;
    places.set(this.#key, at);
    places[at + keyWords] = word;
  }

  forget(key: Uint8Array): void {
    const places = this.#places;
    if (places === undefined || key.length !== 4 * keyWords) return;
    const at = this.#at(key);
    if (!this.#holds(places, at) || places[at + keyWords] === 0) return;
    places[at + keyWords] = 0;
    this.#taken--;
  }

  #clear(): void {
    this.#places = undefined;
    this.#bits = firstBits;
    this.#taken = 0;
  }

  /** What is known already is found again where it is asked for: few widenings, many questions. */
  #widen(): void {
    if (this.#places !== undefined && this.#bits === lastBits) return;
    if (this.#places !== undefined) this.#bits += 2;
    this.#places = new Int32Array(placeWords << this.#bits);
    this.#taken = 0;
  }
}
