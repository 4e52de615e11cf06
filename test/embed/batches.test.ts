// Lists of texts: what a provider takes in one call is learned from what it refuses, refused texts are found, and
// answers in other forms are read.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorData, errorMessage, TrellisError } from '../../engine/base/errors.js';
import { createEmbedder } from '../../engine/embed/create-embedder.js';
import type { EmbedderOptions } from '../../engine/embed/embedder.js';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.js';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await startScriptedProvider();
});
afterAll(() => provider.close());
beforeEach(() => provider.reset());

const soon = (ms = 20_000): number => performance.now() + ms;
const embedderWith = (changes: Partial<EmbedderOptions> = {}) =>
  createEmbedder({
    environment: { OPENAI_BASE_URL: `${provider.url}/v1` },
    timeoutMs: 5000,
    retries: 0,
    cacheEntries: 0,
    allowPrivate: false,
    ...changes,
  });
const textsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `text ${i}`);

async function faultOf(promise: Promise<unknown>): Promise<ErrorData> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TrellisError) return error.data;
    throw error;
  }
  throw new Error('it succeeded');
}

describe('EM01 sizes', () => {
  const messages: [string, number, string][] = [
    ['TEI', 422, 'batch size 256 > maximum allowed batch size 32'],
    ['Cohere', 400, 'invalid request: total number of texts must be at most 96'],
    ['OpenAI', 400, "'$.input' is too long. Expected an array with maximum length 2048"],
    ['a proxy', 413, 'Request Entity Too Large'],
  ];
  it.each(messages)(
    '%s: a list that is too long is halved, and the size is kept',
    async (_, status, message) => {
      provider.refuse = (texts) => (texts.length > 10 ? { status, message } : undefined);
      const embedder = embedderWith();
      const texts = textsOf(200);
      const vectors = await embedder.embed('m', texts, soon());
      expect(vectors.map(([number]) => number)).toEqual(texts.map((_, i) => i));
      const refused = provider.calls.filter((list) => list.length > 10).length;
      expect(refused).toBeLessThan(8);
      provider.calls.length = 0;
      await embedder.embed('m', textsOf(100), soon());
      expect(provider.calls.every((list) => list.length <= 10)).toBe(true);
    },
  );

  it('a limit of tokens is learned as tokens', async () => {
    const message = 'Too many tokens overall, split into more batches.';
    const size = (texts: string[]): number => texts.join('').length;
    provider.refuse = (texts) => (size(texts) > 3_000 ? { status: 400, message } : undefined);
    const embedder = embedderWith();
    const long = Array.from({ length: 32 }, (_, i) => `${i} ${'x'.repeat(500)}`);
    await embedder.embed('m', long, soon());
    provider.calls.length = 0;
    await embedder.embed('m', textsOf(100), soon());
    expect(provider.calls).toHaveLength(1);
    provider.calls.length = 0;
    await embedder.embed('m', long, soon());
    expect(provider.calls.every((list) => size(list) <= 3_000)).toBe(true);
  });

  it.each([
    ['texts', { batchTexts: 10 }, 10],
    ['tokens', { batchTokens: 9 }, 4],
  ])('are configured in %s', async (_, options, most) => {
    await embedderWith(options).embed('m', textsOf(30), soon());
    expect(Math.max(...provider.calls.map((list) => list.length))).toBe(most);
  });

  it('one text that is too long teaches no size', async () => {
    const message = "This model's maximum context length is 8192 tokens.";
    provider.refuse = (texts) => (texts.includes('text 57') ? { status: 400, message } : undefined);
    const embedder = embedderWith();
    await embedder.embedEach('m', textsOf(100), soon());
    provider.calls.length = 0;
    await embedder.embed('m', textsOf(50), soon());
    expect(provider.calls).toHaveLength(1);
  });
});

