// Parses the body of a provider's response into vectors. All input is in the task, so that any thread can
// parse it.
import { fail } from '../base/errors.js';
import { checkVectors } from './provider-response.js';
import type { ProviderName } from './model.js';
import { extractVectors } from './provider.js';

export interface BodyTask {
  provider: ProviderName;
  body: Uint8Array;
  /** Expected number of vectors. */
  texts: number;
}

/** Fails EMBEDDING_FAILED. */
export function vectorsIn({ provider, body, texts }: BodyTask): Float64Array[] {
  const who = { provider, status: 200 };
  const { buffer, byteOffset, byteLength } = body;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    fail('EMBEDDING_FAILED', { ...who, detail: 'the answer is not JSON' });
  }
  return checkVectors(extractVectors(provider, answer), texts, who);
}
