// The write set of the open transaction, for a database in a cluster: the last state of every changed key, in
// the order of the first change. A later put of a key replaces the earlier one, so the undo of a failed
// request cancels its changes.
// Invariant: values are copies; callers may overwrite theirs.
import { ByteWriter } from '../../base/bytes.js';

/** Called for each key. `value` is undefined for a removed key. Both are valid during the call. */
export type VisitChange = (table: number, key: Uint8Array, value: Uint8Array | undefined) => void;

/** Size of a removed key's value. */
const removed = -1;

/** A buffer above this size is released after the transaction that needed it. */
const retainedBytes = 16 * 1024 * 1024;

export class WriteSet {
  /** Index in the lists below, by the number of the table and the bytes of the key, one character each. */
  readonly #entries = new Map<string, number>();
  #starts: number[] = [];
  #sizes: number[] = [];
  #values = new ByteWriter();
  readonly #key = Buffer.alloc(4096);
  #isOn = true;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Bytes of all puts, including overwritten ones. */
  get bytes(): number {
    return this.#values.length;
  }

  /** Where the caller writes the next key; longer than any key of LMDB. */
  get keyBytes(): Uint8Array {
    return this.#key;
  }

  /** Records bytes [start, end) of a value under the key of `size` bytes in `keyBytes`. */
  put(table: number, size: number, value: Uint8Array, start = 0, end = value.length): void {
    if (!this.#isOn) return;
    const index = this.#indexOf(table, size);
    this.#starts[index] = this.#values.length;
    this.#sizes[index] = end - start;
    this.#values.append(value, start, end);
  }

  remove(table: number, size: number): void {
    if (this.#isOn) this.#sizes[this.#indexOf(table, size)] = removed;
  }

  #indexOf(table: number, size: number): number {
    const name = String.fromCharCode(table) + this.#key.toString('latin1', 0, size);
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const index = this.#entries.size;
    this.#entries.set(name, index);
    return index;
  }

  /** Runs `work` without recording its puts, which stay on this node. */
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
    for (const [name, index] of this.#entries) {
      const key = Buffer.from(name, 'latin1');
      const size = this.#sizes[index]!;
      const start = this.#starts[index] ?? 0;
      const value = size === removed ? undefined : bytes.subarray(start, start + size);
      visit(key[0]!, key.subarray(1), value);
    }
  }

  /** Ends the transaction. */
  clear(): void {
    this.#entries.clear();
    this.#starts = [];
    this.#sizes = [];
    if (this.#values.bytes.length > retainedBytes) this.#values = new ByteWriter();
    this.#values.length = 0;
  }
}
