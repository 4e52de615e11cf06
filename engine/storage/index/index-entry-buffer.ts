// Buffers index entries, and gives them out value by value in key order. So a value that many elements share
// is written once, and neighbours are written in sequence. Sorting the words of keys (radix-sort.ts) is
// faster than a map by value, whose keys would be strings.
import { ByteWriter } from '../../base/bytes.js';
import { doubled } from '../../base/u32-array.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { orderOf } from '../table/radix-sort.js';
import type { StoredProperty } from '../table/view-types.js';
import { appendListKey, appendValueKey } from './index-key.js';

/** Bytes of the id at the end of a key. */
const idBytes = 4;

/** Up to this many entries are sorted by insertion. */
const few = 16;

/** Entries of one index. */
export class EntryGroups {
  /** Keys of lists (property-index.ts), end to end. */
  readonly #keys = new ByteWriter(256);
  /** Start of each key, and the end of the last one. */
  #starts = new Uint32Array(17);
  #ids = new Uint32Array(16);
  #count = 0;
  /** Length of the prefix that all keys share, in bytes. */
  #common = 0;
  #isAscending = true;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds an entry. `prefix`: index and value. */
  add(prefix: Uint8Array, id: number): void {
    appendListKey(this.#keys, prefix);
    this.#addLast(prefix.length, id);
  }

  /** Like `add`; returns the size of the prefix in bytes. */
  addValue(property: StoredProperty, value: Scalar | ScalarList, id: number): number {
    const start = this.#keys.length;
    appendValueKey(this.#keys, property, value);
    const size = this.#keys.length - start - idBytes;
    this.#addLast(size, id);
    return size;
  }

  /** Adds the entry of the last key, whose prefix has `size` bytes. */
  #addLast(size: number, id: number): void {
    const at = this.#count++;
    if (at === this.#ids.length) {
      this.#ids = doubled(this.#ids);
      this.#starts = doubled(this.#starts);
    }
    this.#ids[at] = id;
    if (at === 0) this.#common = size;
    else {
      this.#isAscending &&= this.#ids[at - 1]! < id;
      const { bytes } = this.#keys;
      const start = this.#starts[at]!;
      const limit = Math.min(this.#common, size);
      let same = 0;
      while (same < limit && bytes[same] === bytes[start + same]) same++;
      this.#common = same;
    }
    this.#starts[at + 1] = this.#keys.length;
  }

  /**
   * Calls `give` for each value, by ascending key of its list, and clears the buffer. The ids ascend and are
   * valid during the call.
   */
  take(give: (key: Uint8Array, ids: Uint32Array) => void): void {
    const order = this.#order();
    const { bytes } = this.#keys;
    const ids = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) ids[i] = this.#ids[order[i]!]!;
    for (let at = 0; at < order.length; ) {
      const first = at++;
      const start = this.#starts[order[first]!]!;
      const end = this.#starts[order[first]! + 1]!;
      while (at < order.length && this.#compare(order[at]!, order[first]!) === 0) at++;
      give(bytes.subarray(start, end), ids.subarray(first, at));
    }
    this.#count = 0;
    this.#keys.length = 0;
    this.#isAscending = true;
  }

  /**
   * Returns the positions of the entries by key, those of equal keys by id. The first eight bytes after the
   * shared prefix decide nearly always.
   */
  #order(): Uint32Array {
    const count = this.#count;
    if (count <= few) return this.#orderOfFew(count);
    let order = new Uint32Array(count);
    for (let at = 0; at < count; at++) order[at] = at;
    if (!this.#isAscending) order = this.#sorted(order, (index) => this.#ids[index]!);
    order = this.#sorted(order, (index) => this.#word(index, 4));
    order = this.#sorted(order, (index) => this.#word(index, 0));
    this.#sortTies(order);
    return order;
  }

  #orderOfFew(count: number): Uint32Array {
    const order = new Uint32Array(count);
    const ids = this.#ids;
    for (let at = 1; at < count; at++) {
      let index = at;
      for (; index > 0; index--) {
        const before = order[index - 1]!;
        if ((this.#compare(before, at) || ids[before]! - ids[at]!) < 0) break;
        order[index] = before;
      }
      order[index] = at;
    }
    return order;
  }

  #sorted(order: Uint32Array<ArrayBuffer>, wordOf: (index: number) => number): typeof order {
    const words = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) words[i] = wordOf(order[i]!);
    const permutation = orderOf(words, words.length);
    for (let i = 0; i < order.length; i++) words[i] = order[permutation[i]!]!;
    return words;
  }

  /** Returns four bytes of a key after the shared prefix, padded with zeros. */
  #word(index: number, from: number): number {
    const end = this.#starts[index + 1]!;
    const { bytes } = this.#keys;
    const at = this.#starts[index]! + this.#common + from;
    let word = 0;
    for (let i = at; i < at + 4; i++) word = (word << 8) | (i < end ? bytes[i]! : 0);
    return word >>> 0;
  }

  /** Sorts keys that are equal in those eight bytes. */
  #sortTies(order: Uint32Array): void {
    const isTied = (a: number, b: number): boolean =>
      this.#word(a, 0) === this.#word(b, 0) && this.#word(a, 4) === this.#word(b, 4);
    for (let at = 0; at < order.length; ) {
      const first = at++;
      let isSame = true;
      for (; at < order.length && isTied(order[at]!, order[first]!); at++) {
        isSame &&= this.#compare(order[at]!, order[first]!) === 0;
      }
      if (isSame) continue;
      const byId = this.#ids;
      order.subarray(first, at).sort((a, b) => this.#compare(a, b) || byId[a]! - byId[b]!);
    }
  }

  #compare(a: number, b: number): number {
    const { bytes } = this.#keys;
    const [startOfA, startOfB] = [this.#starts[a]!, this.#starts[b]!];
    const [sizeOfA, sizeOfB] = [this.#starts[a + 1]! - startOfA, this.#starts[b + 1]! - startOfB];
    const limit = Math.min(sizeOfA, sizeOfB);
    for (let i = Math.min(this.#common, limit); i < limit; i++) {
      const difference = bytes[startOfA + i]! - bytes[startOfB + i]!;
      if (difference !== 0) return difference;
    }
    return sizeOfA - sizeOfB;
  }
}

/** Entries of several indexes. */
export class IndexEntryBuffer {
  readonly #groups = new Map<number, EntryGroups>();

  add(indexId: number, prefix: Uint8Array, id: number): void {
    this.#of(indexId).add(prefix, id);
  }

  /** Like `add`; returns the size of the prefix in bytes. */
  addValue(property: StoredProperty, value: Scalar | ScalarList, id: number): number {
    return this.#of(property.indexId).addValue(property, value, id);
  }

  #of(indexId: number): EntryGroups {
    let groups = this.#groups.get(indexId);
    if (groups === undefined) this.#groups.set(indexId, (groups = new EntryGroups()));
    return groups;
  }

  /** Gives out the entries of one index, or of all, as `EntryGroups.take` does. */
  take(give: (indexId: number, key: Uint8Array, ids: Uint32Array) => void, only?: number): void {
    for (const [indexId, groups] of this.#groups) {
      if ((only !== undefined && indexId !== only) || groups.isEmpty) continue;
      groups.take((key, ids) => give(indexId, key, ids));
    }
  }
}
