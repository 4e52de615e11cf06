// Every provider against a stub that serves their shapes, and every way in which a provider may
// fail.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorData, errorMessage, TrellisError } from '../../engine/base/errors.js';
import { createEmbedder } from '../../engine/embed/create-embedder.js';
import type { EmbedderOptions } from '../../engine/embed/embedder.js';
import { isPrivateAddress, leadsInside } from '../../engine/embed/private-address.js';
import {
  type EmbeddingStub,
  startEmbeddingStub,
  stubCredential,
  stubVector,
} from './provider-stub.js';
import { expectFigure } from '../support/run/figure.js';

let stub: EmbeddingStub;
beforeAll(async () => {
  stub = await startEmbeddingStub();
});
afterAll(() => stub.close());
beforeEach(() => {
  stub.calls.length = 0;
});

const soon = (ms = 20_000): number => performance.now() + ms;
const embedderWith = (changes: Partial<EmbedderOptions> = {}) =>
  createEmbedder({
    environment: stub.environment,
    timeoutMs: 5000,
    retries: 3,
    cacheEntries: 100,
    allowPrivate: false,
    ...changes,
  });

async function faultOf(promise: Promise<unknown>): Promise<ErrorData> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    expect(JSON.stringify(error.data) + errorMessage(error.data)).not.toContain(stubCredential);
    return error.data;
  }
  throw new Error('it succeeded');
}

const text = 'Ferns like shade';
const vector = Float64Array.from(stubVector(text));

describe('providers', () => {
  const cases: [string, string, object][] = [
    ['openai:m-small', '/v1/embeddings', { input: text, model: 'm-small' }],
    ['m-small', '/v1/embeddings', { input: text, model: 'm-small' }],
    ['openai:ft:x:y', '/v1/embeddings', { input: text, model: 'ft:x:y' }],
    [
      'azure_openai:my deploy',
      '/openai/deployments/my%20deploy/embeddings?api-version=2024-10-21',
      { input: text },
    ],
    [
      'gemini:g-001',
      '/v1beta/models/g-001:embedContent',
      { content: { parts: [{ text }] }, taskType: 'RETRIEVAL_DOCUMENT' },
    ],
    [
      'gemini:g-001:RETRIEVAL_QUERY',
      '/v1beta/models/g-001:embedContent',
      { content: { parts: [{ text }] }, taskType: 'RETRIEVAL_QUERY' },
    ],
    ['local', '/embed', { text, chunk_style: 'recursive', chunk_size: 100 }],
  ];
  it.each(cases)('%s', async (model, path, body) => {
    expect(await embedderWith().embed(model, [text], soon())).toEqual([vector]);
    expect(stub.calls).toHaveLength(1);
    expect(stub.calls[0]).toMatchObject({ path, body });
  });

  it.each(['openai:m', 'azure_openai:m', 'gemini:m', 'local'])(
    '%s keeps the order of many texts and embeds equal ones one time',
    async (model) => {
      const texts = ['b', 'aa', 'b', 'ccc', 'aa', ''];
      const vectors = await embedderWith().embed(model, texts, soon());
      expect(vectors).toEqual(texts.map((each) => Float64Array.from(stubVector(each))));
      expect(stub.calls).toHaveLength(/openai/.test(model) ? 1 : 4);
    },
  );

  it('takes large batches in several calls', async () => {
    const texts = Array.from({ length: 600 }, (_, i) => 'x'.repeat(i));
    const vectors = await embedderWith().embed('m', texts, soon());
    expect(vectors.map((each) => each[0])).toEqual(texts.map((_, i) => i));
    expect(stub.calls).toHaveLength(3);
  });

  it('hash needs none', async () => {
    const embedder = embedderWith({ environment: {} });
    const [plain, short] = [
      await embedder.embed('hash', [text, text], soon()),
      await embedder.embed('hash:8', [text], soon()),
    ];
    expect([plain.length, plain[0]!.length, short[0]!.length]).toEqual([2, 256, 8]);
    expect(stub.calls).toHaveLength(0);
  });
});

