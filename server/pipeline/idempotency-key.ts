// `Idempotency-Key`: what it must look like, and whose it is. Invariant: a write whose door keeps no answers is
// refused under a key, instead of being done once more by a repeat.
import { fail } from '../../engine/internal.js';
import type { Caller } from '../auth/keys.js';
import type { Exchange } from '../http/exchange.js';
import type { Endpoint } from './router.js';

const keyForm = /^[\x21-\x7e]{1,128}$/;

/** The key under which a write is done once; each API key has keys of its own. */
export function onceOf(
  { idempotencyKey: key }: Exchange,
  caller: Caller | undefined,
): { scope: string; key: string } | undefined {
  if (key === undefined) return undefined;
  if (!keyForm.test(key)) {
    fail('IDEMPOTENCY_KEY_INVALID', { what: 'must be 1 to 128 visible ASCII characters' });
  }
  return { scope: caller?.keyId ?? '', key };
}

/** A write that the leader of a shard does: not one under a key, for the main database keeps those. */
export const isOfShard = (
  { idempotencyKey }: Exchange,
  { sharded: ofShards, writes }: Endpoint,
): boolean => ofShards === true && writes && idempotencyKey === undefined;

/** For a write whose answer is not kept. */
export function refuseOnce({ idempotencyKey }: Exchange, why: string): void {
  if (idempotencyKey === undefined) return;
  fail('IDEMPOTENCY_KEY_INVALID', { what: `is for \`POST /<Query>\`; ${why}` });
}
