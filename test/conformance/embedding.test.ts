// Embedding providers behind a real server: the four request shapes, credentials, failures and
// retries, and that an embedding call holds nothing up.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EmbeddingStub, type StubAnswer } from '../support/server/embedding-stub.js';
import { Client } from '../support/server/http.js';
import { type Server, startServer } from '../support/server/server.js';
import { expectFigure } from '../support/run/figure.js';

const providers = {
  openai: {
    model: 'openai:text-embedding-3-small',
    env: (url: string) => ({ OPENAI_API_KEY: 'sk-planted', OPENAI_BASE_URL: `${url}/v1` }),
    path: '/v1/embeddings',
    header: ['authorization', 'Bearer sk-planted'],
  },
  azure: {
    model: 'azure_openai:my-deployment',
    env: (url: string) => ({ AZURE_OPENAI_API_KEY: 'az-planted', AZURE_OPENAI_ENDPOINT: url }),
    path: '/openai/deployments/my-deployment/embeddings?api-version=2024-10-21',
    header: ['api-key', 'az-planted'],
  },
  gemini: {
    model: 'gemini:embedding-001:CLUSTERING',
    env: (url: string) => ({ GEMINI_API_KEY: 'ge-planted', GEMINI_BASE_URL: url }),
    path: '/v1beta/models/embedding-001:batchEmbedContents',
    header: ['x-goog-api-key', 'ge-planted'],
  },
  local: {
    model: 'local',
    env: (url: string) => ({ EMBEDDING_URL: `${url}/embed` }),
    path: '/embed',
    header: ['content-type', 'application/json'],
  },
} as const;

/** A type has the vectors of one model. */
const typeOf = (name: string): string => `Of${name}`;
const types = Object.keys(providers)
  .map((name) => `V::${typeOf(name)} { text: String }\n`)
  .join('');

const queries = Object.entries(providers)
  .map(
    ([name, { model }]) => `
#[model("${model}")]
QUERY ${name}(t: String) => v <- AddV<${typeOf(name)}>(Embed(t), { text: t }) RETURN v::{text, data}
`,
  )
  .join('');

const sources = {
  'main.hx': `
V::Memo { text: String }
V::Other { text: String }
${types}N::Doc { no: I64 }
${queries}
QUERY plain(t: String) => v <- AddV<Memo>(Embed(t), { text: t }) RETURN v::{data}
QUERY two(a: String, b: String) =>
  x <- AddV<Memo>(Embed(a), { text: a })
  y <- AddV<Memo>(Embed(b), { text: b })
  RETURN x::{data}, { second: y::{data} }
QUERY memos() => n <- V<Memo>::COUNT RETURN n
QUERY search(t: String) => v <- SearchV<Memo>(Embed(t), 1) RETURN v::{text}
QUERY add(no: I64) => d <- AddN<Doc>({ no: no }) RETURN d::{no}
`,
};

let stub: EmbeddingStub;
let server: Server;
beforeAll(async () => {
  stub = await EmbeddingStub.open();
  const env = Object.assign({}, ...Object.values(providers).map((each) => each.env(stub.url)));
  const config = { 'embedding.model': 'openai:text-embedding-3-small', 'embedding.timeout': '1s' };
  server = await startServer({ sources, env, config });
});
afterAll(async () => {
  await server?.dispose();
  await stub?.close();
});
beforeEach(() => {
  stub.requests.length = 0;
});
afterEach(() => {
  stub.answers.length = 0;
});

describe('success', () => {
  for (const [name, { path, header }] of Object.entries(providers))
    test(name, async () => {
      const t = `text for ${name}`;
      expect(await server.client.post(name, { t })).toEqual({
        v: { text: t, data: [t.length, 1] },
      });
      expect(stub.requests).toHaveLength(1);
      expect(stub.requests[0]!.path).toBe(path);
      expect(stub.requests[0]!.headers[header[0]]).toContain(header[1]);
    });

  test('two texts of one request: equal ones are embedded one time', async () => {
    const answer = await server.client.post('two', { a: 'first', b: 'second one' });
    expect(answer).toEqual({ x: { data: [5, 1] }, data: { second: [10, 1] } });
    stub.requests.length = 0;
    await server.client.post('two', { a: 'equal text', b: 'equal text' });
    expect(stub.requests.length).toBeLessThanOrEqual(1);
  });

  test('a search embeds with the same model', async () => {
    expect(await server.client.post('search', { t: 'first' })).toEqual({ v: [{ text: 'first' }] });
  });
});

