// What the open transaction of a database in a cluster has put and removed: the last state of every key
// it touched, in the order of the first touch. Later puts of a key replace earlier ones, so that what a
// failed request undoes cancels out by itself. Invariant: values are copies; whoever put them may
// write into theirs again.
import { ByteWriter } from '../../base/bytes.js';

/** Called for each key; `value` undefined: it was removed. Both are valid during the call. */
export type VisitChange = (table: number, key: Uint8Array, value: Uint8Array | undefined) => void;

/** Of a key that is gone. */
const removed = -1;

/** A larger memory is given back after the transaction that needed it. */
const keptBytes = 16 * 1024 * 1024;

export class WriteSet {
  /** Number of the table and bytes of the key, one character each, to a place in the lists. */
  readonly #places = new Map<string, number>();
  #starts: number[] = [];
  #sizes: number[] = [];
  #values = new ByteWriter();
  readonly #key = Buffer.alloc(4096);
  #isOn = true;

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** Of what was put, earlier states of a key included. */
  get bytes(): number {
    return this.#values.length;
  }

  /** Where a key is written to be noted next; longer than any that LMDB takes. */
  get keyBytes(): Uint8Array {
    return this.#key;
  }

  /** Notes the part `start` to `end` of a value under the key of `size` bytes in `keyBytes`. */
  put(table: number, size: number, value: Uint8Array, start = 0, end = value.length): void {
    if (!this.#isOn) return;
    const place = this.#placeOf(table, size);
    this.#starts[place] = this.#values.length;
    this.#sizes[place] = end - start;
    this.#values.append(value, start, end);
  }

  remove(table: number, size: number): void {
    if (this.#isOn) this.#sizes[this.#placeOf(table, size)] = removed;
  }

  #placeOf(table: number, size: number): number {
    const name = String.fromCharCode(table) + this.#key.toString('latin1', 0, size);
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(name, place);
    return place;
  }

  /** Runs work whose puts stay on this node. */
  unrecorded<T>(work: () => T): T {
    const before = this.#isOn;
    this.#isOn = false;
    try {
      return work();
    } finally {
      this.#isOn = before;
    }
  }

  each(visit: VisitChange): void {
    const { bytes } = this.#values;
    for (const [name, place] of this.#places) {
      const key = Buffer.from(name, 'latin1');
      const size = this.#sizes[place]!;
      const start = this.#starts[place] ?? 0;
      const value = size === removed ? undefined : bytes.subarray(start, start + size);
      visit(key[0]!, key.subarray(1), value);
    }
  }

  /** The transaction is over. */
  clear(): void {
    this.#places.clear();
    this.#starts = [];
    this.#sizes = [];
    if (this.#values.bytes.length > keptBytes) this.#values = new ByteWriter();
    this.#values.length = 0;
  }
}
