// Defines where the store keeps the replies of writes with an idempotency key. The keys lie next to other
// derived data that belong to no row (load-key.ts). Each value has a CRC.
//
//   derived key    FF 'i' name(16)     number f64 · when f64 · request(16) · bytes of the reply
//   derived key    FF 'j' number u64   name(16) · when f64 · size of the reply f64
//   derived key    FF 'k'              first number f64 · next number f64 · size of all replies f64
//
// Invariant: a reply is stored under its name if and only if its number is listed.
import { digestBytes } from './idempotency-key.js';

export interface StoredReply {
  number: number;
  when: number;
  request: Uint8Array;
  body: Uint8Array;
}

interface ReplyEntry {
  name: Uint8Array;
  when: number;
  bytes: number;
}

export interface ReplyQueue {
  /** No lower number is listed. */
  first: number;
  next: number;
  bytes: number;
}

const headBytes = 32;

export const answerKey = {
  named(name: Uint8Array): Uint8Array {
    const key = Uint8Array.of(0xff, 0x69, ...new Uint8Array(digestBytes));
    key.set(name, 2);
    return key;
  },
  numbered(number: number): Uint8Array {
    const key = Uint8Array.of(0xff, 0x6a, ...new Uint8Array(8));
    new DataView(key.buffer).setBigUint64(2, BigInt(number));
    return key;
  },
  order: Uint8Array.of(0xff, 0x6b),
  numberIn: (key: Uint8Array): number =>
    Number(new DataView(key.buffer, key.byteOffset).getBigUint64(2)),
} as const;

const floats = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset);

export const storedReply = {
  write({ number, when, request, body }: StoredReply): Uint8Array {
    const bytes = new Uint8Array(headBytes + body.length);
    floats(bytes).setFloat64(0, number, true);
    floats(bytes).setFloat64(8, when, true);
    bytes.set(request, 16);
    bytes.set(body, headBytes);
    return bytes;
  },
  read: (bytes: Uint8Array): StoredReply => ({
    number: floats(bytes).getFloat64(0, true),
    when: floats(bytes).getFloat64(8, true),
    request: bytes.slice(16, headBytes),
    body: bytes.slice(headBytes),
  }),
} as const;

export const replyEntry = {
  write({ name, when, bytes }: ReplyEntry): Uint8Array {
    const value = new Uint8Array(32);
    value.set(name);
    floats(value).setFloat64(16, when, true);
    floats(value).setFloat64(24, bytes, true);
    return value;
  },
  read: (value: Uint8Array): ReplyEntry => ({
    name: value.slice(0, digestBytes),
    when: floats(value).getFloat64(16, true),
    bytes: floats(value).getFloat64(24, true),
  }),
} as const;

export const replyQueue = {
  write({ first, next, bytes }: ReplyQueue): Uint8Array {
    const value = new Uint8Array(24);
    floats(value).setFloat64(0, first, true);
    floats(value).setFloat64(8, next, true);
    floats(value).setFloat64(16, bytes, true);
    return value;
  },
  read(value: Uint8Array | undefined): ReplyQueue {
    if (value === undefined) return { first: 0, next: 0, bytes: 0 };
    const [first, next, bytes] = [0, 8, 16].map((at) => floats(value).getFloat64(at, true));
    return { first: first!, next: next!, bytes: bytes! };
  },
} as const;
