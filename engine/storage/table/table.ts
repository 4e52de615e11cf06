// One table of the LMDB environment: its keys are written by a codec. Every value is followed by a CRC32 over
// the name of the table, the key and the value, so a value that a damaged page shows under another key fails.
//
// Invariant: a value is returned only after its CRC was verified, by this read or an earlier one. The result
// of `peek` is valid until the next read of any table. LMDB's errors for a damaged file are thrown as
// DATA_CORRUPT.
import { type Binary, asBinary } from 'lmdb';
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import { checksum, checksumSize, sumOfName } from './checksum.js';
import { asCorruption } from './lmdb-error.js';
import type { KeyCodec } from './keys.js';
import { type TreeStats, pagesOf } from './file-usage.js';
import type { UuidCache } from './uuid-cache.js';
import { getWord, putWord } from './little-endian.js';

declare module 'lmdb' {
  /** Also accepts a part of a buffer, and stores the buffer's address in it. */
  function asBinary(parcel: Parcel): import('lmdb').Binary;
}

/** Members that lmdb's declarations omit or declare too narrowly. */
interface RawDatabase {
  lastSize: number;
  getBinaryFast(key: unknown): Uint8Array | undefined;
  putSync(key: unknown, value: Binary, options?: object): boolean;
  removeSync(key: unknown): boolean;
  getRange(options: object): Iterable<{ key: unknown; value: Uint8Array }>;
  getKeys(options: object): Iterable<unknown>;
  getKeysCount(options: object): number;
  getStats(): unknown;
}

// lmdb reads all these members at every put. Objects of one shape make that free.
const noOptions = {
  noOverwrite: false,
  noDupData: false,
  instructedWrite: false,
  append: false,
  ifVersion: undefined,
  version: undefined,
};
const onlyNew = { ...noOptions, noOverwrite: true };
const onlyLast = { ...noOptions, append: true };

/**
 * Bytes for lmdb, which copies those between `start` and `end` before `put` returns. So no view is created
 * for each value, and the address of the memory is requested once. This is a plain object, because lmdb reads
 * members that typed arrays lack and are slow to look up.
 */
interface Parcel {
  start: number;
  end: number;
  /** Address of the buffer; lmdb stores it here. */
  address: number;
  buffer: ArrayBufferLike;
}

/** Bytes, and the parcel through which lmdb takes a part of them. */
interface Source {
  bytes: Uint8Array;
  parcel: Parcel;
  value: Binary;
}

function newSource(bytes: Uint8Array): Source {
  const parcel = { start: 0, end: 0, address: 0, buffer: bytes.buffer };
  return { bytes, parcel, value: asBinary(parcel) };
}

let scratch = newSource(new Uint8Array(4096));

/** The bytes of which a part was put last; released at the end of the transaction. */
const nothing = newSource(new Uint8Array(0));
let shared = nothing;

/** Releases these bytes after the transaction. */
export function releaseParts(): void {
  shared = nothing;
}

/** Returns the value with its checksum, which starts from `seed`. */
function withChecksum(value: Uint8Array, seed: number): Binary {
  const size = value.length;
  if (size + checksumSize > scratch.bytes.length) {
    scratch = newSource(new Uint8Array((size + checksumSize) * 2));
  }
  scratch.bytes.set(value);
  putWord(scratch.bytes, size, checksum(value, 0, size, seed));
  scratch.parcel.end = size + checksumSize;
  return scratch.value;
}

/** Bytes of a word and its checksum. */
const wordSize = 4 + checksumSize;

function wordWithChecksum(word: number, seed: number): Binary {
  putWord(scratch.bytes, 0, word);
  putWord(scratch.bytes, 4, checksum(scratch.bytes, 0, 4, seed));
  scratch.parcel.end = wordSize;
  return scratch.value;
}

/** Returns a part of `bytes` with its checksum, which is written after the part. */
function partWithChecksum(bytes: Uint8Array, start: number, end: number, seed: number): Binary {
  assert(end + checksumSize <= bytes.length, 'there is room for a checksum');
  if (bytes !== shared.bytes) shared = newSource(bytes);
  putWord(bytes, end, checksum(bytes, start, end, seed));
  shared.parcel.start = bytes.byteOffset + start;
  shared.parcel.end = bytes.byteOffset + end + checksumSize;
  return shared.value;
}

