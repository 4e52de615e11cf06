// `trellisdb/client` with several addresses: it leaves nodes that are unreachable, do not lead, or are
// behind; it sends the received positions with requests; and a session stays on its node. Nodes are functions
// here.
import { expect, test } from 'vitest';
import { connect, TrellisError, UnknownOutcomeError } from '../../server/client/client.js';

type Asked = { node: string; path: string; after: string | null };
type Answer = { status?: number; body: unknown; position?: string } | 'refused' | 'broken';

/** A connection to nodes a, b and c; `answer` says what each does. */
function clusterOf(answer: (asked: Asked, nth: number) => Answer) {
  const asked: Asked[] = [];
  const send = (async (url: string, init: RequestInit) => {
    const [, node, path] = /^http:\/\/(\w):1\/(.*)$/.exec(url)!;
    const one = { node: node!, path: path!, after: new Headers(init.headers).get('trellis-after') };
    asked.push(one);
    const given = answer(one, asked.length);
    if (given === 'refused') throw Object.assign(new TypeError('no'), { code: 'ECONNREFUSED' });
    if (given === 'broken') throw new TypeError('broken');
    const headers = new Headers();
    if (given.position !== undefined) headers.set('trellis-position', given.position);
    return new Response(JSON.stringify(given.body), { status: given.status ?? 200, headers });
  }) as typeof fetch;
  const url = ['http://a:1', 'http://b:1/', 'http://c:1'];
  const waits: number[] = [];
  const onRetry = ({ waitMs }: { waitMs: number }) => void waits.push(waitMs);
  return { asked, waits, db: connect({ url, fetch: send, retries: 5, onRetry }) };
}

const fault = (code: string, args = {}, retryable = true): Answer => ({
  status: 503,
  body: { error: code, code, args, retryable },
});
const nodesOf = (asked: Asked[]): string => asked.map(({ node }) => node).join('');

test('an unreachable node is left immediately, for all following calls', async () => {
  for (const writes of [true, false]) {
    const { asked, waits, db } = clusterOf(({ node }) => (node === 'a' ? 'refused' : { body: 1 }));
    expect(await db.call('x', {}, { writes })).toBe(1);
    expect(await db.call('x', {}, { writes })).toBe(1);
    expect(nodesOf(asked)).toBe('abb');
    expect(waits).toEqual([0]);
  }
});

test.each([
  ['NOT_LEADER', { node: 'c', address: 'c:1' }, 'acc'],
  ['NOT_LEADER', { node: 'x', address: 'elsewhere:1' }, 'abb'],
  ['NO_LEADER', {}, 'abb'],
  ['REPLICA_BEHIND', {}, 'abb'],
  ['LOG_UNAVAILABLE', {}, 'abb'],
])('%s %j: another node is asked', async (code, args, expected) => {
  const { asked, db } = clusterOf(({ node }) => (node === 'a' ? fault(code, args) : { body: 1 }));
  await db.call('x');
  await db.call('x');
  expect(nodesOf(asked)).toBe(expected);
});

test.each([
  ...['LOG_LOST', 'LOG_TRUNCATED', 'SCHEMA_AHEAD', 'FORMAT_TOO_NEW', 'DIVERGED', 'NODE_LEFT'],
  'STORAGE_LOST',
])('%s of one node is no reply of a cluster: each other node is asked one time', async (code) => {
  for (const writes of [true, false]) {
    const ill = fault(code, {}, false);
    const some = clusterOf(({ node }) => (node === 'c' ? { body: 1 } : ill));
    expect(await some.db.call('x', {}, { writes })).toBe(1);
    expect(await some.db.call('x', {}, { writes })).toBe(1);
    expect([nodesOf(some.asked), some.waits]).toEqual(['abcc', [0, 0]]);
    const all = clusterOf(() => ill);
    await expect(all.db.call('x', {}, { writes })).rejects.toMatchObject({ code });
    expect(nodesOf(all.asked)).toBe('abc');
  }
});

test('a request that no other node can answer better is sent to one node', async () => {
  for (const code of ['OUTCOME_UNKNOWN', 'PARAM_TYPE', 'INTERNAL']) {
    const { asked, db } = clusterOf(() => fault(code, {}, false));
    await expect(db.call('x')).rejects.toMatchObject({ code });
    expect(nodesOf(asked)).toBe('a');
  }
});

test('the greatest received position is sent with every request, also for a new log of the same data', async () => {
  const positions = ['1.5', '1.3', '2.10', '1.9', undefined, '65538.1', '2.99', '65538.2', 'no'];
  const { asked, db } = clusterOf((_, nth) => ({ body: nth, ...positionOf(positions[nth - 1]) }));
  for (const _ of positions) await db.call('x', {}, { writes: false });
  await db.call('x', {}, { writes: false });
  expect(asked.map(({ after }) => after)).toEqual([
    ...[null, '1.5', '1.5', '2.10', '2.10', '2.10'],
    ...['65538.1', '65538.1', '65538.2', '65538.2'],
  ]);
});

test('the greatest position of each shard of a type is sent with every request', async () => {
  const positions = ['1.5,p-0=1.2', '1.4,p-1=1.7,p-0=1.1', '1.6', '1.6,p-1=2.1,p-0=1.2', '1.6'];
  const { asked, db } = clusterOf((_, nth) => ({ body: nth, ...positionOf(positions[nth - 1]) }));
  for (const _ of positions) await db.call('x', {}, { writes: false });
  expect(asked.map(({ after }) => after)).toEqual([
    null,
    '1.5,p-0=1.2',
    '1.5,p-0=1.2,p-1=1.7',
    '1.6,p-0=1.2,p-1=1.7',
    '1.6,p-0=1.2,p-1=2.1',
  ]);
});

const positionOf = (position: string | undefined) => (position === undefined ? {} : { position });

test('a session stays on its node, whatever other calls do', async () => {
  let isAway = false;
  const { asked, db } = clusterOf(({ node, path }) => {
    if (node === 'a') return 'refused';
    if (isAway && node === 'b') return path.startsWith('mcp') ? 'broken' : 'refused';
    return { body: path === 'mcp/init' ? 'id' : [] };
  });
  const walk = await db.session();
  await walk.collect();
  isAway = true;
  await db.call('x');
  await expect(walk.nFromType({ node_type: 'P' })).rejects.toThrow(UnknownOutcomeError);
  expect(asked.map(({ node, path }) => `${node} ${path}`)).toEqual([
    'a mcp/init',
    'b mcp/init',
    'b mcp/collect',
    'b x',
    'c x',
    'b mcp/n_from_type',
  ]);
});

test('when no node can, the last answer is the error', async () => {
  const { asked, db } = clusterOf(() => fault('NO_LEADER'));
  await expect(db.call('x', {}, { retries: 2 })).rejects.toThrow(TrellisError);
  expect(nodesOf(asked)).toBe('abc');
});
