// One table of the LMDB environment: keys as their codec writes them, and a CRC32 behind every value,
// over the name of the table, the key and the value: what a damaged page shows under another key
// fails.
//
// Invariant: a value is returned only after its CRC was checked, by this read or by an earlier one;
// what `peek` returns is valid until the next read of any table. Errors by which LMDB says that the
// file is damaged leave as DATA_CORRUPT.
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
  /** Takes a part of a buffer as well, and notes the buffer's address there. */
  function asBinary(parcel: Parcel): import('lmdb').Binary;
}

/** What lmdb's declarations leave out or say more narrowly than it is. */
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

// lmdb looks for each of these at every put: of one shape, they cost nothing.
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
 * Bytes on their way to lmdb, which copies those between `start` and `end` before `put` returns: no
 * view has to be made of each value, and the address of the memory is asked for once. Plain objects:
 * lmdb looks for members that typed arrays lack and are slow to deny.
 */
interface Parcel {
  start: number;
  end: number;
  /** Of the buffer; lmdb notes it here. */
  address: number;
  buffer: ArrayBufferLike;
}

/** Bytes, and what lmdb takes a part of them from. */
interface Source {
  bytes: Uint8Array;
  parcel: Parcel;
  value: Binary;
}

function sourceOf(bytes: Uint8Array): Source {
  const parcel = { start: 0, end: 0, address: 0, buffer: bytes.buffer };
  return { bytes, parcel, value: asBinary(parcel) };
}

let scratch = sourceOf(new Uint8Array(4096));

/** The bytes of which a part was put last; they are let go at the end of the transaction. */
const nothing = sourceOf(new Uint8Array(0));
let shared = nothing;

/** The transaction is over: nobody puts a part of those bytes any more. */
export function forgetParts(): void {
  shared = nothing;
}

/** The value with its checksum; `seed` is the sum of what names it. */
function withChecksum(value: Uint8Array, seed: number): Binary {
  const size = value.length;
  if (size + checksumSize > scratch.bytes.length) {
    scratch = sourceOf(new Uint8Array((size + checksumSize) * 2));
  }
  scratch.bytes.set(value);
  putWord(scratch.bytes, size, checksum(value, 0, size, seed));
  scratch.parcel.end = size + checksumSize;
  return scratch.value;
}

/** Of a word and its checksum. */
const wordSize = 4 + checksumSize;

function sealedWord(word: number, seed: number): Binary {
  putWord(scratch.bytes, 0, word);
  putWord(scratch.bytes, 4, checksum(scratch.bytes, 0, 4, seed));
  scratch.parcel.end = wordSize;
  return scratch.value;
}

/** A part of bytes with its checksum, for which there is room behind it. */
function sealedPart(bytes: Uint8Array, start: number, end: number, seed: number): Binary {
  assert(end + checksumSize <= bytes.length, 'there is room for a checksum');
  if (bytes !== shared.bytes) shared = sourceOf(bytes);
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
  /** So many of the first are left out without being read. */
  offset?: number;
  /** Descending: `start` is the upper one. */
  reverse?: boolean;
}

export interface SealedEntry<K> {
  key: K;
  value: Uint8Array;
}

/** Where keys are written to be summed; longer than any that LMDB takes. */
const keyBytes = new Uint8Array(4096);

/** Who follows what becomes of a table. */
export interface TableWatch<K> {
  /** Told of every key that is put or removed. */
  touch?: ((key: K) => void) | undefined;
  /** Of a table of words whose keys are bytes. */
  memo?: UuidCache | undefined;
}

