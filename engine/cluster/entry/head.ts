// Defines the layout of a message in the replicated log. A message is a head and a part of a body. The head
// takes 64 bytes, or 104 bytes when the message is signed. Integers are little-endian.
// Invariant: a reader checks every byte of a head, or the byte is hashed into the chain, so that every change
// is detected.
//
//   at  field
//    0  `TLE1`, `TLE2`      the last character is the layout version: 2 is signed
//    4  kind u8, flags u8   kind.ts
//    6  part u16, parts u16 number of this part, and number of parts of the entry
//   10  spare u16
//   12  epoch u32           epoch of the leader that appended the entry
//   16  after f64           sequence of the message before this one
//   24  id, 16 bytes        id of the entry; the id of the message is `id-part`
//   40  chain u64           chain of the entry, in each of its parts (chain.ts)
//   48  time f64            Unix milliseconds of the leader's clock; used for lag only
//   56  crc32 u32           checksum of the part of the body after this head
//   60  crc32 u32           checksum of the head before this field
//   64  key u32             signed messages: id of the key (entry-keys.ts)
//   68  spare u32
//   72  HMAC, 32 bytes      signature over the whole message except this field
import { crc32 } from 'node:zlib';
import { fail } from '../../base/errors.js';
import { chainAt, headBytes, keyAt, macAt, signedHeadBytes, sumAt } from './head-layout.js';

export interface Head {
  /** One of `entryKind`, or a kind that a newer version added. */
  kind: number;
  flags: number;
  part: number;
  parts: number;
  epoch: number;
  after: number;
  id: Uint8Array;
  chain: bigint;
  time: number;
  crc: number;
  /** Id of the signing key. Absent when the message is not signed. */
  key?: number;
}

const magic = 0x454c54;
const plain = 0x31;
const signed = 0x32;

/** Returns the bytes of the head of a message. */
export const headSizeOf = (message: Uint8Array): number =>
  message[3] === signed ? signedHeadBytes : headBytes;

/** Returns the part of the body that a message holds, as a view. */
export const bodyOf = (message: Uint8Array): Uint8Array => message.subarray(headSizeOf(message));

/** Returns the head of a message without its signature, as a view. */
export const unsignedHeadOf = (message: Uint8Array): Uint8Array =>
  message.subarray(0, Math.min(headSizeOf(message), macAt));

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Writes the head to the beginning of `message`. */
export function writeHead(message: Uint8Array, head: Head): void {
  const view = viewOf(message);
  const version = head.key === undefined ? plain : signed;
  message.set([0x54, 0x4c, 0x45, version, head.kind, head.flags]);
  view.setUint16(6, head.part, true);
  view.setUint16(8, head.parts, true);
  view.setUint16(10, 0);
  view.setUint32(12, head.epoch, true);
  view.setFloat64(16, head.after, true);
  message.set(head.id, 24);
  view.setBigUint64(chainAt, head.chain, true);
  view.setFloat64(48, head.time, true);
  view.setUint32(56, head.crc, true);
  if (head.key !== undefined) view.setUint32(keyAt, head.key, true);
  sealHead(message);
}

/** Writes the checksum of the head. All other fields must be complete. */
export function sealHead(message: Uint8Array): void {
  viewOf(message).setUint32(sumAt, crc32(message.subarray(0, sumAt)), true);
}

/**
 * Reads the head. Fails LOG_LOST when the bytes are no head, FORMAT_TOO_NEW when the layout version is newer.
 */
export function readHead(message: Uint8Array, seq: number): Head {
  if (message.length < headBytes || (viewOf(message).getUint32(0, true) & 0xffffff) !== magic)
    fail('LOG_LOST', { what: `message ${seq} is not an entry of a TrellisDB log` });
  if (message[3] !== plain && message[3] !== signed)
    fail('FORMAT_TOO_NEW', { found: String.fromCharCode(message[3]!), known: 2 });
  const view = viewOf(message);
  if (view.getUint32(sumAt, true) !== crc32(message.subarray(0, sumAt)))
    fail('LOG_LOST', { what: `the head of message ${seq} is damaged` });
  const isSigned = message[3] === signed;
  if (isSigned && message.length < signedHeadBytes)
    fail('LOG_LOST', { what: `message ${seq} is cut short` });
  return {
    kind: message[4]!,
    flags: message[5]!,
    part: view.getUint16(6, true),
    parts: view.getUint16(8, true),
    epoch: view.getUint32(12, true),
    after: view.getFloat64(16, true),
    id: message.subarray(24, 40),
    chain: view.getBigUint64(chainAt, true),
    time: view.getFloat64(48, true),
    crc: view.getUint32(56, true),
    ...(isSigned && { key: view.getUint32(keyAt, true) }),
  };
}
