// Caches the ids of elements by uuid for the writer thread: one probe of memory replaces a search of the
// table's tree. Elements that were just created often get edges next, and the same endpoints recur. The cache
// answers only within a transaction, because a reading thread is not notified of other commits here, even if
// it opened the data for writing.
//
//   entries  uuid 16 · id, by hash of the uuid; a new entry overwrites another one; id 0 is free
//
// Invariant: a cached id equals that of the table in the open transaction, because every change of the table
// updates the cache. The entries survive a transaction only if no other process commits before the next one.

const keyWords = 4;
const entryWords = keyWords + 1;

/** Entries initially and at most: 80 KB to 5 MB. */
const firstBits = 12;
const lastBits = 18;

const wordAt = (key: Uint8Array, at: number): number =>
  key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24);

export class UuidCache {
  #bits = firstBits;
  #entries: Int32Array | undefined;
  #taken = 0;
  #isOpen = false;
  /** Commit number of the entries, between transactions. */
  #commits = -1;
  /** The key of the present call. */
  readonly #key = new Int32Array(keyWords);

  /** Reads a key of 16 bytes into `#key`; returns the offset of its entry. */
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
    return entryWords * (Math.imul(hash, 0xc2b2ae35) >>> (32 - this.#bits));
  }

  #holds(entries: Int32Array, at: number): boolean {
    const words = this.#key;
    return (
      entries[at] === words[0] &&
      entries[at + 1] === words[1] &&
      entries[at + 2] === words[2] &&
      entries[at + 3] === words[3]
    );
  }

  /** A transaction begins, on data of this commit number. */
  begin(commits: number): void {
    if (commits !== this.#commits) this.#clear();
    this.#isOpen = true;
  }

  /** The transaction ends; without a commit number it was undone. */
  end(commits: number | undefined): void {
    this.#isOpen = false;
    this.#commits = commits ?? -1;
    if (commits === undefined) this.#clear();
  }

  /** Returns the id of a uuid; 0 if it is not cached. */
  find(key: Uint8Array): number {
    const entries = this.#entries;
    if (!this.#isOpen || entries === undefined || key.length !== 4 * keyWords) return 0;
    const at = this.#at(key);
    return this.#holds(entries, at) ? entries[at + keyWords]! >>> 0 : 0;
  }

  keep(key: Uint8Array, word: number): void {
    if (!this.#isOpen || key.length !== 4 * keyWords || word === 0) return;
    if (this.#entries === undefined || 2 * this.#taken > 1 << this.#bits) this.#widen();
    const entries = this.#entries!;
    const at = this.#at(key);
    if (entries[at + keyWords] === 0) this.#taken++;
    entries.set(this.#key, at);
    entries[at + keyWords] = word;
  }

  forget(key: Uint8Array): void {
    const entries = this.#entries;
    if (entries === undefined || key.length !== 4 * keyWords) return;
    const at = this.#at(key);
    if (!this.#holds(entries, at) || entries[at + keyWords] === 0) return;
    entries[at + keyWords] = 0;
    this.#taken--;
  }

  #clear(): void {
    this.#entries = undefined;
    this.#bits = firstBits;
    this.#taken = 0;
  }

  /** Starts a larger, empty table: lookups fill it again. Growth is rare and lookups are many. */
  #widen(): void {
    if (this.#entries !== undefined && this.#bits === lastBits) return;
    if (this.#entries !== undefined) this.#bits += 2;
    this.#entries = new Int32Array(entryWords << this.#bits);
    this.#taken = 0;
  }
}
