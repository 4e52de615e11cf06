// Derives the keys by which log entries prove that a node of the cluster wrote them. Each key is derived from
// a cluster secret and the name of the log, so that an entry of one log is not valid in another. The
// signature covers the whole message: the head, which includes the sequence and the chain, and the part of
// the body.
//
// Invariant: after the first signed entry, every entry is signed by the same key or a newer one. The holder
// of a replaced secret cannot write entries.
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

const minBytes = 16;
const keyBytes = 32;

function derived(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `trellisdb ${purpose}`, bytes));
}

/** Returns the id of a secret, never 0. The id identifies the secret and reveals nothing about it. */
export function keyIdOf(secret: string): number {
  return derived(secret, 'key id', 4).readUInt32LE(0) || 1;
}

/** Prints a key id for people, as 8 hexadecimal digits. */
export const printKey = (id: number): string => id.toString(16).padStart(8, '0');

/** Derives a key from a secret for one purpose only. */
export const keyFor = (secret: string, purpose: string): KeyObject =>
  createSecretKey(derived(secret, purpose, keyBytes));

/** Returns the ids of the secrets. Fails CONFIG_INVALID when a secret is too short or occurs twice. */
export function keyIdsOf(secrets: readonly string[]): number[] {
  const ids = secrets.map(keyIdOf);
  if (secrets.some((secret) => Buffer.byteLength(secret) < minBytes))
    fail('CONFIG_INVALID', { what: 'A secret of the cluster has less than 16 bytes.' });
  if (new Set(ids).size < ids.length)
    fail('CONFIG_INVALID', { what: 'A secret of the cluster stands there twice.' });
  return ids;
}

export class EntryKeys {
  /** Key ids, oldest first. */
  readonly ids: readonly number[];
  readonly #keys = new Map<number, KeyObject>();

  /** `secrets` are ordered from oldest to newest. Fails CONFIG_INVALID. */
  constructor(secrets: readonly string[], logName: string) {
    this.ids = keyIdsOf(secrets);
    for (const [i, secret] of secrets.entries())
      this.#keys.set(this.ids[i]!, keyFor(secret, `log entry 1\n${logName}`));
  }

  /** Returns undefined when the cluster has no secrets. */
  static of(secrets: readonly string[] | undefined, logName: string): EntryKeys | undefined {
    return secrets === undefined || secrets.length === 0
      ? undefined
      : new EntryKeys(secrets, logName);
  }

  get newest(): number {
    return this.ids.at(-1)!;
  }

  /**
   * Returns true if `id` may sign entries after entries that `since` signed. `since` is undefined when no
   * entry is signed yet.
   */
  replaces(id: number, since: number | undefined): boolean {
    return since === undefined || this.ids.indexOf(id) > this.ids.indexOf(since);
  }

  #macOf(message: Uint8Array, key: KeyObject): Buffer {
    return createHmac('sha256', key)
      .update(message.subarray(0, macAt))
      .update(message.subarray(signedHeadBytes))
      .digest();
  }

  /** Writes the signature into a message that is otherwise complete. */
  sign(message: Uint8Array, id: number): void {
    message.set(this.#macOf(message, this.#keys.get(id)!), macAt);
  }

  /** Verifies a signed message. Fails LOG_UNTRUSTED. */
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
 * Checks that a permitted node wrote the message. `since` is the key of the entries before it, or undefined
 * while no entry is signed. Fails LOG_UNTRUSTED.
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
