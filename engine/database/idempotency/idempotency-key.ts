// A write that is to be done once: whose key it has, and what a repeat must have in common with it.
// Both go into the store as digests, since keys and bodies may be of any length.
import { createHash } from 'node:crypto';

export interface Once {
  /** Of the API key: each has keys of its own. */
  scope: string;
  key: string;
  /** What was asked beside the body. */
  query: string;
  claim?: Claim;
}

/** The write itself is done in another database: its key is taken here, and given back if it is refused there. */
export type Claim = 'take' | 'give back';

export const digestBytes = 16;

function digest(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.digest().subarray(0, digestBytes));
}

/** No part holds a zero byte but the last, so that what is put together can be told apart. */
export const nameOf = ({ scope, key }: Once): Uint8Array => digest([scope, '\0', key]);

export const requestOf = ({ query }: Once, body: Uint8Array): Uint8Array =>
  digest([query, '\0', body]);