/** One LMDB database. Writing is allowed inside `Env.transact` only. */
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

  /** What the checksum of the value under a key begins with. */
  #seed(key: K): number {
    return checksum(keyBytes, 0, this.codec.writeKey(key, keyBytes, 0), this.#nameSum);
  }

  /**
   * The value without a copy: valid until the next read of any table. `checked`: the caller has
   * had this value's checksum compared before, which of a large value costs more than reading it.
   */
  peek(key: K, checked = false): Uint8Array | undefined {
    const raw = this.#raw;
    const bytes = this.#find(key);
    if (bytes === undefined) return undefined;
    // lmdb's buffer carries a faked length; a view of the true length is taken at once.
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

  /** A private copy of the value. */
  get(key: K): Uint8Array | undefined {
    return this.peek(key)?.slice();
  }

  has(key: K): boolean {
    return this.peek(key) !== undefined;
  }

  put(key: K, value: Uint8Array): void {
    this.#put(key, withChecksum(value, this.#seed(key)));
  }

  /** The word under a key, 0 when there is none: words are not 0. */
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

  /** What a key has just got, which is going to be asked for. */
  remember(key: K, word: number): void {
    this.memo?.keep(key as Uint8Array, word);
  }

  #put(key: K, value: Binary, options?: object): boolean {
    this.touch?.(key);
    // Of what is put behind all others nothing was known.
    if (options !== onlyLast) this.memo?.forget(key as Uint8Array);
    try {
      return this.#raw.putSync(key, value, options);
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Puts what has no value yet; false, and nothing is put, when there is one. */
  insert(key: K, value: Uint8Array): boolean {
    return this.#put(key, withChecksum(value, this.#seed(key)), onlyNew);
  }

  /**
   * Puts a value behind all others of the table, without looking for its place; false, and nothing
   * is put, when the key is not above all others.
   */
  append(key: K, value: Uint8Array): boolean {
    return this.#put(key, withChecksum(value, this.#seed(key)), onlyLast);
  }

  /** `put` of a part of `bytes`, which has room for a checksum behind it. */
  putPart(key: K, bytes: Uint8Array, start: number, end: number): void {
    this.#put(key, sealedPart(bytes, start, end, this.#seed(key)));
  }

  /** `insert` of a part of `bytes`, which has room for a checksum behind it. */
  insertPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#put(key, sealedPart(bytes, start, end, this.#seed(key)), onlyNew);
  }

  /** `append` of a part of `bytes`, which has room for a checksum behind it. */
  appendPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#put(key, sealedPart(bytes, start, end, this.#seed(key)), onlyLast);
  }

  putWord(key: K, word: number): void {
    this.#put(key, sealedWord(word, this.#seed(key)));
  }

  /** `append` of one word. */
  appendWord(key: K, word: number): boolean {
    return this.#put(key, sealedWord(word, this.#seed(key)), onlyLast);
  }

  /** `insert` of one word. */
  insertWord(key: K, word: number): boolean {
    return this.#put(key, sealedWord(word, this.#seed(key)), onlyNew);
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

  /** Up to `limit` entries from `start` on, with their checksums, neither compared nor taken off. */
  withChecksum(start: K, limit: number): SealedEntry<K>[] {
    try {
      return Array.from(this.#raw.getRange({ start, limit })) as SealedEntry<K>[];
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** The first key there is. */
  get first(): K | undefined {
    const [first] = this.#raw.getKeys({ start: this.codec.lowest, limit: 1 });
    return first as K | undefined;
  }

  /** Puts a value as `sealed` gave it. */
  putSealed(key: K, value: Uint8Array): void {
    this.memo?.forget(key as Uint8Array);
    this.#raw.putSync(key, asBinary(value));
  }

  /** `append` of a value as `sealed` gave it. */
  appendSealed(key: K, value: Uint8Array): boolean {
    return this.#raw.putSync(key, asBinary(value), onlyLast);
  }

  /** Writes the bytes of a key at `at`; tells where they end. */
  writeKey(key: K, target: Uint8Array, at: number): number {
    return this.codec.writeKey(key, target, at);
  }

  /** The key that `writeKey` wrote. */
  keyOf(bytes: Uint8Array, start: number, end: number): K {
    return this.codec.readKey(bytes, start, end);
  }

  keyBytes(key: K): Uint8Array {
    return keyBytes.slice(0, this.codec.writeKey(key, keyBytes, 0));
  }

  /** Pages that its tree takes. */
  get pages(): number {
    return pagesOf(this.#raw.getStats() as TreeStats);
  }

  /** How many entries there are, and the pages of the tree without those of large values. */
  get extent(): { entries: number; pages: number } {
    const stats = this.#raw.getStats() as TreeStats;
    return {
      entries: stats.entryCount,
      pages: stats.treeBranchPageCount + stats.treeLeafPageCount,
    };
  }

  /** Keys of a span in order, whose values are not looked at. The cursor is closed on return. */
  keys(span: Span<K>): K[] {
    try {
      return Array.from(this.#raw.getKeys({ ...span })) as K[];
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** How many keys a span has; none is read. */
  countKeys({ start, end }: Span<K>): number {
    try {
      return this.#raw.getKeysCount({ start, end });
    } catch (error) {
      throw asCorruption(error, this.name);
    }
  }

  /** Entries of a span in order, with private values. The cursor is closed before this returns. */
  entries(span: Span<K>): { key: K; value: Uint8Array }[] {
    const found: { key: K; value: Uint8Array }[] = [];
    try {
      for (const { key, value } of this.#raw.getRange({ ...span })) {
        found.push({ key: key as K, value: this.#opened(key as K, value) });
      }
    } catch (error) {
      throw asCorruption(error, this.name);
    }
    return found;
  }

  #opened(key: K, value: Uint8Array): Uint8Array {
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
