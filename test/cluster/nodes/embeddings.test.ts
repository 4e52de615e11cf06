// K22: the node that takes a call has its texts embedded, and the leader uses what comes beside the call: only from a
// node that proves to be one, and only for the model and text that it was made of.
import { type IncomingHttpHeaders, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { packEmbedded } from '../../../engine/embed/embedding-transfer.js';
import type { ClusterNode } from '../../../engine/internal.js';
import { NodeProof } from '../../../server/cluster/node-auth.js';
import type { Exchange } from '../../../server/http/exchange.js';
import { ClusterCounts } from '../../../server/cluster/cluster-counts.js';
import { forwardToLeader } from '../../../server/cluster/forward/forward.js';
import { NodeClient } from '../../../server/cluster/node-client.js';
import { EmbeddingStub } from '../../support/server/embedding-stub.js';
import { Servers, secret } from '../support/servers.js';

const sources = {
  'main.hx': `V::Memo { text: String, from: String DEFAULT "" }
#[mcp] QUERY note(text: String) =>
    v <- AddV<Memo>(Embed(text), {text: text})
    RETURN v::{text, data}
QUERY both(a: String, b: String) =>
    x <- AddV<Memo>(Embed(a), {text: a})
    y <- AddV<Memo>(Embed(b), {text: b})
    RETURN x::{data}, {other: y::{data}}
QUERY memos() => v <- V<Memo> RETURN v::{text, data}
`,
};

/** What the provider makes of a text. */
const vectorOf = (text: string): number[] => [text.length, 1];

let servers: Servers;
let stub: EmbeddingStub;
/** By which node the provider was asked, one letter a time. */
const asked = (): string => stub.requests.map(({ path }) => path.at(-1)).join('');
const key = { 'X-Api-Key': 'known-to-the-test-alone' };
const call = (node: string, path: string, body: object | string, headers: object = {}) =>
  servers.call(node, path, body, { ...key, ...headers });

beforeAll(async () => {
  stub = await EmbeddingStub.open();
  servers = await Servers.over(sources);
  const config = {
    'server.ad_hoc_queries': true,
    'embedding.model': 'local',
    'embedding.cache_entries': 0,
    'embedding.retries': 0,
    'auth.api_key': key['X-Api-Key'],
  };
  const of = (node: string) => ({ EMBEDDING_URL: `${stub.url}/${node}` });
  await servers.place('a', config, of('a'));
  await servers.place('b', { ...config, 'cluster.role': 'reader' }, of('b'));
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
});
beforeEach(() => {
  stub.requests.length = 0;
  stub.answers.length = 0;
});
afterAll(async () => {
  await servers.close();
  await stub.close();
});

const source = 'QUERY q(t: String) => v <- AddV<Memo>(Embed(t), {text: t}) RETURN v::{text, data}';
const tool = (text: string): object => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'note', arguments: { text } },
});
const accept = { 'MCP-Protocol-Version': '2025-06-18', Accept: 'application/json' };

/** The doors by which a write with a text comes in; what each gives is its answer as a text. */
const doors: Record<string, (node: string, text: string) => Promise<string>> = {
  query: async (node, text) => JSON.stringify((await call(node, 'note', { text })).body),
  'query under a key': async (node, text) =>
    JSON.stringify(
      (await call(node, 'note', { text }, { 'Idempotency-Key': text.replaceAll(/\W/g, '-') })).body,
    ),
  profile: async (node, text) =>
    JSON.stringify((await call(node, 'note?profile=1', { text })).body.result),
  'query in the call': async (node, text) => {
    const parameters = { t: text };
    return JSON.stringify((await call(node, '_query', { source, parameters, write: true })).body);
  },
  'tool of an agent': async (node, text) => {
    const { body } = await call(node, 'mcp', tool(text), accept);
    return JSON.stringify(body.result.structuredContent);
  },
  'tool of a session': async (node, text) => {
    const { body: connection_id } = await call(node, 'mcp/init', {});
    const { body } = await call(node, 'mcp/noteMcp', { connection_id, data: { text } });
    return JSON.stringify(body);
  },
};

