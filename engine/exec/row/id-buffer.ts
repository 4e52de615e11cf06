// A growing array of dense ids: what graph steps fill and hand on.

export class IdBuffer {
  #ids = new Uint32Array(64);
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
    const grown = new Uint32Array(Math.max(this.length + count, this.#ids.length * 2));
    grown.set(this.#ids.subarray(0, this.length));
    this.#ids = grown;
  }

  /** The content; the buffer is empty afterwards and no longer shares memory with it. */
  take(): Uint32Array {
    const ids = this.#ids.subarray(0, this.length);
    this.#ids = new Uint32Array(64);
    this.length = 0;
    return ids;
  }
}
