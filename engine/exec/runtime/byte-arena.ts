// Copies short-lived byte strings into chunks. One allocation per record would cost twice the read. A chunk
// lives as long as any copy in it, and copies live no longer than the execution that made them.

const chunkBytes = 64 * 1024;

export class ByteArena {
  #chunk = new Uint8Array(chunkBytes);
  #used = 0;

  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    if (length > chunkBytes / 4) return bytes.slice();
    if (this.#used + length > chunkBytes) {
      this.#chunk = new Uint8Array(chunkBytes);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    this.#chunk.set(bytes, start);
    return this.#chunk.subarray(start, this.#used);
  }
}
