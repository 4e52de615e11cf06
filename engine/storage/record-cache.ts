// Records read before, for executions that read many: an exact read of LMDB with its checksum costs
// ten times a look into a map. Two generations: what the older one still has moves to the younger
// when it is asked for, and the older one goes when the younger is full.
//
// Invariant: all records are those of one state of the data, named by the count of commits
// (meta.ts), which the snapshot itself tells.

/** Bytes of records per generation, and the size of the chunks they share. */
const generationBytes = 8 * 1024 * 1024;
const chunkBytes = 64 * 1024;

export class RecordCache {
  #young = new Map<number, Uint8Array>();
  #old = new Map<number, Uint8Array>();
  #bytes = 0;
  #chunk = new Uint8Array(0);
  #used = 0;
  #commits = -1;

  /** `peek` reads the record; its bytes are short-lived. */
  constructor(private readonly peek: (id: number) => Uint8Array | undefined) {}

  /** Forgets everything when the data are not those of this count of commits. */
  at(commits: number): this {
    if (commits === this.#commits) return this;
    this.#commits = commits;
    if (this.#young.size > 0) this.#young = new Map();
    if (this.#old.size > 0) this.#old = new Map();
    this.#bytes = 0;
    return this;
  }

  /** The record, or undefined when there is no such element. Nobody may write into it. */
  get(id: number): Uint8Array | undefined {
    const young = this.#young.get(id);
    if (young !== undefined) return young;
    const record = this.#old.get(id) ?? this.#read(id);
    if (record !== undefined) this.#keep(id, record);
    return record;
  }

  #read(id: number): Uint8Array | undefined {
    const shared = this.peek(id);
    if (shared === undefined) return undefined;
    const { length } = shared;
    if (length > chunkBytes / 4) return shared.slice();
    if (this.#used + length > this.#chunk.length) {
      this.#chunk = new Uint8Array(chunkBytes);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    this.#chunk.set(shared, start);
    return this.#chunk.subarray(start, this.#used);
  }

  #keep(id: number, record: Uint8Array): void {
    this.#bytes += record.length;
    if (this.#bytes > generationBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#bytes = record.length;
    }
    this.#young.set(id, record);
  }
}