describe('EM05 refused texts', () => {
  const bad: [string, number, number[]][] = [
    ['the first', 100, [0]],
    ['one in the middle', 100, [57]],
    ['the first dozen', 100, Array.from({ length: 12 }, (_, i) => i)],
    ['the last dozen', 100, Array.from({ length: 12 }, (_, i) => 88 + i)],
    ['every other one', 40, Array.from({ length: 20 }, (_, i) => 2 * i)],
    ['the only one', 1, [0]],
    ['all of a few', 5, [0, 1, 2, 3, 4]],
  ];
  it.each(bad)('are found: %s', async (_, count, which) => {
    for (const status of [400, 413, 422]) {
      const texts = new Set(which.map((i) => `text ${i}`));
      provider.refuse = (list) =>
        list.some((text) => texts.has(text)) ? { status, message: 'not this' } : undefined;
      const found = await embedderWith().embedEach('m', textsOf(count), soon());
      const refused = found.flatMap((one, i) => (one instanceof Float64Array ? [] : [i]));
      expect(refused).toEqual(which);
    }
  });

  it('a call names the text, its number and the reason', async () => {
    const message = 'input is unsafe';
    provider.refuse = (texts) => (texts.includes('text 2') ? { status: 400, message } : undefined);
    const fault = await faultOf(embedderWith().embed('m', textsOf(4), soon()));
    expect(fault.code).toBe('EMBEDDING_REFUSED');
    expect(errorMessage(fault)).toBe(
      'The embedding provider refused text 3 of 4, "text 2": openai answered 400: input is unsafe',
    );
  });

  it('a provider that takes none costs few calls', async () => {
    provider.refuse = () => ({ status: 400, message: 'no' });
    const fault = await faultOf(embedderWith().embedEach('m', textsOf(256), soon()));
    expect(fault.code).toBe('EMBEDDING_REFUSED');
    expect(provider.calls.length).toBeLessThan(40);
  });

  it('a model that is unknown is no fault of the text', async () => {
    provider.refuse = () => ({ status: 400, message: 'The model `m` does not exist' });
    const fault = await faultOf(embedderWith().embed('m', ['a'], soon()));
    expect(fault).toMatchObject({ code: 'EMBEDDING_FAILED', args: { status: 400 } });
  });
});

describe('EM03 forms of answers', () => {
  const vectors = [
    [1, 2.5],
    [3, -4],
  ];
  const base64 = (vector: number[]): string =>
    Buffer.from(Float32Array.from(vector).buffer).toString('base64');
  const items = (indexes: unknown[], embeddings: unknown[] = vectors) => ({
    data: embeddings.map((embedding, i) => ({ index: indexes[i], embedding })),
  });
  const forms: [string, object, number[][]][] = [
    ['indexes', items([0, 1]), vectors],
    ['indexes backwards', items([1, 0]), [...vectors].reverse()],
    ['the same index twice', items([0, 0]), vectors],
    ['an index beyond', items([0, 2]), vectors],
    ['a fraction', items([0, 0.5]), vectors],
    ['no indexes', items([]), vectors],
    ['base64', items([0, 1], vectors.map(base64)), vectors],
  ];
  it.each(forms)('%s', async (_, body, expected) => {
    provider.answer = () => body;
    const found = await embedderWith().embed('m', ['a', 'b'], soon());
    expect(found.map((one) => [...one])).toEqual(expected);
  });
});

describe('EM11 many calls', () => {
  it('equal texts under way are one call', async () => {
    provider.delayMs = 100;
    const embedder = embedderWith();
    const asked = Array.from({ length: 20 }, () => embedder.embed('m', ['a', 'b'], soon()));
    const more = embedder.embed('m', ['b', 'c'], soon());
    for (const vectors of await Promise.all(asked)) expect(vectors).toHaveLength(2);
    expect(await more).toHaveLength(2);
    expect(provider.calls).toEqual([['a', 'b'], ['c']]);
  });

  it('a caller with more time asks again when the first one had too little', async () => {
    provider.delayMs = 300;
    const embedder = embedderWith();
    const hasty = faultOf(embedder.embed('m', ['a'], soon(60)));
    const patient = embedder.embed('m', ['a'], soon());
    expect((await hasty).code).toBe('EMBEDDING_TIMEOUT');
    expect(await patient).toHaveLength(1);
    const late = embedder.embed('m', ['b'], soon());
    const inHaste = await faultOf(embedder.embed('m', ['b'], soon(60)));
    expect(inHaste.code).toMatch(/^(EMBEDDING_TIMEOUT|OVERLOADED)$/);
    expect(await late).toHaveLength(1);
  });

  it('`concurrency` bounds the calls of all requests together', async () => {
    provider.delayMs = 30;
    const embedder = embedderWith({ concurrency: 4 });
    const asked = Array.from({ length: 30 }, (_, i) => embedder.embed('m', [`t${i}`], soon()));
    expect(await Promise.all(asked)).toHaveLength(30);
    expect(provider.mostOpen).toBe(4);
  });
});
