// Records read before, for executions that read many: an exact read of LMDB with its checksum costs
// ten times a look into a table. What a look costs is waiting for memory, so records lie end to end
// in one arena, found by one probe of a flat table: half of what a map of byte arrays takes, where
// every record is an object of its own somewhere else.
//
// Two generations: what the older one still has moves to the younger when it is asked for, and the
// older one goes when the younger is full.
//
//   arena    length u32 · record · up to 3 bytes, record after record (cache-arena.ts)
//
// Invariant: all records are those of one state of the data, named by the count of commits
// (meta.ts), which the snapshot itself tells; from one state to the next those go that were changed
// (view/invalidation-queue.ts), or all. Bytes that were handed out are never written again.

import type { ChangedSince } from '../table/env-options.js';
import { WordArena } from './cache-arena.js';

/** Bytes of a generation, at first and at most. */
const firstBytes = 32 * 1024;
const generationBytes = 8 * 1024 * 1024;

/** Longer records are read every time: their checksum costs more than finding them. */
const recordBytesMax = 64 * 1024;

class Generation extends WordArena {
  /** The arena as bytes. */
  bytes: Uint8Array;

  constructor(bytes: number) {
    super(bytes >>> 2, generationBytes >>> 2);
    this.bytes = new Uint8Array(this.words.buffer);
  }

  protected override lengthOf(bytes: number): number {
    return (bytes + 3) >>> 2;
  }

  get(id: number): Uint8Array | undefined {
    const word = this.known(id);
    return word === 0 ? undefined : this.#record(word);
  }

  #record(word: number): Uint8Array {
    const { words } = this;
    return new Uint8Array(words.buffer, 4 * word + 4, words[word]);
  }

  /** Keeps a copy of a record that is not there; undefined when there is no room. */
  keep(id: number, record: Uint8Array): Uint8Array | undefined {
    const former = this.words;
    const word = this.add(id, record.length);
    if (word === 0) return undefined;
    if (this.words !== former) this.bytes = new Uint8Array(this.words.buffer);
    const copy = this.#record(word);
    copy.set(record);
    return copy;
  }
}

export class RecordCache {
  #young: Generation | undefined;
  #old: Generation | undefined;
  #commits = -1;

  /** `peek` reads the record; its bytes are short-lived. Without `since`, any change may be of all. */
  constructor(
    private readonly peek: (id: number) => Uint8Array | undefined,
    private readonly since?: ChangedSince,
  ) {}

  /** Forgets what is not as it is in the data of this count of commits. */
  at(commits: number): this {
    if (commits === this.#commits) return this;
    this.#commits = commits;
    const isKnown = this.since?.move(commits, (id) => this.#drop(id)) ?? false;
    if (!isKnown) this.#young = this.#old = undefined;
    return this;
  }

  #drop(id: number): void {
    this.#young?.drop(id);
    this.#old?.drop(id);
  }

  /** The record, or undefined when there is no such element. Nobody may write into it. */
  get(id: number): Uint8Array | undefined {
    return this.#young?.get(id) ?? this.#read(id);
  }

  /** Where a record starts in `bytes`; -1 when there is none, or it is not kept. */
  find(id: number): number {
    const word = this.#young?.known(id) ?? 0;
    if (word !== 0) return 4 * word + 4;
    if (this.#read(id) === undefined) return -1;
    const own = this.#young?.known(id) ?? 0;
    return own === 0 ? -1 : 4 * own + 4;
  }

  /** What `find` has pointed into last. */
  get bytes(): Uint8Array {
    return this.#young!.bytes;
  }

  #read(id: number): Uint8Array | undefined {
    const record = this.#old?.get(id) ?? this.peek(id);
    if (record === undefined) return undefined;
    if (record.length > recordBytesMax) return record.slice();
    this.#young ??= new Generation(firstBytes);
    const kept = this.#young.keep(id, record);
    if (kept !== undefined) return kept;
    this.#old = this.#young;
    this.#young = new Generation(generationBytes);
    return this.#young.keep(id, record);
  }
}
