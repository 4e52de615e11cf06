// Creates the embedder: embeds equal texts once, takes known ones from the cache and the rest from the
// provider, with several calls in parallel.
import { TrellisError } from '../base/errors.js';
import { readVectors } from './answer-reader.js';
import { AnswerSize } from './answer-size.js';
import type { Embedder, EmbedderOptions } from './embedder.js';
import { hashEmbedding } from './hash.js';
import { parseModel } from './model.js';
import { type Provider, findProvider } from './provider.js';
import { request, tooLong } from './request.js';

/** Maximum number of parallel calls of one request. */
const parallelMax = 16;

export function createEmbedder(options: EmbedderOptions): Embedder {
  /** Vectors by model and text, least recently used first. */
  const cache = new Map<string, Float64Array>();

  const sizes = new AnswerSize();

  function recall(key: string): Float64Array | undefined {
    const vector = cache.get(key);
    if (vector === undefined) return undefined;
    cache.delete(key);
    cache.set(key, vector);
    return vector;
  }

  function remember(key: string, vector: Float64Array): void {
    if (options.cacheEntries <= 0) return;
    if (cache.size >= options.cacheEntries) cache.delete(cache.keys().next().value!);
    cache.set(key, vector);
  }

  return {
    async embed(model, texts, deadline) {
      const parsed = parseModel(model);
      if (parsed.kind === 'hash')
        return texts.map((text) => hashEmbedding(text, parsed.dimensions));
      const provider = findProvider(parsed, options);
      const known = new Map<string, Float64Array | undefined>();
      for (const text of texts) known.set(text, recall(`${model}\n${text}`));
      const unknown = [...known.keys()].filter((text) => known.get(text) === undefined);
      if (unknown.length < known.size) options.onCached?.(known.size - unknown.length);
      await inParallel(split(unknown, provider.batch), async (batch) => {
        const vectors = await measured(parsed.kind, options, () =>
          bounded(sizes, model!, batch.length, (bytesMax) =>
            embedBatch(provider, batch, options, deadline, bytesMax),
          ),
        );
        for (const [i, text] of batch.entries()) {
          known.set(text, vectors[i]!);
          remember(`${model}\n${text}`, vectors[i]!);
        }
      });
      return texts.map((text) => known.get(text)!);
    },
  };
}

/** Limits the response by the size of the model's earlier ones. */
async function bounded(
  sizes: AnswerSize,
  model: string,
  texts: number,
  work: (bytesMax: number) => Promise<Float64Array[]>,
): Promise<Float64Array[]> {
  try {
    const vectors = await work(sizes.bound(model, texts));
    sizes.learn(model, vectors[0]!.length);
    return vectors;
  } catch (error) {
    if (error instanceof TrellisError && error.data.args.detail === tooLong) sizes.forget(model);
    throw error;
  }
}

/** Reports the duration and the result of a call to the metrics. */
async function measured<T>(
  provider: string,
  { onCall }: EmbedderOptions,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const reportCall = (code?: string) =>
    onCall?.(provider, (performance.now() - started) / 1000, code);
  try {
    const result = await work();
    reportCall();
    return result;
  } catch (error) {
    reportCall(error instanceof TrellisError ? error.data.code : 'INTERNAL');
    throw error;
  }
}

async function embedBatch(
  provider: Provider,
  texts: readonly string[],
  options: EmbedderOptions,
  deadline: number,
  bytesMax: number,
): Promise<Float64Array[]> {
  const call = provider.call(texts);
  const body = await request(call, options, deadline, bytesMax);
  return readVectors({ provider: call.provider, body, texts: texts.length }, deadline);
}

function split(texts: readonly string[], size: number): string[][] {
  const parts: string[][] = [];
  for (let i = 0; i < texts.length; i += size) parts.push(texts.slice(i, i + size));
  return parts;
}

/** Runs `work` on all parts; starts no further part after a failure. */
async function inParallel<T>(parts: readonly T[], work: (part: T) => Promise<void>): Promise<void> {
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < parts.length) {
      const part = parts[next++]!;
      try {
        await work(part);
      } catch (error) {
        next = parts.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelMax, parts.length) }, runner));
}
