// Caches records for executions that read many of them: an exact read of LMDB with its checksum costs ten
// times a table lookup. A lookup mostly waits for memory, so the records lie end to end in one arena, and one
// probe of a flat table finds them. That takes half the time of a map of byte arrays, in which every record
// is a separate object.
//
// There are two generations. A record of the older one moves to the younger one when it is used. When the
// younger generation is full, it becomes the older one, which is dropped.
//
//   arena    length u32 · record · up to 3 bytes, record after record (cache-arena.ts)
//
// Invariant: all records belong to one commit, named by its commit number (meta.ts), which is part of the
// snapshot. When the commit changes, changed records are dropped (view/invalidation-queue.ts), or all. Bytes
// that were handed out are never overwritten.

import type { ChangedSince } from '../table/env-options.js';
import { CacheArena } from './cache-arena.js';

/** Bytes of a generation, initially and at most. */
const firstBytes = 32 * 1024;
const generationBytes = 8 * 1024 * 1024;

/** Longer records are not cached: their checksum costs more than the lookup. */
const recordBytesMax = 64 * 1024;

class Generation extends CacheArena {
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

  /** Stores a copy of a record that is not there; returns undefined if the arena is full. */
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

  /**
   * `peek` reads a record whose bytes are valid until the next read. Without `since`, every commit drops all
   * records.
   */
  constructor(
    private readonly peek: (id: number) => Uint8Array | undefined,
    private readonly since?: ChangedSince,
  ) {}

  /** Moves to a commit number: drops the records that may have changed since the former one. */
  moveTo(commits: number): this {
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

  /** Returns the record, or undefined if there is no such element. Callers must not write into it. */
  get(id: number): Uint8Array | undefined {
    return this.#young?.get(id) ?? this.#read(id);
  }

  /** Returns the start of a record in `bytes`; -1 if there is none, or if it is not cached. */
  find(id: number): number {
    const word = this.#young?.known(id) ?? 0;
    if (word !== 0) return 4 * word + 4;
    if (this.#read(id) === undefined) return -1;
    const own = this.#young?.known(id) ?? 0;
    return own === 0 ? -1 : 4 * own + 4;
  }

  /** The bytes that the last result of `find` points into. */
  get bytes(): Uint8Array {
    return this.#young!.bytes;
  }

  #read(id: number): Uint8Array | undefined {
    const record = this.#old?.get(id) ?? this.peek(id);
    if (record === undefined) return undefined;
    if (record.length > recordBytesMax) return record.slice();
    this.#young ??= new Generation(firstBytes);
    const cached = this.#young.keep(id, record);
    if (cached !== undefined) return cached;
    this.#old = this.#young;
    this.#young = new Generation(generationBytes);
    return this.#young.keep(id, record);
  }
}
