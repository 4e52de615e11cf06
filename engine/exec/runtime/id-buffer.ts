// A growing array of dense ids, which graph steps fill and pass on.
import { newIds } from '../../base/u32-array.js';

const none = new Uint32Array(0);
const firstLength = 32;

export class IdBuffer {
  #ids: Uint32Array = none;
  length = 0;

  push(id: number): void {
    if (this.length === this.#ids.length) this.#grow(1);
    this.#ids[this.length++] = id;
  }

  append(ids: Uint32Array): void {
    if (this.length + ids.length > this.#ids.length) this.#grow(ids.length);
    this.#ids.set(ids, this.length);
    this.length += ids.length;
  }

  #grow(count: number): void {
    const grown = newIds(Math.max(this.length + count, this.#ids.length * 2, firstLength));
    if (this.length > 0) grown.set(this.#ids.subarray(0, this.length));
    this.#ids = grown;
  }

  /**
   * Returns the content, which the caller copies to keep it beyond the request. Afterwards, the buffer is
   * empty and shares no element with it.
   */
  take(): Uint32Array {
    const ids = this.#ids.subarray(0, this.length);
    this.#ids = none;
    this.length = 0;
    return ids;
  }
}
