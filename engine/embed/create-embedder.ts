// Creates the embedder: takes known texts from the cache, waits for those that another request has sent, and
// sends the rest to the provider.
// Invariant: equal texts for one use are sent one time, and a caller waits no longer than its own deadline.
import { type ErrorData, TrellisError, excerpt, fail } from '../base/errors.js';
import type { BatchEmbedder, EmbedderOptions, EmbedUse } from './embedder.js';
import { hashEmbedding } from './provider/hash.js';
import type { ModelIdentity } from './model-identity.js';
import { type Model, parseModel } from './provider/model.js';
import { taskName } from './provider/provider.js';
import { ProviderClient } from './provider-client.js';
import type { Embedding } from './split-refused.js';
import { inTime, VectorCache } from './vector-cache.js';

const hashDimensions = 256;

export function createEmbedder(options: EmbedderOptions): BatchEmbedder {
  const { prefixes, cacheEntries, onCached } = options;
  const client = new ProviderClient(options);
  const cache = new VectorCache(cacheEntries);

  async function embedEach(
    model: string | undefined,
    texts: readonly string[],
    deadline: number,
    use: EmbedUse = {},
  ): Promise<Embedding[]> {
    const parsed = parseModel(model);
    const dimensions = use.dimensions ?? options.dimensions;
    if (parsed.kind === 'hash') {
      const count = parsed.dimensions ?? dimensions ?? hashDimensions;
      return texts.map((text) => hashEmbedding(text, count));
    }
    const prefix = prefixes?.[use.purpose ?? 'document'] ?? '';
    const prepared = client.prepare(model!, parsed, { ...use, dimensions });
    const keyOf = (text: string): string => `${prepared.key}\n${prefix}${text}`;
    const known = new Map<string, Embedding>();
    const send = async (some: readonly string[]): Promise<void> => {
      if (some.length === 0) return;
      const textOf = new Map(some.map((text) => [prefix + text, text]));
      await cache.share(some.map(keyOf), async () => {
        const found = new Map<string, Embedding>();
        await prepared.ask([...textOf.keys()], deadline, (sent, one) => {
          const text = textOf.get(sent)!;
          const named = one instanceof Float64Array ? one : withText(one, text);
          known.set(text, named);
          found.set(keyOf(text), named);
          cache.add(keyOf(text), named);
        });
        return found;
      });
    };
    const missing: string[] = [];
    const others: [string, Promise<Embedding>][] = [];
    for (const text of new Set(texts)) {
      const vector = cache.find(keyOf(text));
      const pending = vector ? undefined : cache.pendingOf(keyOf(text));
      if (vector) known.set(text, vector);
      else if (pending) others.push([text, pending]);
      else missing.push(text);
    }
    if (known.size > 0) onCached?.(known.size);
    await send(missing);
    const failed: string[] = [];
    for (const [text, pending] of others) {
      const found = await inTime(pending, deadline).catch(() => undefined);
      if (found === undefined) failed.push(text);
      else known.set(text, found);
    }
    // The other request had another deadline, so its failure says nothing about this one.
    await send(failed);
    return texts.map((text) => known.get(text)!);
  }

  return {
    embedEach,
    identify: (model, use) => identify(model, use, options),
    async embed(model, texts, deadline, use) {
      const found = await embedEach(model, texts, deadline, use);
      return found.map((one, i) => (one instanceof Float64Array ? one : refuse(one, texts, i)));
    },
  };
}

function identify(
  name: string | undefined,
  use: EmbedUse | undefined,
  { dimensions: usual, task = 'retrieval', prefixes }: EmbedderOptions,
): ModelIdentity | undefined {
  let model: Model;
  try {
    model = parseModel(name);
  } catch {
    return undefined;
  }
  const dimensions = use?.dimensions ?? usual;
  if (model.kind === 'hash')
    return { model: 'hash', dimensions: model.dimensions ?? dimensions ?? hashDimensions };
  const taskOf = taskName(model, task, 'document');
  const prefix = prefixes?.document;
  return {
    model: model.name === '' ? model.kind : `${model.kind}:${model.name}`,
    ...(dimensions !== undefined && { dimensions }),
    ...(taskOf !== undefined && { task: taskOf }),
    ...(prefix && { prefix }),
  };
}

/** Names the text in its refusal. */
const withText = (error: ErrorData, text: string): ErrorData =>
  error.code === 'EMBEDDING_REFUSED'
    ? { ...error, args: { ...error.args, which: `the text "${excerpt(text)}"` } }
    : error;

/** Fails with the refusal of text `i`, and says its number. */
function refuse(error: ErrorData, texts: readonly string[], i: number): never {
  if (error.code !== 'EMBEDDING_REFUSED' || texts.length === 1) throw new TrellisError(error);
  const which = `text ${i + 1} of ${texts.length}, "${excerpt(texts[i]!)}"`;
  return fail(error.code, { ...error.args, which });
}
