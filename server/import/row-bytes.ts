// A growing buffer of printed rows.

const encoder = new TextEncoder();
const quote = 0x22;

export class RowBytes {
  #bytes = new Uint8Array(1 << 20);
  length = 0;

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
    this.length = at;
  }

  /** Writes a string as JSON. Returns false and writes nothing if a byte needs an escape. */
  plainText(source: Uint8Array, start: number, end: number): boolean {
    for (let at = start; at < end; at++) {
      const byte = source[at]!;
      if (byte < 0x20 || byte === quote || byte === 0x5c) return false;
    }
    this.byte(quote);
    this.copy(source, start, end);
    this.byte(quote);
    return true;
  }

  /** Writes an integer. Returns false and writes nothing if the digits are not a JSON integer. */
  integer(source: Uint8Array, start: number, end: number): boolean {
    let at = source[start] === 0x2d ? start + 1 : start;
    if (at === end || (source[at] === 0x30 && at + 1 < end)) return false;
    for (; at < end; at++) if (source[at]! < 0x30 || source[at]! > 0x39) return false;
    this.copy(source, start, end);
    return true;
  }

  text(text: string): void {
    this.#reserve(3 * text.length);
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) {
        this.length += encoder.encodeInto(text, bytes.subarray(this.length)).written;
        return;
      }
      bytes[at++] = code;
    }
    this.length = at;
  }

  /** Returns the printed bytes and empties the buffer. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }
}