export interface Span<K> {
  start: K;
  /** Exclusive. */
  end: K;
  limit?: number;
  /** Number of first keys to skip without reading them. */
  offset?: number;
  /** Descending order: `start` is the upper bound. */
  reverse?: boolean;
}

export interface RawEntry<K> {
  key: K;
  value: Uint8Array;
}

/** Scratch memory for the checksums of keys; longer than any key of LMDB. */
const keyBytes = new Uint8Array(4096);

/** Observers of a table. */
export interface TableWatch<K> {
  /** Called with every key that is put or removed. */
  touch?: ((key: K) => void) | undefined;
  /** Cache for a table of words with byte keys. */
  memo?: UuidCache | undefined;
}

/** One LMDB database. Writes are allowed only inside `Env.transact`. */
export class Table<K> {
  readonly #raw: RawDatabase;
  readonly #nameSum: number;
  private readonly touch: TableWatch<K>['touch'];
  private readonly memo: TableWatch<K>['memo'];

  constructor(
    readonly name: string,
    database: unknown,
    protected readonly codec: KeyCodec<K>,
    { touch, memo }: TableWatch<K> = {},
  ) {
    this.touch = touch;
    this.memo = memo;
    this.#raw = database as RawDatabase;
    this.#nameSum = sumOfName(name);
  }

  /** Returns the checksum from which that of the value under a key starts. */
  #seed(key: K): number {
    return checksum(keyBytes, 0, this.codec.writeKey(key, keyBytes, 0), this.#nameSum);
  }

