// Encodes the position at which a page ended as text. It contains the sort values of the last row, not a row
// id, so that it stays valid when the row is deleted. Any input text is either decoded as a position or
// refused; nothing in it is trusted.
//
//   base64url of: version u8 · 4 bytes of SHA-256 over the order · each key · 16 bytes of the id ·
//   CRC-32C of all before it, u32
//   a key: tag u8 · length u16 · bytes (little endian; strings as UTF-8, integers beyond 2^53 as digits)
import { createHash } from 'node:crypto';
import { excerpt, fail } from '../../base/errors.js';
import { parseUuid, printUuid } from '../../base/id.js';
import { Instant, Uuid } from '../../base/value.js';
import type { Frame } from '../runtime/frame.js';
import { isListValue, type Value } from '../runtime/value.js';

export interface Position {
  keys: readonly Value[];
  id: string;
}

const version = 1;
const headBytes = 5;
const idBytes = 16;
const sumBytes = 4;

const tags = {
  null: 0,
  false: 1,
  true: 2,
  number: 3,
  integer: 4,
  text: 5,
  date: 6,
  id: 7,
  list: 8,
};

export function fingerprintOf(order: string): Uint8Array {
  return createHash('sha256')
    .update(order)
    .digest()
    .subarray(0, headBytes - 1);
}

/** Fails INDEX_KEY_TOO_LONG for a key that no index could store. */
export function writePosition(
  frame: Frame,
  { keys, id }: Position,
  fingerprint: Uint8Array,
): string {
  const max = frame.context.limits.index_key_bytes;
  const written = keys.map((key) => {
    const bytes = writeKey(key);
    if (bytes.length <= max + 3) return bytes;
    return fail('INDEX_KEY_TOO_LONG', { property: 'a key of PAGE', max, size: bytes.length - 3 });
  });
  const bytes = Buffer.concat([Buffer.of(version), fingerprint, ...written, parseUuid(id)!]);
  const sum = Buffer.alloc(sumBytes);
  sum.writeUInt32LE(crc32c(bytes));
  return Buffer.concat([bytes, sum]).toString('base64url');
}

function writeKey(value: Value): Buffer {
  const [tag, bytes] = bytesOf(value);
  const head = Buffer.alloc(3);
  head[0] = tag;
  // The caller refuses a length that does not fit.
  head.writeUInt16LE(Math.min(bytes.length, 0xffff), 1);
  return Buffer.concat([head, bytes]);
}

function bytesOf(value: Value): [tag: number, bytes: Buffer] {
  const none = Buffer.alloc(0);
  if (typeof value === 'boolean') return [value ? tags.true : tags.false, none];
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return [tags.number, bytes];
  }
  if (typeof value === 'bigint') return [tags.integer, Buffer.from(String(value))];
  if (typeof value === 'string') return [tags.text, Buffer.from(value)];
  if (value instanceof Instant) {
    const bytes = Buffer.alloc(12);
    bytes.writeDoubleLE(value.seconds);
    bytes.writeUInt32LE(value.micros, 8);
    return [tags.date, bytes];
  }
  if (value instanceof Uuid) return [tags.id, Buffer.from(parseUuid(value.text)!)];
  if (value !== null && isListValue(value))
    return [tags.list, Buffer.concat(Array.from(value, writeKey))];
  return [tags.null, none];
}

/** Returns undefined for the first page. Fails PARAM_VALUE for text that is no position in this order. */
export function readPosition(
  value: Value,
  fingerprint: Uint8Array,
  keyCount: number,
): Position | undefined {
  if (value === null) return undefined;
  const found = typeof value === 'string' ? read(value, fingerprint, keyCount) : undefined;
  if (found !== undefined) return found;
  const allowed = '`next` of a page of this query';
  return fail('PARAM_VALUE', { param: 'after', allowed, got: excerpt(JSON.stringify(value)) });
}

function read(text: string, fingerprint: Uint8Array, keyCount: number): Position | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const end = bytes.length - sumBytes - idBytes;
  // Accept only what `writePosition` writes: the decoder skips other characters.
  if (end < headBytes || bytes.toString('base64url') !== text) return undefined;
  if (crc32c(bytes.subarray(0, -sumBytes)) !== bytes.readUInt32LE(end + idBytes)) return undefined;
  if (bytes[0] !== version || !bytes.subarray(1, headBytes).equals(fingerprint)) return undefined;
  const keys = readKeys(bytes.subarray(headBytes, end));
  return keys?.length === keyCount ? { keys, id: printUuid(bytes, end) } : undefined;
}

/** Returns undefined when the bytes are no keys. A key may be a list when lists contain lists. */
function readKeys(bytes: Buffer, isInList = false): Value[] | undefined {
  const keys: Value[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 3 > bytes.length) return undefined;
    const length = bytes.readUInt16LE(at + 1);
    const part = bytes.subarray(at + 3, at + 3 + length);
    const key = part.length < length ? undefined : readKey(bytes[at]!, part, isInList);
    if (key === undefined) return undefined;
    keys.push(key);
    at += 3 + length;
  }
  return keys;
}

function readKey(tag: number, bytes: Buffer, isInList: boolean): Value | undefined {
  const { length } = bytes;
  switch (tag) {
    case tags.null:
      return length === 0 ? null : undefined;
    case tags.false:
    case tags.true:
      return length === 0 ? tag === tags.true : undefined;
    case tags.number: {
      const number = length === 8 ? bytes.readDoubleLE() : Number.NaN;
      return Number.isFinite(number) ? number : undefined;
    }
    case tags.integer:
      return /^-?\d{1,40}$/.test(bytes.toString()) ? BigInt(bytes.toString()) : undefined;
    case tags.text:
      return bytes.toString();
    case tags.date: {
      const seconds = length === 12 ? bytes.readDoubleLE() : Number.NaN;
      if (!Number.isSafeInteger(seconds)) return undefined;
      return new Instant(seconds, bytes.readUInt32LE(8));
    }
    case tags.id:
      return length === idBytes ? new Uuid(printUuid(bytes)) : undefined;
    case tags.list:
      return isInList ? undefined : readKeys(bytes, true);
    default:
      return undefined;
  }
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0x82f63b78 : 0);
  return rest;
});

/** RFC 3720, B.4. */
function crc32c(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ crcTable[(sum ^ byte) & 255]!;
  return (sum ^ 0xffffffff) >>> 0;
}
