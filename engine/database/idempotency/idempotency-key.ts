// Identifies a write with an idempotency key: the scope and the key, and what a repetition must have in
// common with the first request. The store holds digests of both, because keys and bodies can have any
// length.
import { createHash } from 'node:crypto';

export interface IdempotencyKey {
  /** Id of the API key. Each API key has its own idempotency keys. */
  scope: string;
  key: string;
  /** Everything else in the request that is not the body. */
  query: string;
  claim?: Claim;
}

/**
 * For a write in another database: its key is reserved here, and released if that database refuses the write.
 */
export type Claim = 'take' | 'give back';

export const digestBytes = 16;

function digest(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.digest().subarray(0, digestBytes));
}

/** Only the last part can contain a zero byte, so the concatenation is unambiguous. */
export const nameOf = ({ scope, key }: IdempotencyKey): Uint8Array => digest([scope, '\0', key]);

export const requestOf = ({ query }: IdempotencyKey, body: Uint8Array): Uint8Array =>
  digest([query, '\0', body]);
