// Wraps a user's embedder: its vectors are validated as those of a provider, and a refused text is found.
import type { TrellisError } from '../base/errors.js';
import type { BatchEmbedder, Embedder } from './embedder.js';
import { checkVectors } from './provider/provider-response.js';
import { type Embedding, embedEach } from './split-refused.js';

/** Maximum of texts in one call. */
const textsPerCall = 256;

/** HTTP statuses of a provider that concern the caller or the model, not the texts. */
const notOfTexts: ReadonlySet<unknown> = new Set([401, 403, 404, 429]);

const isOfTexts = ({ code, args }: TrellisError): boolean =>
  code === 'EMBEDDING_REFUSED' || (code === 'EMBEDDING_FAILED' && !notOfTexts.has(args.status));

export function withValidation(own: Embedder): BatchEmbedder {
  const embed: Embedder['embed'] = async (model, texts, deadline, use) => {
    const result: unknown = await own.embed(model, texts, deadline, use);
    const who = { provider: 'the embedder', status: 'wrongly' };
    return checkVectors(Array.isArray(result) ? result : [], texts.length, who);
  };
  return {
    embed,
    identify: (model = 'own', { dimensions } = {}) =>
      dimensions === undefined ? { model } : { model, dimensions },
    async embedEach(model, texts, deadline, use) {
      const ask = (some: readonly string[]) => embed(model, some, deadline, use);
      const found: Embedding[] = [];
      for (let at = 0; at < texts.length; at += textsPerCall)
        found.push(...(await embedEach(texts.slice(at, at + textsPerCall), { ask, isOfTexts })));
      return found;
    },
  };
}
