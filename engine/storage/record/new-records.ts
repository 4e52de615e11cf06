// Records of elements that a load adds, and the entries of their uuids, written a few hundred at a
// time, table by table: puts that follow each other in one table find its last pages at hand.
import { assert } from '../../base/assert.js';
import type { Env } from '../table/env.js';
import { uuidAt } from './record.js';

const roomFor = 512;

export class NewRecords {
  #bytes: Uint8Array = new Uint8Array(0);
  /** [start, end] in the bytes, of elements whose ids follow each other. */
  readonly #places = new Uint32Array(2 * roomFor);
  #count = 0;
  #firstId = 0;
  readonly #uuid = new Uint8Array(16);

  constructor(private readonly env: Env) {}

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
    this.#count = 0;
    for (let i = 0; i < count; i++) {
      const at = places[2 * i]! + uuidAt.own;
      for (let j = 0; j < 16; j++) key[j] = bytes[at + j]!;
      // Ids of our own rise past all others, unless rows brought some that are ahead of the clock.
      if (!uuid.appendWord(key, first + i)) uuid.putWord(key, first + i);
    }
    for (let i = 0; i < count; i++) {
      const isLast = records.appendPart(first + i, bytes, places[2 * i]!, places[2 * i + 1]!);
      assert(isLast, 'new ids are above all others');
    }
  }
}
