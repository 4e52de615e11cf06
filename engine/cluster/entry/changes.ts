// The body of an entry of changes: the last state of every key that a transaction touched, in the
// order of the first touch. Values come without the checksum of the table: each node seals its own.
//
//   key size u16 · table u8 · key · value size u32 (0xffffffff: removed) · value
import { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';

const removed = 0xffffffff;

/** Writes a body; `take` hands it out and starts afresh. */
export class ChangeWriter {
  readonly #bytes = new ByteWriter();

  get size(): number {
    return this.#bytes.length;
  }

  /** `value` undefined: the key was removed. */
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
 * Calls `visit` for every change, in order; keys and values lie in `body`. Fails LOG_LOST where it is not
 * drawn as above, before anything behind that place.
 */
export function eachChange(
  body: Uint8Array,
  visit: (table: number, key: Uint8Array, value: Uint8Array | undefined) => void,
): void {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let at = 0;
  /** The place where `count` bytes begin that are all there. */
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