test.each(Object.keys(doors))(
  'K22 the node that received the request embeds it, one time: %s',
  async (door) => {
    const here = `by b: ${door}`;
    expect(await doors[door]!('b', here)).toContain(JSON.stringify(vectorOf(here)));
    expect(asked()).toBe('b');
    stub.requests.length = 0;
    const there = `by a: ${door}`;
    expect(await doors[door]!('a', there)).toContain(JSON.stringify(vectorOf(there)));
    expect(asked()).toBe('a');
  },
);

/** Whoever asks. */
const self = { node: 'x', addresses: ['x:1'] };

test('K22 a question about a call has nothing embedded', async () => {
  expect((await call('b', 'note?explain=1', { text: 'asked about' })).status).toBe(200);
  expect(asked()).toBe('');
});

test('K22 each text has its own vector', async () => {
  const { body } = await call('b', 'both', { a: 'one', b: 'three' });
  expect(body).toEqual({ x: { data: vectorOf('one') }, data: { other: vectorOf('three') } });
  expect(new Set(asked())).toEqual(new Set('b'));
});

test('K22 nothing is embedded for whom the node that took it refuses', async () => {
  const wrong = await servers.call('b', 'note', { text: 'x' }, { 'X-Api-Key': 'wrong' });
  const none = await servers.call('b', 'note', { text: 'x' });
  const typed = await call('b', 'note', { text: 7 });
  const known = await call('a', 'note', { text: 7 });
  expect([wrong.status, none.status, typed.status]).toEqual([403, 401, 400]);
  expect([typed.body.code, typed.body.errors]).toEqual([known.body.code, known.body.errors]);
  expect(asked()).toBe('');
});

test('K22 what its provider refuses is the answer, and nothing was done', async () => {
  const count = async () => (await call('b', 'memos', {})).body.v.length;
  const before = await count();
  stub.answers.push({ status: 400, body: '{"error":{"message":"no"}}' });
  const refused = await call('b', 'note', { text: 'refused' });
  expect([refused.status, refused.body.code]).toEqual([400, 'EMBEDDING_REFUSED']);
  stub.answers.push({ delayMs: 400 });
  const late = await call('b', 'note', { text: 'late' }, { 'X-Request-Timeout-Ms': '150' });
  expect(late.status).toBe(504);
  expect([asked(), await count()]).toEqual(['bb', before]);
});