describe('cache', () => {
  it('caches by model, task and text, and drops the least recently used', async () => {
    const embedder = embedderWith({ cacheEntries: 2 });
    const calls = async (model: string, each: string): Promise<number> => {
      const before = stub.calls.length;
      await embedder.embed(model, [each], soon());
      return stub.calls.length - before;
    };
    expect(await calls('gemini:m', 'a')).toBe(1);
    expect(await calls('gemini:m', 'a')).toBe(0);
    expect(await calls('gemini:m:RETRIEVAL_QUERY', 'a')).toBe(1);
    expect(await calls('gemini:m', 'a')).toBe(0);
    expect(await calls('gemini:m', 'b')).toBe(1);
    expect(await calls('gemini:m', 'a')).toBe(0);
    expect(await calls('gemini:m:RETRIEVAL_QUERY', 'a')).toBe(1);
  });

  it('requests unknown texts only, and caches no failure', async () => {
    const embedder = embedderWith({ retries: 0 });
    await embedder.embed('m', ['a', 'b'], soon());
    await embedder.embed('m', ['b', 'c', 'a'], soon());
    expect(stub.calls[1]!.body.input).toBe('c');
    stub.misbehave({ status: 500 });
    await faultOf(embedder.embed('m', ['d'], soon()));
    expect(await embedder.embed('m', ['d'], soon())).toHaveLength(1);
  });
});

describe('not configured', () => {
  const cases: [string | undefined, Record<string, string>, RegExp][] = [
    [undefined, {}, /no model/],
    ['', {}, /no model/],
    ['mystery:m', {}, /mystery:m is unknown/],
    ['openai:', {}, /no name/],
    ['azure_openai:..', {}, /no name/],
    ['hash:0', {}, /1 to 65535/],
    ['hash:x', {}, /1 to 65535/],
    ['openai:m', { OPENAI_API_KEY: ' ' }, /OPENAI_API_KEY is not set/],
    ['m', { OPENAI_API_KEY: '' }, /OPENAI_API_KEY/],
    ['openai:m', { OPENAI_API_KEY: 'a\nb' }, /OPENAI_API_KEY holds/],
    ['openai:m', { OPENAI_BASE_URL: 'file:///etc/passwd' }, /OPENAI_BASE_URL/],
    ['openai:m', { OPENAI_BASE_URL: `http://u:${stubCredential}@h` }, /OPENAI_BASE_URL/],
    ['azure_openai:m', { AZURE_OPENAI_API_KEY: '' }, /AZURE_OPENAI_API_KEY/],
    ['azure_openai:m', { AZURE_OPENAI_ENDPOINT: '' }, /AZURE_OPENAI_RESOURCE_NAME/],
    ['gemini:m', { GEMINI_API_KEY: '' }, /GEMINI_API_KEY/],
  ];
  it.each(cases)('%j with %j', async (model, environment, what) => {
    const embedder = embedderWith({ environment: { ...stub.environment, ...environment } });
    const fault = await faultOf(embedder.embed(model, [text], soon()));
    expect(fault.code).toBe('EMBEDDING_NOT_CONFIGURED');
    expect(fault.args.what).toMatch(what);
    expect(stub.calls).toHaveLength(0);
  });
});

