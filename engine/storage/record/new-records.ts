// Buffers the records of elements that a load or a request adds, and the entries of their uuids. Writes them
// in batches, table by table: consecutive puts into one table find its last pages in the cache.
import { assert } from '../../base/assert.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import { kindOf, uuidAt } from './record.js';

const capacity = 512;

export class RecordBuffer {
  #bytes: Uint8Array = new Uint8Array(0);
  /** [start, end] in the bytes, of elements with consecutive ids. */
  readonly #ranges = new Uint32Array(2 * capacity);
  #count = 0;
  #firstId = 0;
  readonly #uuid = new Uint8Array(16);

  /** `log`: records the undo steps. */
  constructor(
    private readonly env: Env,
    private readonly log?: UndoLog,
  ) {}

  /**
   * Adds a complete record, followed by space for a checksum. Its id is one above the last one. The bytes
   * must not change until `flush`.
   */
  add(id: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#count === capacity || bytes !== this.#bytes) this.flush();
    if (this.#count === 0) {
      this.#firstId = id;
      this.#bytes = bytes;
    }
    assert(id === this.#firstId + this.#count, 'new ids follow each other');
    this.#ranges[2 * this.#count] = start;
    this.#ranges[2 * this.#count + 1] = end;
    this.#count++;
  }

  /** Whether the buffer must be flushed before the next `add`. */
  get isFull(): boolean {
    return this.#count === capacity;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Returns a buffered record without a copy, valid until `flush`. */
  peek(id: number): Uint8Array {
    const at = 2 * (id - this.#firstId);
    return this.#bytes.subarray(this.#ranges[at], this.#ranges[at + 1]);
  }

  /** Whether the record of an element is buffered. */
  has(id: number): boolean {
    return id >= this.#firstId && id < this.#firstId + this.#count;
  }

  /** Writes all buffered records. */
  flush(): void {
    const count = this.#count;
    const ranges = this.#ranges;
    const bytes = this.#bytes;
    const first = this.#firstId;
    const { uuid, records } = this.env;
    const key = this.#uuid;
    if (count > 0) this.log?.made(this.#undoing());
    this.#count = 0;
    for (let i = 0; i < count; i++) {
      const at = ranges[2 * i]! + uuidAt.own;
      for (let j = 0; j < 16; j++) key[j] = bytes[at + j]!;
      // Generated ids ascend above all others, unless a load brought uuids that are ahead of the clock.
      if (!uuid.appendWord(key, first + i)) uuid.putWord(key, first + i);
      // Later lookups are more often of endpoints than of edges.
      if (kindOf(bytes, ranges[2 * i]!) !== 'edge') uuid.remember(key, first + i);
    }
    for (let i = 0; i < count; i++) {
      const isLast = records.appendPart(first + i, bytes, ranges[2 * i]!, ranges[2 * i + 1]!);
      assert(isLast, 'new ids are above all others');
    }
  }

  /** Returns a function that removes the records that are about to be written. */
  #undoing(): () => void {
    const { env } = this;
    const first = this.#firstId;
    const count = this.#count;
    const uuids = new Uint8Array(16 * count);
    for (let i = 0; i < count; i++) {
      const at = this.#ranges[2 * i]! + uuidAt.own;
      for (let j = 0; j < 16; j++) uuids[16 * i + j] = this.#bytes[at + j]!;
    }
    return () => {
      for (let i = count - 1; i >= 0; i--) {
        env.records.remove(first + i);
        env.uuid.remove(uuids.subarray(16 * i, 16 * i + 16));
      }
    };
  }
}
