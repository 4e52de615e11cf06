// A growing byte buffer. Replies are written into it directly, never built as objects or strings
// first.

const encoder = new TextEncoder();

/** Appends bytes, ASCII text and UTF-8 text. `take` returns the content and empties the writer. */
export class ByteWriter {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 4096) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Ensures space for `count` more bytes. Call it before writing to `bytes` directly. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  append(source: Uint8Array, start = 0, end = source.length): void {
    const count = end - start;
    this.reserve(count);
    const { bytes } = this;
    let at = this.length;
    if (count <= 24) {
      for (let i = start; i < end; i++) bytes[at++] = source[i]!;
    } else {
      bytes.set(start === 0 && end === source.length ? source : source.subarray(start, end), at);
    }
    this.length += count;
  }

  /** Appends text that is known to be ASCII: internal names, numbers, UUIDs. */
  ascii(text: string): void {
    const count = text.length;
    this.reserve(count);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < count; i++) bytes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  /** Appends the decimal digits of an integer below 2^32. */
  digits(value: number): void {
    let count = 1;
    for (let power = 10; count < 10 && value >= power; power *= 10) count++;
    this.reserve(count);
    let rest = value;
    for (let at = this.length + count - 1; at >= this.length; at--) {
      const tenth = Math.floor(rest / 10);
      this.bytes[at] = 48 + rest - 10 * tenth;
      rest = tenth;
    }
    this.length += count;
  }

  utf8(text: string): void {
    this.reserve(text.length * 3);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** Returns the content as a copy of exact length and empties the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const result = this.bytes.slice(0, this.length);
    this.length = 0;
    return result;
  }
}
