// Reads and writes little-endian u32 words in stored values.

/** Reads a u32; `at` need not be aligned. */
export function getWord(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  );
}

export function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Copies the u32 words of bytes [start, bytes.length) to `target`, from its index `to` on. */
export function copyWords(bytes: Uint8Array, start: number, target: Uint32Array, to: number): void {
  const count = (bytes.length - start) >>> 2;
  const offset = bytes.byteOffset + start;
  if (count <= 32 || (offset & 3) !== 0) {
    for (let i = 0; i < count; i++) target[to + i] = getWord(bytes, start + 4 * i);
  } else {
    target.set(new Uint32Array(bytes.buffer, offset, count), to);
  }
}

/** Concatenates the arrays. */
export function joinWords(parts: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
