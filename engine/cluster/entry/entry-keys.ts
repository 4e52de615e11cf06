// The keys by which entries of a log prove that a node of its cluster wrote them. Each is derived from a secret of the
// cluster and the name of the log, so that an entry of one log is worth nothing in another. A message is signed as a
// whole: its head, which names its place and the chain behind which it stands, and its part of the body.
//
// Invariant: from the first entry on that is signed, every entry is, by the same key or a newer one: who knows an old
// secret that has been replaced writes nothing any more.
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { fail } from '../../base/errors.js';
import type { Head } from './head.js';
import { macAt, macBytes, signedHeadBytes } from './head-layout.js';

const leastBytes = 16;
const keyBytes = 32;

function derived(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `trellisdb ${purpose}`, bytes));
}

/** A secret's number, never 0: tells which one it is, and nothing of what it holds. */
export function keyIdOf(secret: string): number {
  return derived(secret, 'key id', 4).readUInt32LE(0) || 1;
}

/** As it is shown to people. */
export const printKey = (id: number): string => id.toString(16).padStart(8, '0');

/** What is derived from a secret for that purpose, and for no other. */
export const keyFor = (secret: string, purpose: string): KeyObject =>
  createSecretKey(derived(secret, purpose, keyBytes));

/** Fails CONFIG_INVALID for secrets that are too short, or that stand there twice. */
export function keyIdsOf(secrets: readonly string[]): number[] {
  const ids = secrets.map(keyIdOf);
  if (secrets.some((secret) => Buffer.byteLength(secret) < leastBytes))
    fail('CONFIG_INVALID', { what: 'A secret of the cluster has less than 16 bytes.' });
  if (new Set(ids).size < ids.length)
    fail('CONFIG_INVALID', { what: 'A secret of the cluster stands there twice.' });
  return ids;
}

export class EntryKeys {
  /** Oldest first. */
  readonly ids: readonly number[];
  readonly #keys = new Map<number, KeyObject>();

  /** `secrets`: oldest first. Fails CONFIG_INVALID. */
  constructor(secrets: readonly string[], logName: string) {
    this.ids = keyIdsOf(secrets);
    for (const [i, secret] of secrets.entries())
      this.#keys.set(this.ids[i]!, keyFor(secret, `log entry 1\n${logName}`));
  }

  /** Undefined: there is no secret. */
  static of(secrets: readonly string[] | undefined, logName: string): EntryKeys | undefined {
    return secrets === undefined || secrets.length === 0
      ? undefined
      : new EntryKeys(secrets, logName);
  }

  get newest(): number {
    return this.ids.at(-1)!;
  }

  /** Whether entries may be signed by `id` where they were by `since`; undefined: by none. */
  replaces(id: number, since: number | undefined): boolean {
    return since === undefined || this.ids.indexOf(id) > this.ids.indexOf(since);
  }

  #macOf(message: Uint8Array, key: KeyObject): Buffer {
    return createHmac('sha256', key)
      .update(message.subarray(0, macAt))
      .update(message.subarray(signedHeadBytes))
      .digest();
  }

  /** Writes the proof into a message that is otherwise whole. */
  sign(message: Uint8Array, id: number): void {
    message.set(this.#macOf(message, this.#keys.get(id)!), macAt);
  }

  /** Of a message that is signed. Fails LOG_UNTRUSTED. */
  check(message: Uint8Array, id: number, seq: number, since: number | undefined): void {
    const key = this.#keys.get(id);
    if (key === undefined)
      untrusted(
        `message ${seq} is signed by the key ${printKey(id)}, which \`cluster.secret_file\` of this node does not hold`,
      );
    if (since !== undefined && this.ids.indexOf(id) < this.ids.indexOf(since))
      untrusted(
        `message ${seq} is signed by the key ${printKey(id)}, which ${printKey(since)} has replaced`,
      );
    const mac = message.subarray(macAt, macAt + macBytes);
    if (!timingSafeEqual(mac, this.#macOf(message, key!)))
      untrusted(`the signature of message ${seq} is not that of a node of this cluster`);
  }
}

/**
 * That the message was written by who may; `since`: the key of the entries before it, undefined while none is signed.
 * Fails LOG_UNTRUSTED.
 */
export function checkWriter(
  keys: EntryKeys | undefined,
  message: Uint8Array,
  { key }: Pick<Head, 'key'>,
  { seq, since }: { seq: number; since: number | undefined },
): void {
  if (key !== undefined) {
    if (keys !== undefined) return keys.check(message, key, seq, since);
    untrusted(`message ${seq} is signed, and this node has no \`cluster.secret_file\``);
  }
  if (since !== undefined) untrusted(`message ${seq} is not signed, and those before it are`);
}

const untrusted = (what: string): never => fail('LOG_UNTRUSTED', { what });