  /**
   * Returns the value without a copy, valid until the next read of any table. `checked`: the caller has
   * already had this checksum verified, which costs more than the read for a large value.
   */
  peek(key: K, checked = false): Uint8Array | undefined {
    const raw = this.#raw;
    const bytes = this.#find(key);
    if (bytes === undefined) return undefined;
    // lmdb's buffer has a false length, so take a view of the true length immediately.
    const size = raw.lastSize - checksumSize;
    if (size < 0) this.#corrupt(key);
    if (!checked && checksum(bytes, 0, size, this.#seed(key)) !== getWord(bytes, size)) {
      this.#corrupt(key);
    }
    return new Uint8Array(bytes.buffer, bytes.byteOffset, size);
  }

  #find(key: K): Uint8Array | undefined {
    try {
      return this.#raw.getBinaryFast(key);
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Returns a private copy of the value, or undefined. */
  get(key: K): Uint8Array | undefined {
    return this.peek(key)?.slice();
  }

  has(key: K): boolean {
    return this.peek(key) !== undefined;
  }

  put(key: K, value: Uint8Array): void {
    this.#put(key, withChecksum(value, this.#seed(key)));
  }

  /** Returns the word under a key; 0 if there is none, because words are not 0. */
  peekWord(key: K): number {
    const { memo } = this;
    const known = memo === undefined ? 0 : memo.find(key as Uint8Array);
    if (known !== 0) return known;
    const bytes = this.#find(key);
    if (bytes === undefined) return 0;
    if (this.#raw.lastSize !== wordSize) this.#corrupt(key);
    if (checksum(bytes, 0, 4, this.#seed(key)) !== getWord(bytes, 4)) this.#corrupt(key);
    const word = getWord(bytes, 0);
    memo?.keep(key as Uint8Array, word);
    return word;
  }

  /** Caches the word of a key that will be read soon. */
  remember(key: K, word: number): void {
    this.memo?.keep(key as Uint8Array, word);
  }

  #put(key: K, value: Binary, options?: object): boolean {
    this.touch?.(key);
    // An appended key cannot be in the cache, so nothing is invalidated.
    if (options !== onlyLast) this.memo?.forget(key as Uint8Array);
    try {
      return this.#raw.putSync(key, value, options);
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Puts a value under a new key. Returns false, and puts nothing, if the key exists. */
  insert(key: K, value: Uint8Array): boolean {
    return this.#put(key, withChecksum(value, this.#seed(key)), onlyNew);
  }

  /**
   * Appends a value without a search. Returns false, and puts nothing, if the key is not above all others.
   */
  append(key: K, value: Uint8Array): boolean {
    return this.#put(key, withChecksum(value, this.#seed(key)), onlyLast);
  }

  /** Like `put`, for a part of `bytes` with space for a checksum after it. */
  putPart(key: K, bytes: Uint8Array, start: number, end: number): void {
    this.#put(key, partWithChecksum(bytes, start, end, this.#seed(key)));
  }

  /** Like `insert`, for a part of `bytes` with space for a checksum after it. */
  insertPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#put(key, partWithChecksum(bytes, start, end, this.#seed(key)), onlyNew);
  }

  /** Like `append`, for a part of `bytes` with space for a checksum after it. */
  appendPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#put(key, partWithChecksum(bytes, start, end, this.#seed(key)), onlyLast);
  }

  putWord(key: K, word: number): void {
    this.#put(key, wordWithChecksum(word, this.#seed(key)));
  }

  /** Like `append`, for one word. */
  appendWord(key: K, word: number): boolean {
    return this.#put(key, wordWithChecksum(word, this.#seed(key)), onlyLast);
  }

  /** Like `insert`, for one word. */
  insertWord(key: K, word: number): boolean {
    return this.#put(key, wordWithChecksum(word, this.#seed(key)), onlyNew);
  }

  remove(key: K): boolean {
    this.touch?.(key);
    this.memo?.forget(key as Uint8Array);
    try {
      return this.#raw.removeSync(key);
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Returns up to `limit` entries from `start` on, with their checksums included and not verified. */
  withChecksum(start: K, limit: number): RawEntry<K>[] {
    try {
      return Array.from(this.#raw.getRange({ start, limit })) as RawEntry<K>[];
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Returns the first key, or undefined for an empty table. */
  get first(): K | undefined {
    const [first] = this.#raw.getKeys({ start: this.codec.lowest, limit: 1 });
    return first as K | undefined;
  }

  /** Puts a value as `withChecksum` returned it. */
  putRaw(key: K, value: Uint8Array): void {
    this.memo?.forget(key as Uint8Array);
    this.#raw.putSync(key, asBinary(value));
  }

  /** Appends a value as `withChecksum` returned it. Returns false if the key is not above all others. */
  appendRaw(key: K, value: Uint8Array): boolean {
    return this.#raw.putSync(key, asBinary(value), onlyLast);
  }

  /** Writes the bytes of a key at `at`; returns their end. */
  writeKey(key: K, target: Uint8Array, at: number): number {
    return this.codec.writeKey(key, target, at);
  }

  /** Returns the key that `writeKey` wrote. */
  keyOf(bytes: Uint8Array, start: number, end: number): K {
    return this.codec.readKey(bytes, start, end);
  }

  keyBytes(key: K): Uint8Array {
    return keyBytes.slice(0, this.codec.writeKey(key, keyBytes, 0));
  }

  /** Number of pages of the tree. */
  get pages(): number {
    return pagesOf(this.#raw.getStats() as TreeStats);
  }

  /** Number of entries, and number of pages without those of long values. */
  get extent(): { entries: number; pages: number } {
    const stats = this.#raw.getStats() as TreeStats;
    return {
      entries: stats.entryCount,
      pages: stats.treeBranchPageCount + stats.treeLeafPageCount,
    };
  }

  /** Returns the keys of a span in order, without reading values. The cursor is closed on return. */
  keys(span: Span<K>): K[] {
    try {
      return Array.from(this.#raw.getKeys({ ...span })) as K[];
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Returns the number of keys in a span, without reading them. */
  countKeys({ start, end }: Span<K>): number {
    try {
      return this.#raw.getKeysCount({ start, end });
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Returns the entries of a span in order, with private values. The cursor is closed on return. */
  entries(span: Span<K>): { key: K; value: Uint8Array }[] {
    const found: { key: K; value: Uint8Array }[] = [];
    try {
      for (const { key, value } of this.#raw.getRange({ ...span })) {
        found.push({ key: key as K, value: this.#verified(key as K, value) });
      }
    } catch (error) {
      throw asCorruption(error, this.name);
    }
    return found;
  }

  #verified(key: K, value: Uint8Array): Uint8Array {
    const size = value.length - checksumSize;
    if (size < 0) this.#corrupt(key);
    if (checksum(value, 0, size, this.#seed(key)) !== getWord(value, size)) this.#corrupt(key);
    return new Uint8Array(value.buffer, value.byteOffset, size);
  }

  #corrupt(key: K): never {
    const end = this.codec.writeKey(key, keyBytes, 0);
    const text = Buffer.from(keyBytes.buffer, 0, Math.min(end, 32)).toString('hex');
    fail('DATA_CORRUPT', { what: `${this.name} ${text}` });
  }
}
