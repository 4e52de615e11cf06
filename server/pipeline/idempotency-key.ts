// Checks the `Idempotency-Key` header and gives each key its scope. Invariant: an endpoint that stores no
// answers refuses a write with a key, because a repeat would run the write again.
import { fail } from '../../engine/internal.js';
import type { Caller } from '../auth/keys.js';
import type { Exchange } from '../http/exchange.js';
import type { Endpoint } from './router.js';

const keyForm = /^[\x21-\x7e]{1,128}$/;

/**
 * The idempotency key of a write, with the API key as its scope. Returns undefined without a header. Fails
 * IDEMPOTENCY_KEY_INVALID.
 */
export function idempotencyKeyOf(
  { idempotencyKey: key }: Exchange,
  caller: Caller | undefined,
): { scope: string; key: string } | undefined {
  if (key === undefined) return undefined;
  if (!keyForm.test(key)) {
    fail('IDEMPOTENCY_KEY_INVALID', { what: 'must be 1 to 128 visible ASCII characters' });
  }
  return { scope: caller?.keyId ?? '', key };
}

/**
 * Whether the leader of a shard runs this write. The main database runs writes with an idempotency key,
 * because it stores their answers.
 */
export const isOfShard = (
  { idempotencyKey }: Exchange,
  { sharded: ofShards, writes }: Endpoint,
): boolean => ofShards === true && writes && idempotencyKey === undefined;

/** Fails IDEMPOTENCY_KEY_INVALID for a write with a key whose answer is not stored. */
export function refuseIdempotencyKey({ idempotencyKey }: Exchange, why: string): void {
  if (idempotencyKey === undefined) return;
  fail('IDEMPOTENCY_KEY_INVALID', { what: `is for \`POST /<Query>\`; ${why}` });
}
