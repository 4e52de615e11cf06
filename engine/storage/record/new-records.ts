// Records of elements that a load or a request adds, and the entries of their uuids, written a few
// hundred at a time, table by table: puts that follow each other in one table find its last pages at hand.
import { assert } from '../../base/assert.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import { kindOf, uuidAt } from './record.js';

const roomFor = 512;

export class NewRecords {
  #bytes: Uint8Array = new Uint8Array(0);
  /** [start, end] in the bytes, of elements whose ids follow each other. */
  readonly #places = new Uint32Array(2 * roomFor);
  #count = 0;
  #firstId = 0;
  readonly #uuid = new Uint8Array(16);

  /** `log`: notes what undoes what is written. */
  constructor(
    private readonly env: Env,
    private readonly log?: UndoLog,
  ) {}

  /**
   * Adds a complete record that has room for a checksum behind it; its id follows that of the one
   * before. The bytes must stay as they are until `flush`.
   */
  add(id: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#count === roomFor || bytes !== this.#bytes) this.flush();
    if (this.#count === 0) {
      this.#firstId = id;
      this.#bytes = bytes;
    }
    assert(id === this.#firstId + this.#count, 'new ids follow each other');
    this.#places[2 * this.#count] = start;
    this.#places[2 * this.#count + 1] = end;
    this.#count++;
  }

  /** What is added next is written first of all. */
  get isFull(): boolean {
    return this.#count === roomFor;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** The record of an element that waits to be written, without a copy: until it is. */
  peek(id: number): Uint8Array {
    const at = 2 * (id - this.#firstId);
    return this.#bytes.subarray(this.#places[at], this.#places[at + 1]);
  }

  /** Whether the record of an element waits to be written. */
  has(id: number): boolean {
    return id >= this.#firstId && id < this.#firstId + this.#count;
  }

  /** Writes what was added. */
  flush(): void {
    const count = this.#count;
    const places = this.#places;
    const bytes = this.#bytes;
    const first = this.#firstId;
    const { uuid, records } = this.env;
    const key = this.#uuid;
    if (count > 0) this.log?.made(this.#undoing());
    this.#count = 0;
    for (let i = 0; i < count; i++) {
      const at = places[2 * i]! + uuidAt.own;
      for (let j = 0; j < 16; j++) key[j] = bytes[at + j]!;
      // Ids of our own rise past all others, unless rows brought some that are ahead of the clock.
      if (!uuid.appendWord(key, first + i)) uuid.putWord(key, first + i);
      // Edges are asked for less than what they join.
      if (kindOf(bytes, places[2 * i]!) !== 'edge') uuid.remember(key, first + i);
    }
    for (let i = 0; i < count; i++) {
      const isLast = records.appendPart(first + i, bytes, places[2 * i]!, places[2 * i + 1]!);
      assert(isLast, 'new ids are above all others');
    }
  }

  /** What takes away what is about to be written. */
  #undoing(): () => void {
    const { env } = this;
    const first = this.#firstId;
    const count = this.#count;
    const uuids = new Uint8Array(16 * count);
    for (let i = 0; i < count; i++) {
      const at = this.#places[2 * i]! + uuidAt.own;
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