describe('failures', () => {
  it('a wrong credential', async () => {
    const environment = { ...stub.environment, OPENAI_API_KEY: 'wrong-key' };
    const fault = await faultOf(embedderWith({ environment }).embed('m', [text], soon()));
    expect(errorMessage(fault)).toBe(
      'Error while embedding text: openai answered 401: Incorrect API key provided.',
    );
    expect(fault.code).toBe('EMBEDDING_FAILED');
    expect(stub.calls).toHaveLength(1);
  });

  const refusals: [string, object, string | RegExp][] = [
    [
      'a message with the credential',
      { status: 400, body: { error: { message: `bad ${stubCredential}` } } },
      'bad ***',
    ],
    ['a long message', { status: 400, body: '😀'.repeat(300) }, `${'😀'.repeat(200)}…`],
    [
      'a message of many lines',
      { status: 422, body: { message: 'a\r\nlevel=error\u001b[31m' } },
      'a level=error [31m',
    ],
    ['an error that is a string', { status: 404, body: { error: 'gone' } }, 'gone'],
    ['nothing', { status: 403, body: '' }, 'no message'],
    ['a redirect', { status: 302, headers: { location: '/v1/embeddings' } }, /not followed/],
    ['text instead of JSON', { body: '<html>' }, /not JSON/],
    ['strings for numbers', { body: { data: [{ embedding: ['1', '2'] }] } }, /no usable vector/],
    ['an infinite number', { body: { data: [{ embedding: [3.5e38] }] } }, /no usable vector/],
    ['an empty vector', { body: { data: [{ embedding: [] }] } }, /no usable vector/],
    ['no vector', { body: { data: [{}] } }, /no usable vector/],
    ['too few vectors', { body: { data: [] } }, /0 vectors for 1/],
    ['another shape', { body: 'null' }, /0 vectors for 1/],
    ['a prototype', { body: '{"__proto__":{"data":[{"embedding":[1]}]}}' }, /0 vectors for 1/],
  ];
  it.each(refusals)('%s', async (_, misbehaviour, detail) => {
    stub.misbehave(misbehaviour);
    const fault = await faultOf(embedderWith().embed('m', [text], soon()));
    expect(fault.code).toBe('EMBEDDING_FAILED');
    expect(fault.args.provider).toBe('openai');
    if (typeof detail === 'string') expect(fault.args.detail).toBe(detail);
    else expect(fault.args.detail).toMatch(detail);
    expect(stub.calls).toHaveLength(1);
  });

  it('tries again after 429, 5xx and lost connections, up to its retries', async () => {
    const now = { 'retry-after': '0' };
    stub.misbehave({ status: 429, headers: now }, { status: 503, headers: now }, { cut: true });
    expect(await embedderWith().embed('m', [text], soon())).toEqual([vector]);
    expect(stub.calls).toHaveLength(4);
    stub.misbehave({ status: 429, headers: now }, { status: 500, body: 'oops', headers: now });
    const fault = await faultOf(embedderWith({ retries: 1 }).embed('m', [text], soon()));
    expect(fault).toMatchObject({ code: 'EMBEDDING_UNAVAILABLE', args: { detail: '500 oops' } });
  });

  it('waits as long as Retry-After says, or a quarter of a second and then twice that', async () => {
    stub.misbehave({ status: 429, headers: { 'retry-after': '1' } }, { status: 500 });
    const start = performance.now();
    await embedderWith().embed('m', [text], soon());
    const took = performance.now() - start;
    expect(took).toBeGreaterThan(1000 + 500 * 0.8 - 20);
    expectFigure(took - 1_000 - 500 * 1.2, 500, 'ms over the waits');
  });

  it('does not wait beyond the deadline', async () => {
    stub.misbehave({ status: 429, headers: { 'retry-after': '9' } });
    const start = performance.now();
    const fault = await faultOf(embedderWith().embed('m', [text], soon(1000)));
    expect(fault.code).toBe('EMBEDDING_UNAVAILABLE');
    expectFigure(performance.now() - start, 800, 'ms to give up');
  });

  it('gives up on slow answers', async () => {
    stub.misbehave({ delayMs: 2000 });
    const fault = await faultOf(embedderWith({ timeoutMs: 100 }).embed('m', [text], soon()));
    expect(fault).toEqual({ code: 'EMBEDDING_TIMEOUT', args: { provider: 'openai', ms: 100 } });
    stub.misbehave({ delayMs: 2000 });
    const late = await faultOf(embedderWith().embed('m', [text], soon(80)));
    expect(late.code).toBe('EMBEDDING_TIMEOUT');
    expect(late.args.ms).toBeLessThanOrEqual(80);
  });

  it('no server', async () => {
    const environment = { ...stub.environment, EMBEDDING_URL: 'http://127.0.0.1:9/embed' };
    const fault = await faultOf(
      embedderWith({ environment, retries: 0 }).embed('local', [text], soon()),
    );
    expect(fault).toMatchObject({ code: 'EMBEDDING_UNAVAILABLE', args: { provider: 'local' } });
  });
});

describe('private addresses', () => {
  it.each([
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.31.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['0.0.0.0', true],
    ['8.8.8.8', false],
    ['::1', true],
    ['::', true],
    ['::ffff:10.0.0.1', true],
    ['::ffff:8.8.8.8', false],
    ['fd00::1', true],
    ['fe80::1', true],
    ['2001:4860:4860::8888', false],
  ])('%s: %s', (address, expected) => {
    expect(isPrivateAddress(address)).toBe(expected);
  });

  it('are found after names and brackets', async () => {
    expect(await leadsInside(new URL('http://localhost:1/'))).toBe(true);
    expect(await leadsInside(new URL('http://[::1]/'))).toBe(true);
    expect(await leadsInside(new URL('http://8.8.8.8/'))).toBe(false);
  });
});
