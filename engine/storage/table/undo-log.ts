// Records every put and removal of one request with the value it replaced, so that this request alone can be
// undone in the transaction of its group. (Nested LMDB transactions cost 100-150 us each, operations.md L07;
// this log costs one read per put.)
//
// Keys and former values are stored end to end in one buffer. A separate object for each would live as long
// as the request, and the garbage collector copies live objects.
//
//   changes  table · start of the key · of the former value · its end, or none     four words a change
//   bytes    key · former value · key · former value …
//
// Invariant: after `undo` the tables are as they were at `begin`.
import { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import type { Limits } from '../../base/limits.js';
import { doubled } from '../../base/u32-array.js';
import type { Table } from './env.js';

/** Words of a change. */
const changeWords = 4;

/** In place of the number of a table: the entry is an undo function for many puts of new keys. */
const made = 255;

/** In place of the end of a value: the key had no value. */
const nothing = 0;

const empty = new Uint8Array(0);

const always = { keep: true, isLimited: true };

/** Longer than any key of LMDB. */
const keyBytesMax = 2048;

/** A buffer above this size is released after the request that needed it. */
const retainedBytes = 4 * 1024 * 1024;

/** Bytes counted per put in addition to the value: key, node header, CRC. */
const putOverhead = 32;

export class UndoLog {
  /** Tables with changes, by their number in the log. */
  readonly #tables: Table<unknown>[] = [];
  #changes = new Uint32Array(64 * changeWords);
  /** Words of `#changes` in use. */
  #end = 0;
  #bytes = new ByteWriter(4096);
  #undoing: (() => void)[] = [];
  #count = 0;
  #size = 0;
  /** Whether former values are recorded. */
  #keep = true;
  /** Whether the changes count toward the limits of a request. */
  #isLimited = true;
  /** Puts and removals of all requests so far. */
  total = 0;

  constructor(private readonly limits: Pick<Limits, 'txn_writes' | 'txn_bytes'>) {}

  /**
   * Starts a request. `keep: false` for work that is undone only with the whole transaction: no former value
   * is read or recorded. `isLimited: false` for work without the limits of requests.
   */
  begin({ keep, isLimited }: { keep: boolean; isLimited: boolean } = always): void {
    this.#end = 0;
    this.#undoing = [];
    if (this.#bytes.bytes.length > retainedBytes) this.#shrink();
    this.#bytes.length = 0;
    this.#count = 0;
    this.#size = 0;
    this.#keep = keep;
    this.#isLimited = isLimited;
  }

  #shrink(): void {
    this.#bytes = new ByteWriter(4096);
    this.#changes = new Uint32Array(64 * changeWords);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Fails TXN_TOO_LARGE if `count` more changes would exceed the limit, before they are made. */
  expect(count: number): void {
    const { txn_writes: max } = this.limits;
    if (this.#isLimited && this.#count + count > max)
      fail('TXN_TOO_LARGE', { max, unit: 'writes' });
  }

  /** Puts a value under a key that is known to be absent. */
  insert<K>(table: Table<K>, key: K, value: Uint8Array): void {
    this.#note(table, key, undefined, value.length);
    table.put(key, value);
  }

  put<K>(table: Table<K>, key: K, value: Uint8Array): void {
    this.#note(table, key, this.#keep ? table.peek(key) : undefined, value.length);
    table.put(key, value);
  }

  /**
   * Puts a value where the caller has just read `former`, undefined if there was none. The caller must not
   * have read or put anything since, unless `former` is a private copy.
   */
  replace<K>(table: Table<K>, key: K, former: Uint8Array | undefined, value: Uint8Array): void {
    this.#note(table, key, former, value.length);
    table.put(key, value);
  }

  remove<K>(table: Table<K>, key: K): void {
    if (!this.#keep) {
      if (table.remove(key)) this.count(1, 0);
      return;
    }
    const former = table.peek(key);
    if (former === undefined) return;
    this.#note(table, key, former, 0);
    table.remove(key);
  }

  /** Removes the value of a key that has one. Fails DATA_CORRUPT if it is gone. */
  removePresent<K>(table: Table<K>, key: K): void {
    this.#note(table, key, this.#keep ? table.peek(key) : undefined, 0);
    checkIntegrity(table.remove(key), 'what was read is gone');
  }

  /** Removes the value `former` of a key, read as for `replace`. Fails DATA_CORRUPT if it is gone. */
  cut<K>(table: Table<K>, key: K, former: Uint8Array): void {
    this.#note(table, key, former, 0);
    checkIntegrity(table.remove(key), 'what was read is gone');
  }

  /** Removes a key whose value, if any, is known to be empty. */
  removeEmpty<K>(table: Table<K>, key: K): void {
    if (table.remove(key)) this.#note(table, key, empty, 0);
  }

  /** Counts puts that will follow, with `bytes` bytes in all. Fails TXN_TOO_LARGE. */
  count(puts: number, bytes: number): void {
    this.total += puts;
    if (!this.#isLimited) return;
    this.#count += puts;
    this.#size += bytes + puts * putOverhead;
    const { txn_writes, txn_bytes } = this.limits;
    if (this.#count > txn_writes) this.#tooLarge(txn_writes, 'writes', 'txn_writes');
    if (this.#size > txn_bytes) this.#tooLarge(txn_bytes, 'bytes', 'txn_bytes');
  }

  /** Records how to undo puts that were counted and are about to be made. */
  made(undo: () => void): void {
    if (!this.#keep) return;
    const at = this.#add();
    this.#changes[at] = made;
    this.#changes[at + 1] = this.#undoing.length;
    this.#undoing.push(undo);
  }

  /** Like `replace`, for a put that was counted. */
  overwrite<K>(table: Table<K>, key: K, former: Uint8Array | undefined, value: Uint8Array): void {
    this.keepFormer(table, key, former);
    table.put(key, value);
  }

  /** Inserts a word; the put was counted. Returns false, and changes nothing, if the key exists. */
  insertWord<K>(table: Table<K>, key: K, word: number): boolean {
    if (!table.insertWord(key, word)) return false;
    this.keepFormer(table, key, undefined);
    return true;
  }

  /** Like `insertWord`, for a part of `bytes` with space for a checksum after it. */
  insertPart<K>(table: Table<K>, key: K, bytes: Uint8Array, start: number, end: number): boolean {
    if (!table.insertPart(key, bytes, start, end)) return false;
    this.keepFormer(table, key, undefined);
    return true;
  }

  undo(): void {
    const changes = this.#changes;
    const { bytes } = this.#bytes;
    for (let at = this.#end - changeWords; at >= 0; at -= changeWords) {
      if (changes[at] === made) this.#undoing[changes[at + 1]!]!();
      else {
        const table = this.#tables[changes[at]!]!;
        const [start, end] = [changes[at + 1]!, changes[at + 2]!];
        const key = table.keyOf(bytes, start, end);
        const formerEnd = changes[at + 3]!;
        if (formerEnd === nothing) table.remove(key);
        else table.put(key, bytes.subarray(end, formerEnd));
      }
    }
    this.begin();
  }

  #note<K>(table: Table<K>, key: K, former: Uint8Array | undefined, size: number): void {
    this.keepFormer(table, key, former);
    this.count(1, size);
  }

  /** Records the value under a key that is about to be put, for a caller that counts the put itself. */
  keepFormer<K>(table: Table<K>, key: K, former: Uint8Array | undefined): void {
    if (!this.#keep) return;
    const at = this.#add();
    const writer = this.#bytes;
    writer.reserve(keyBytesMax);
    const changes = this.#changes;
    changes[at] = this.#numberOf(table as Table<unknown>);
    changes[at + 1] = writer.length;
    writer.length = table.writeKey(key, writer.bytes, writer.length);
    changes[at + 2] = writer.length;
    if (former === undefined) changes[at + 3] = nothing;
    else {
      writer.append(former);
      changes[at + 3] = writer.length;
    }
  }

  #numberOf(table: Table<unknown>): number {
    const known = this.#tables.indexOf(table);
    return known < 0 ? this.#tables.push(table) - 1 : known;
  }

  /** Reserves the words of one more change; returns their offset. */
  #add(): number {
    const at = this.#end;
    this.#end += changeWords;
    if (this.#end > this.#changes.length) this.#changes = doubled(this.#changes);
    return at;
  }

  #tooLarge(max: number, unit: string, limit: string): never {
    // The last change was recorded but not made. Undoing it writes the present value again.
    fail('TXN_TOO_LARGE', { max, unit }, { hint: `Split the load, or raise \`limits.${limit}\`.` });
  }
}
