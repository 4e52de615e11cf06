// Parses the body of a provider's response into vectors. All input is in the task, so that any thread can
// parse it.
import { fail } from '../base/errors.js';
import { checkVectors, extractMessage, messageIn } from './provider/provider-response.js';
import { type ProviderName, providerTable } from './provider/provider-table.js';

export interface BodyTask {
  provider: ProviderName;
  body: Uint8Array;
  /** Expected number of vectors. */
  texts: number;
  /** Never shown: removed from every message. */
  credential?: string | undefined;
}

/** Fails EMBEDDING_FAILED. */
export function vectorsIn({ provider, body, texts, credential }: BodyTask): Float64Array[] {
  const who = { provider, status: 200 };
  const { buffer, byteOffset, byteLength } = body;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    fail('EMBEDDING_FAILED', { ...who, detail: 'the answer is not JSON' });
  }
  const vectors = providerTable[provider].vectors(answer);
  // Some providers send their errors with status 200.
  const isEmpty = vectors.every((vector) => vector === undefined);
  const message = isEmpty ? messageIn(answer) : undefined;
  if (message !== undefined)
    fail('EMBEDDING_FAILED', { ...who, detail: extractMessage(message, credential) });
  return checkVectors(vectors, texts, who);
}
