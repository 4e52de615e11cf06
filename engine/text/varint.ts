// Unsigned 32-bit numbers in one to five bytes: seven bits each, lowest first, with the high bit set on all
// but the last byte.
import type { ByteWriter } from '../base/bytes.js';

export function putVarint(writer: ByteWriter, value: number): void {
  while (value > 127) {
    writer.byte((value & 127) | 128);
    value >>>= 7;
  }
  writer.byte(value);
}

/** Reads numbers in sequence. `at` is the offset of the next one. */
export class VarintReader {
  at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isDone(): boolean {
    return this.at >= this.bytes.length;
  }

  next(): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[this.at++]!;
      value |= (byte & 127) << shift;
    }
    return value >>> 0;
  }

  /** Reads a big-endian u32. */
  word(): number {
    const { bytes, at } = this;
    this.at = at + 4;
    const word =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    return word >>> 0;
  }
}