test('K22 precomputed vectors are accepted from nodes only, and one time', async () => {
  const text = 'forged';
  const forged = packEmbedded([
    { use: { model: 'local', purpose: 'document' }, text, vector: Float64Array.of(7, 7) },
    {
      use: { model: 'other', purpose: 'document' },
      text: 'of another model',
      vector: Float64Array.of(7, 7),
    },
  ]);
  const { client } = servers.get('a');
  const head = { path: '/note', tenant: '' };
  const send = async (signature: string, body: Buffer, told = text) => {
    stub.requests.length = 0;
    const headers = { ...key, 'Trellis-Embeddings': signature, 'Trellis-Passed-On': 'x' };
    const whole = { path: 'note', body, headers };
    const { status, text: answer } = await client.request(whole);
    return [status, JSON.parse(answer).v?.data, asked(), told];
  };
  const body = (told: string) =>
    Buffer.concat([Buffer.from(JSON.stringify({ text: told })), forged]);
  const own = [200, vectorOf(text), 'a', text];
  const stranger = new NodeProof(['of nobody who is known here'], self, () => true);
  const node = new NodeProof([secret], self, () => true);
  const peerOf = async (asking: NodeProof) => {
    const greeting = asking.greet(`127.0.0.1:${servers.get('a').port}`);
    const asked = { path: '_admin/cluster-hello', body: JSON.stringify(greeting), headers: key };
    return asking.peerOf(greeting, JSON.parse((await client.request(asked)).text));
  };
  const peer = await peerOf(node);
  const foreign = await peerOf(stranger);
  const length = forged.length;
  const good = `${length} ${node.answer(peer, head, body(text))}`;
  const of = (head: { path: string; tenant: string }) =>
    `${length} ${node.answer(peer, head, body(text))}`;
  // By a wrong secret, none, for another path, about another body.
  expect(await send(`${length} ${stranger.answer(foreign, head, body(text))}`, body(text))).toEqual(
    own,
  );
  expect(await send(`${length}`, body(text))).toEqual(own);
  expect(await send(of({ path: '/both', tenant: '' }), body(text))).toEqual(own);
  expect(await send(of(head), body('forger'))).toEqual([200, vectorOf('forger'), 'a', text]);
  // As a node of the cluster says it; and the same once more.
  expect(await send(good, body(text))).toEqual([200, [7, 7], '', text]);
  expect(await send(good, body(text))).toEqual(own);
  // Made by another model than this text is for.
  const other = 'of another model';
  const fresh = `${length} ${node.answer(peer, head, body(other))}`;
  expect(await send(fresh, body(other))).toEqual([200, vectorOf(other), 'a', text]);
  // More bytes than there are, or none at all.
  for (const count of ['99999', '-1', 'x', ''])
    expect((await send(`${count} ${good}`, Buffer.from('{"text":"plain"}')))[0]).toBe(200);
});

test('K22 the leader gets the remaining time, and a body within its limit', async () => {
  const seen: { headers: IncomingHttpHeaders; bytes: number }[] = [];
  // A leader of a version that takes no embeddings, or takes them.
  let takes = true;
  const server = createServer(async (request, response) => {
    let bytes = 0;
    for await (const piece of request) bytes += (piece as Buffer).length;
    if (request.url === '/_admin/cluster-hello')
      return response.end(JSON.stringify({ challenge: '0.x', ...(takes && { embeddings: true }) }));
    seen.push({ headers: request.headers, bytes });
    return response.end('{}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const leader = { node: 'a', address: `127.0.0.1:${port}` };
  const node = { leader, program: '0'.repeat(16) } as ClusterNode;
  const made = Buffer.alloc(100);
  const pass = async (options: { timeout?: string; bodyMax?: number; secret?: string }) => {
    const { timeout = '', bodyMax = 1_000 } = options;
    const proof =
      options.secret === undefined ? undefined : new NodeProof([options.secret], self, () => false);
    const calls = new NodeClient({ secure: false, proof });
    const exchange = {
      ...{ path: '/note', query: '', tenant: '', apiKey: '', authorization: '', contentType: '' },
      ...{ forwardedProgram: '', requestId: 'r', traceparent: '', timeoutHeader: timeout },
      startedAt: performance.now(),
    } as Exchange;
    const embed = () => pause(200).then(() => made);
    const forwarded = { body: Buffer.from('{}'), embed, budgetMs: Number(timeout) || 10_000 };
    const counts = new ClusterCounts();
    await forwardToLeader({ node, waitMs: 1_000, calls, counts, bodyMax }, exchange, forwarded);
    calls.close();
    const { headers, bytes } = seen.pop()!;
    return { left: Number(headers['x-request-timeout-ms']), bytes };
  };
  for (const [timeout, budget] of [
    ['900', 900],
    ['', 10_000],
  ] as const) {
    const { left, bytes } = await pass({ timeout, secret });
    expect([bytes, left <= budget - 200, left > 0]).toEqual([102, true, true]);
  }
  expect((await pass({ secret, bodyMax: 101 })).bytes).toBe(2);
  // Without a proof, the leader embeds, with the whole time limit.
  expect(await pass({})).toEqual({ left: Number.NaN, bytes: 2 });
  takes = false;
  expect((await pass({ secret })).bytes).toBe(2);
  server.close();
});
