// Encodes an entry as log messages.
// Invariant: messages are encoded once. A repeated append sends the same bytes under the same ids.
import { crc32, deflateRawSync } from 'node:zlib';
import { chainOf, type Position } from './chain.js';
import type { EntryKeys } from './entry-keys.js';
import { sealHead, writeHead } from './head.js';
import { chainAt, headBytes, signedHeadBytes } from './head-layout.js';
import { deflatedFlag } from './kind.js';

/** Maximum bytes of a body in one message. */
export const partBytes = 512 * 1024;

export interface EntrySource {
  /** One of `entryKind`. */
  kind: number;
  epoch: number;
  /** 16 random bytes. */
  id: Uint8Array;
  /** Unix milliseconds. */
  time: number;
  body: Uint8Array;
  deflate?: boolean;
}

/** The key that signs an entry. */
export interface Signer {
  keys: EntryKeys;
  /** Id of one of `keys`. */
  id: number;
}

export interface SealedEntry {
  /**
   * One message per part, in order, with the id that every repetition of its append uses. Each message has
   * its own memory, so that it can be transferred to another thread.
   */
  parts: { bytes: Uint8Array<ArrayBuffer>; id: string }[];
  /** Position of the log after all messages are appended. */
  position: Position;
}

/**
 * Returns the messages of `source`, to be appended after sequence `after`. `after` can be beyond `before`,
 * the last entry: parts of an unfinished entry may lie between them.
 */
export function encodeEntry(
  before: Position,
  after: number,
  source: EntrySource,
  signer?: Signer,
): SealedEntry {
  const body = source.deflate ? deflateRawSync(source.body) : source.body;
  const count = Math.max(1, Math.ceil(body.length / partBytes));
  const messages: Uint8Array<ArrayBuffer>[] = [];
  const size = signer === undefined ? headBytes : signedHeadBytes;
  for (let part = 0; part < count; part++) {
    const partBody = body.subarray(part * partBytes, (part + 1) * partBytes);
    const message = new Uint8Array(size + partBody.length);
    message.set(partBody, size);
    writeHead(message, {
      kind: source.kind,
      flags: source.deflate ? deflatedFlag : 0,
      part,
      parts: count,
      epoch: source.epoch,
      after: after + part,
      id: source.id,
      chain: 0n,
      time: source.time,
      crc: crc32(partBody),
      ...(signer && { key: signer.id }),
    });
    messages.push(message);
  }
  const chain = chainOf(before, messages);
  for (const message of messages) {
    new DataView(message.buffer).setBigUint64(chainAt, chain, true);
    sealHead(message);
    signer?.keys.sign(message, signer.id);
  }
  const name = Buffer.from(source.id).toString('hex');
  return {
    parts: messages.map((bytes, part) => ({ bytes, id: `${name}-${part}` })),
    position: { epoch: source.epoch, seq: after + count, chain, ...(signer && { key: signer.id }) },
  };
}