interface Failure {
  name: string;
  answers: StubAnswer[];
  status: number;
  code: string;
  mentions?: string;
}

const fail = (name: string, status: number, code: string, ...answers: StubAnswer[]): Failure => ({
  name,
  answers,
  status,
  code,
});

/** 4-byte characters so that a cut at any byte would fall inside one. */
const long = '😀'.repeat(400);

const failures: Failure[] = [
  fail('refused credential', 500, 'EMBEDDING_NOT_CONFIGURED', {
    status: 401,
    body: '{"error":{"message":"Incorrect API key"}}',
  }),
  fail('a long message is cut at a character [BREAK-EMBED]', 400, 'EMBEDDING_REFUSED', {
    status: 400,
    body: JSON.stringify({ error: { message: `a${long}` } }),
  }),
  fail(
    'server errors that are no JSON',
    503,
    'EMBEDDING_UNAVAILABLE',
    ...Array(5).fill({
      status: 500,
      body: '<html>oops</html>',
    }),
  ),
  fail('string elements', 500, 'EMBEDDING_FAILED', {
    body: '{"data":[{"index":0,"embedding":["1","2"]}]}',
  }),
  fail('empty vector', 500, 'EMBEDDING_FAILED', { body: '{"data":[{"index":0,"embedding":[]}]}' }),
  fail('not finite', 500, 'EMBEDDING_FAILED', {
    body: '{"data":[{"index":0,"embedding":[1e39,0]}]}',
  }),
  fail('another dimension', 400, 'VECTOR_DIMENSION', {
    body: '{"data":[{"index":0,"embedding":[1,2,3]}]}',
  }),
  fail('too slow', 504, 'EMBEDDING_TIMEOUT', ...Array(5).fill({ delayMs: 3000 })),
  fail('redirects are not followed', 500, 'EMBEDDING_FAILED', {
    status: 302,
    headers: { Location: 'http://127.0.0.1:1/' },
  }),
];

describe('failure', () => {
  for (const [index, { name, answers, status, code }] of failures.entries())
    test(name, async () => {
      const before = await server.client.post('memos');
      stub.answers.push(...answers);
      const body = JSON.stringify({ t: `failing text ${index}` });
      const reply = await server.client.request({ path: 'plain', body }, 30_000);
      expect([reply.status, JSON.parse(reply.text).code], reply.text).toEqual([status, code]);
      expect(reply.text).not.toContain('planted');
      expect(reply.text).not.toContain('\ufffd');
      expect(reply.body.length).toBeLessThan(2500);
      expect(await server.client.post('memos')).toEqual(before);
    });

  test('429 and 500 are retried', async () => {
    stub.answers.push(
      { status: 429, headers: { 'Retry-After': '1' }, body: '{}' },
      { status: 500 },
    );
    const answer = await server.client.post('plain', { t: 'tried again' });
    expect(answer).toEqual({ v: { data: [11, 1] } });
    expect(stub.requests).toHaveLength(3);
  });

  test('4xx is not retried', async () => {
    stub.answers.push({ status: 400, body: '{"error":{"message":"no"}}' });
    await server.client.request({ path: 'plain', body: '{"t":"only once"}' });
    expect(stub.requests).toHaveLength(1);
  });
});

test('a slow embedding holds no writer', async () => {
  stub.answers.push({ delayMs: 700 });
  const other = new Client(server.port);
  const slow = server.client.post('plain', { t: 'slow but fine' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const started = Date.now();
  await other.post('add', { no: 1 });
  expectFigure(Date.now() - started, 500, 'ms of a write beside');
  other.close();
  expect(await slow).toEqual({ v: { data: [13, 1] } });
});

test('a missing credential is found at the call and named', async () => {
  // A server on this machine would need no credential.
  const env = { AZURE_OPENAI_ENDPOINT: 'https://models.example' };
  const bare = await startServer({ sources, env });
  try {
    for (const [name, variable] of [
      ['openai', 'OPENAI_API_KEY'],
      ['azure', 'AZURE_OPENAI_API_KEY'],
      ['gemini', 'GEMINI_API_KEY'],
    ]) {
      const reply = await bare.client.request({ path: name!, body: '{"t":"x"}' });
      expect(JSON.parse(reply.text).code).toBe('EMBEDDING_NOT_CONFIGURED');
      expect(reply.text).toContain(variable);
    }
    const none = await bare.client.request({ path: 'plain', body: '{"t":"x"}' });
    expect([none.status, JSON.parse(none.text).code]).toEqual([500, 'EMBEDDING_NOT_CONFIGURED']);
  } finally {
    await bare.dispose();
  }
});
