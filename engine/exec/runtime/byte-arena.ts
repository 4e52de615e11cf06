// Copies short byte strings into chunks. One allocation per record would cost twice the read. A chunk lives
// as long as any copy in it.

/** Up to this length, a loop is faster than `set`, which needs a view of the bytes. */
const loopBytes = 128;

export class ByteArena {
  #chunk: Uint8Array;
  #used = 0;

  constructor(private readonly chunkBytes = 64 * 1024) {
    this.#chunk = new Uint8Array(chunkBytes);
  }

  /** Returns a copy of the first `length` bytes. */
  copy(bytes: Uint8Array, length = bytes.length): Uint8Array {
    if (length > this.chunkBytes / 4) return bytes.slice(0, length);
    if (this.#used + length > this.chunkBytes) {
      this.#chunk = new Uint8Array(this.chunkBytes);
      this.#used = 0;
    }
    const chunk = this.#chunk;
    const start = this.#used;
    this.#used += length;
    if (length <= loopBytes) for (let i = 0; i < length; i++) chunk[start + i] = bytes[i]!;
    else chunk.set(length === bytes.length ? bytes : bytes.subarray(0, length), start);
    return chunk.subarray(start, this.#used);
  }
}
