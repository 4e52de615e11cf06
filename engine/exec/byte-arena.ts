// Private copies of short-lived byte strings, many to one allocation: a copy of its own for every record would cost three times
// the read. A chunk lives as long as any copy in it; the copies of one execution die together.

const firstChunk = 2 * 1024;
const lastChunk = 256 * 1024;

export class ByteArena {
  #chunk = new Uint8Array(0);
  #used = 0;
  #size = firstChunk;

  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    if (this.#used + length > this.#chunk.length) this.#grow(length);
    const start = this.#used;
    this.#used += length;
    this.#chunk.set(bytes, start);
    return this.#chunk.subarray(start, this.#used);
  }

  #grow(length: number): void {
    this.#chunk = new Uint8Array(Math.max(length, this.#size));
    this.#used = 0;
    this.#size = Math.min(this.#size * 4, lastChunk);
  }
}
