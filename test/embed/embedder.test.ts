// Every provider against a stub that serves their shapes, and every way in which a provider may
// fail.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorData, errorMessage, TrellisError } from '../../engine/base/errors.js';
import { createEmbedder } from '../../engine/embed/create-embedder.js';
import type { EmbedderOptions, EmbedUse } from '../../engine/embed/embedder.js';
import { isPrivateAddress, leadsInside } from '../../engine/embed/provider/private-address.js';
import {
  type EmbeddingStub,
  type Misbehaviour,
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
  /** Model, dimensions, purpose, path, and body of a request for two texts. */
  const two = ['Ferns like shade', 'Moss'];
  const rows: [string, EmbedUse, string, object][] = [
    ['openai:m-small', {}, '/v1/embeddings', { input: two, model: 'm-small' }],
    ['m-small', {}, '/v1/embeddings', { input: two, model: 'm-small' }],
    ['openai:ft:x:y', {}, '/v1/embeddings', { input: two, model: 'ft:x:y' }],
    [
      'openai:text-embedding-3-large',
      { dimensions: 3 },
      '/v1/embeddings',
      { input: two, model: 'text-embedding-3-large', dimensions: 3 },
    ],
    [
      'azure_openai:my deploy',
      {},
      '/openai/deployments/my%20deploy/embeddings?api-version=2024-10-21',
      { input: two },
    ],
    [
      'gemini:g-001',
      { dimensions: 3 },
      '/v1beta/models/g-001:batchEmbedContents',
      {
        requests: two.map((text) => ({
          model: 'models/g-001',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_DOCUMENT',
          outputDimensionality: 3,
        })),
      },
    ],
    [
      'gemini:g-001',
      { purpose: 'query' },
      '/v1beta/models/g-001:batchEmbedContents',
      {
        requests: two.map((text) => ({
          model: 'models/g-001',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_QUERY',
        })),
      },
    ],
    [
      'gemini:g-001:CLUSTERING',
      { purpose: 'query' },
      '/v1beta/models/g-001:batchEmbedContents',
      {
        requests: two.map((text) => ({
          model: 'models/g-001',
          content: { parts: [{ text }] },
          taskType: 'CLUSTERING',
        })),
      },
    ],
    [
      'voyage:voyage-3.5',
      { dimensions: 3 },
      '/v1/embeddings',
      { input: two, model: 'voyage-3.5', input_type: 'document', output_dimension: 3 },
    ],
    [
      'voyage:voyage-3.5',
      { purpose: 'query' },
      '/v1/embeddings',
      { input: two, model: 'voyage-3.5', input_type: 'query' },
    ],
    [
      'cohere:embed-v4.0',
      { purpose: 'query', dimensions: 3 },
      '/v2/embed',
      {
        model: 'embed-v4.0',
        texts: two,
        input_type: 'search_query',
        embedding_types: ['float'],
        output_dimension: 3,
      },
    ],
    [
      'mistral:mistral-embed',
      { purpose: 'query' },
      '/v1/embeddings',
      { input: two, model: 'mistral-embed' },
    ],
    [
      'jina:jina-embeddings-v3',
      { purpose: 'query', dimensions: 3 },
      '/v1/embeddings',
      { input: two, model: 'jina-embeddings-v3', task: 'retrieval.query', dimensions: 3 },
    ],
    [
      'jina:jina-embeddings-v2-base-en',
      {},
      '/v1/embeddings',
      { input: two, model: 'jina-embeddings-v2-base-en' },
    ],
    [
      'ollama:nomic-embed-text:v1.5',
      {},
      '/api/embed',
      { model: 'nomic-embed-text:v1.5', input: two },
    ],
    ['tei', {}, '/tei/embed', { inputs: two }],
    ['tei:BAAI/bge-m3', { dimensions: 3 }, '/tei/embed', { inputs: two, dimensions: 3 }],
  ];
  it.each(rows)('EM07 %s for %j', async (model, use, path, body) => {
    const vectors = two.map((each) => Float64Array.from(stubVector(each)));
    expect(await embedderWith().embed(model, two, soon(), use)).toEqual(vectors);
    expect(stub.calls).toHaveLength(1);
    expect([stub.calls[0]!.path, stub.calls[0]!.body]).toEqual([path, body]);
  });

  it('EM07 local takes one text in a call', async () => {
    expect(await embedderWith().embed('local', [text], soon())).toEqual([vector]);
    const body = { text, chunk_style: 'recursive', chunk_size: 100 };
    expect(stub.calls[0]).toMatchObject({ path: '/embed', body });
  });

  it.each(['openai:m', 'azure_openai:m', 'gemini:m', 'cohere:m', 'ollama:m', 'tei', 'local'])(
    '%s keeps the order of many texts and embeds equal ones one time',
    async (model) => {
      const texts = ['b', 'aa', 'b', 'ccc', 'aa', ''];
      const vectors = await embedderWith().embed(model, texts, soon());
      expect(vectors).toEqual(texts.map((each) => Float64Array.from(stubVector(each))));
      expect(stub.calls).toHaveLength(model === 'local' ? 4 : 1);
    },
  );

  it('takes large batches in several calls', async () => {
    const texts = Array.from({ length: 600 }, (_, i) => 'x'.repeat(i));
    const vectors = await embedderWith().embed('m', texts, soon());
    expect(vectors.map((each) => each[0])).toEqual(texts.map((_, i) => i));
    expect(stub.calls).toHaveLength(3);
  });

  it('EM06 tasks and prefixes: each purpose has its own, and its own place in the cache', async () => {
    const prefixes = { query: 'search_query: ', document: 'search_document: ' };
    const embedder = embedderWith({ prefixes, task: 'similarity' });
    for (const purpose of ['query', 'document'] as const) {
      for (let i = 0; i < 2; i++) await embedder.embed('ollama:nomic', [text], soon(), { purpose });
      await embedder.embed('jina:j-v3', [text], soon(), { purpose });
    }
    const sent = stub.calls.map(({ body }) => [body.input, body.task]);
    expect(sent).toEqual([
      [[prefixes.query + text], undefined],
      [prefixes.query + text, 'text-matching'],
      [[prefixes.document + text], undefined],
      [prefixes.document + text, 'text-matching'],
    ]);
  });

  it('EM06 one vector serves both purposes of a model without tasks', async () => {
    const embedder = embedderWith();
    for (const purpose of ['query', 'document'] as const)
      await embedder.embed('m', [text], soon(), { purpose });
    expect(stub.calls).toHaveLength(1);
  });

  it('EM06 a model that takes no number of dimensions is asked without it from then on', async () => {
    const body = { error: { message: 'This model does not support specifying dimensions.' } };
    stub.misbehave({ status: 400, body });
    const embedder = embedderWith({ dimensions: 3 });
    for (const each of ['a', 'b']) await embedder.embed('m', [each], soon());
    expect(stub.calls.map((call) => call.body.dimensions)).toEqual([3, undefined, undefined]);
    const fault = await faultOf(embedderWith({ dimensions: 8 }).embed('m', [text], soon()));
    expect(fault).toMatchObject({ code: 'EMBEDDING_FAILED' });
    expect(fault.args.detail).toBe('vectors of 3 numbers, and 8 are configured');
  });

  it('hash needs none', async () => {
    const embedder = embedderWith({ environment: {} });
    const [plain, short, asked] = [
      await embedder.embed('hash', [text, text], soon()),
      await embedder.embed('hash:8', [text], soon(), { dimensions: 16 }),
      await embedder.embed('hash', [text], soon(), { dimensions: 16 }),
    ];
    expect([plain.length, plain[0]!.length]).toEqual([2, 256]);
    expect([short[0]!.length, asked[0]!.length]).toEqual([8, 16]);
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
  /** Addresses that are not on this machine. */
  const far = {
    OPENAI_BASE_URL: 'https://models.example',
    AZURE_OPENAI_ENDPOINT: 'https://models.example',
    GEMINI_BASE_URL: '',
  };
  const cases: [string | undefined, Record<string, string>, RegExp][] = [
    [undefined, {}, /no model/],
    ['', {}, /no model/],
    ['mystery:m', {}, /mystery:m is unknown/],
    ['openai:', {}, /no name/],
    ['azure_openai:..', {}, /no name/],
    ['hash:0', {}, /1 to 65535/],
    ['hash:x', {}, /1 to 65535/],
    ['openai:m', { ...far, OPENAI_API_KEY: ' ' }, /OPENAI_API_KEY is not set/],
    ['m', { ...far, OPENAI_API_KEY: '' }, /OPENAI_API_KEY/],
    ['openai:m', { OPENAI_API_KEY: 'a\nb' }, /OPENAI_API_KEY holds/],
    ['openai:m', { OPENAI_BASE_URL: 'file:///etc/passwd' }, /OPENAI_BASE_URL/],
    ['openai:m', { OPENAI_BASE_URL: `http://u:${stubCredential}@h` }, /OPENAI_BASE_URL/],
    ['azure_openai:m', { ...far, AZURE_OPENAI_API_KEY: '' }, /AZURE_OPENAI_API_KEY/],
    ['azure_openai:m', { AZURE_OPENAI_ENDPOINT: '' }, /AZURE_OPENAI_RESOURCE_NAME/],
    ['gemini:m', { ...far, GEMINI_API_KEY: '' }, /GEMINI_API_KEY/],
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
  interface RefusedCredential {
    environment?: Record<string, string>;
    answer?: Misbehaviour;
  }
  it.each<[string, RefusedCredential, string]>([
    ['401', { environment: { OPENAI_API_KEY: 'wrong-key' } }, 'Incorrect API key provided.'],
    ['403', { answer: { status: 403, body: { detail: 'no access' } } }, 'no access'],
    ['400', { answer: { status: 400, body: { error: { message: 'API key not valid.' } } } }, 'API'],
  ])('EM05 a refused credential, %s', async (status, { environment = {}, answer }, detail) => {
    if (answer) stub.misbehave(answer);
    const changed = { ...stub.environment, ...environment };
    const asked = embedderWith({ environment: changed }).embed('m', [text], soon());
    const fault = await faultOf(asked);
    expect(fault.code).toBe('EMBEDDING_NOT_CONFIGURED');
    expect(errorMessage(fault)).toContain(`openai answered ${status}: ${detail}`);
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
    ['nothing', { status: 405, body: '' }, 'no message'],
    ['EM03 an error with status 200', { body: { error: { message: 'overloaded' } } }, 'overloaded'],
    [
      'base64 of half a number',
      { body: { data: [{ embedding: 'AACAPwAA' }] } },
      /no usable vector/,
    ],
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
    const isRefused = [400, 422].includes((misbehaviour as { status?: number }).status ?? 200);
    expect(fault.code).toBe(isRefused ? 'EMBEDDING_REFUSED' : 'EMBEDDING_FAILED');
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

  const date = (ms: number): string => new Date(Date.now() + ms).toUTCString();
  it.each([
    ['whole seconds', { 'retry-after': '9' }, 9, 9],
    ['decimals', { 'retry-after': '8.25' }, 9, 9],
    ['milliseconds of OpenAI', { 'retry-after': '1', 'retry-after-ms': '8250' }, 9, 9],
    ['a date', { 'retry-after': date(60_000) }, 30, 61],
  ])('EM02 a wait that is too long is told at once: %s', async (_, headers, least, most) => {
    stub.misbehave({ status: 429, headers });
    const start = performance.now();
    const fault = await faultOf(embedderWith().embed('m', [text], soon(1000)));
    expect(fault.code).toBe('EMBEDDING_UNAVAILABLE');
    expect(fault.args.seconds).toBeGreaterThanOrEqual(least);
    expect(fault.args.seconds).toBeLessThanOrEqual(most);
    expectFigure(performance.now() - start, 800, 'ms to give up');
  });

  it.each(['0.05', 'Thu, 01 Jan 1970 00:00:00 GMT'])('EM02 waits as %s says', async (value) => {
    stub.misbehave({ status: 503, headers: { 'retry-after': value } });
    const start = performance.now();
    expect(await embedderWith().embed('m', [text], soon())).toEqual([vector]);
    expectFigure(performance.now() - start, 180, 'ms of a short wait');
  });

  it('EM05 a try that hangs leaves time for the next one', async () => {
    stub.misbehave({ delayMs: 3000 });
    const start = performance.now();
    expect(await embedderWith().embed('m', [text], soon(2000))).toEqual([vector]);
    expect(stub.calls).toHaveLength(2);
    expectFigure(performance.now() - start, 1800, 'ms with one try that hangs');
  });

  it('EM05 gives up on slow answers when the time is over', async () => {
    stub.misbehave({ delayMs: 2000 });
    const once = embedderWith({ timeoutMs: 100, retries: 0 }).embed('m', [text], soon());
    const fault = await faultOf(once);
    expect(fault).toEqual({ code: 'EMBEDDING_TIMEOUT', args: { provider: 'openai', ms: 100 } });
    stub.misbehave(...Array(4).fill({ delayMs: 2000 }));
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
