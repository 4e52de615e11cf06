// The one drawing of what stands in the replicated log: a message is a head of 64 bytes and a part of
// a body; where it is signed, of 104. Integers are little-endian. Invariant: every byte of a head is either checked by
// a reader or hashed into the chain, so that no change of one goes unseen.
//
//   at  field
//    0  `TLE1`, `TLE2`      the last character is the version of this drawing: 2 is signed
//    4  kind u8, flags u8   kind.ts
//    6  part u16, parts u16 which part of the entry this is, and how many there are
//   10  spare u16
//   12  epoch u32           of the leader that appended it
//   16  after f64           sequence of the message before this one
//   24  id, 16 bytes        of the entry; the id of the message is `id-part`
//   40  chain u64           of the entry, in each of its parts (chain.ts)
//   48  time f64            Unix milliseconds of the leader's clock: for lag, decides nothing
//   56  crc32 u32           of the part of the body behind this head
//   60  crc32 u32           of the head before it
//   64  key u32             of a signed one: by which key (entry-keys.ts)
//   68  spare u32
//   72  HMAC, 32 bytes      of all of the message but itself
import { crc32 } from 'node:zlib';
import { fail } from '../../base/errors.js';
import { chainAt, headBytes, keyAt, macAt, signedHeadBytes, sumAt } from './head-layout.js';

export interface Head {
  /** One of `entryKind`, or of a newer version. */
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
  /** Of the signature; undefined: it has none. */
  key?: number;
}

const magic = 0x454c54;
const plain = 0x31;
const signed = 0x32;

/** Bytes of the head of a message. */
export const headSizeOf = (message: Uint8Array): number =>
  message[3] === signed ? signedHeadBytes : headBytes;

/** The part of the body that a message holds. */
export const bodyOf = (message: Uint8Array): Uint8Array => message.subarray(headSizeOf(message));

/** What of the head of a message is not its signature. */
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

/** Writes the checksum of the head, when all else of it stands. */
export function sealHead(message: Uint8Array): void {
  viewOf(message).setUint32(sumAt, crc32(message.subarray(0, sumAt)), true);
}

/** Fails LOG_LOST where no head is, FORMAT_TOO_NEW where it is drawn otherwise. */
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
