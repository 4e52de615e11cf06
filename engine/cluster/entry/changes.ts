// Encodes and decodes the body of a changes entry: the last state of every key that a transaction changed,
// ordered by the first change. Values have no table checksum, because each node adds its own.
//
//   key size u16 · table u8 · key · value size u32 (0xffffffff: removed) · value
import { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';

const removed = 0xffffffff;

/** Writes a body. `take` returns the body and resets the writer. */
export class ChangeWriter {
  readonly #bytes = new ByteWriter();

  get size(): number {
    return this.#bytes.length;
  }

  /** Adds a change. `value` is undefined when the key was removed. */
  put(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
    const { length } = key;
    this.#bytes.byte(length & 255);
    this.#bytes.byte(length >>> 8);
    this.#bytes.byte(table);
    this.#bytes.append(key);
    const size = value === undefined ? removed : value.length;
    for (let shift = 0; shift < 32; shift += 8) this.#bytes.byte((size >>> shift) & 255);
    if (value !== undefined) this.#bytes.append(value);
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.take();
  }
}

/**
 * Calls `visit` for every change, in order. Keys and values are views into `body`. Fails LOG_LOST at the
 * first malformed byte; changes after that byte are not visited.
 */
export function eachChange(
  body: Uint8Array,
  visit: (table: number, key: Uint8Array, value: Uint8Array | undefined) => void,
): void {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let at = 0;
  /** Returns the offset of the next `count` bytes and skips them. Fails when the body is shorter. */
  const take = (count: number): number => {
    const start = at;
    at += count;
    if (at > body.length) fail('LOG_LOST', { what: `a change ends beyond its entry` });
    return start;
  };
  while (at < body.length) {
    const size = view.getUint16(take(3), true);
    const table = body[at - 1]!;
    const key = body.subarray(take(size), at);
    const length = view.getUint32(take(4), true);
    visit(table, key, length === removed ? undefined : body.subarray(take(length), at));
  }
}
