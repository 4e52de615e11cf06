// Splits a stream of bytes into messages of the Language Server Protocol: a header with a length, and JSON.

const separator = '\r\n\r\n';
/** Maximum bytes of a message. A file has at most 1 MiB. */
const bytesMax = 64 * 1024 * 1024;

/** Splits the input into messages. A message that is not JSON is `undefined`. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  /**
   * Returns the messages that are complete. Fails with a RangeError if the stream has no valid header.
   */
  push(bytes: Uint8Array): unknown[] {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    const messages: unknown[] = [];
    for (;;) {
      const head = this.#pending.indexOf(separator);
      if (head < 0) {
        if (this.#pending.length > 4096) throw new RangeError('a header has no end');
        return messages;
      }
      const length = lengthIn(this.#pending.toString('latin1', 0, head));
      const start = head + separator.length;
      if (this.#pending.length < start + length) return messages;
      messages.push(parse(this.#pending.toString('utf8', start, start + length)));
      this.#pending = this.#pending.subarray(start + length);
    }
  }
}

function lengthIn(header: string): number {
  const length = Number(/^content-length: *(\d{1,12}) *$/im.exec(header)?.[1] ?? Number.NaN);
  if (!(length <= bytesMax)) throw new RangeError('a message has no length');
  return length;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function frameOf(message: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(text)}${separator}${text}`;
}
