// Nodes of a cluster as real processes behind HTTP: founded by the command, written to through any of them,
// read as fresh as a request asks, led by another when one dies.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Servers, patient, people, secret } from '../support/servers.js';
import { clusterFamilies } from '../../../engine/cluster/families.js';
import { writeProject } from '../../support/project.js';
import { readScrape } from '../../support/prometheus.js';
import { Client } from '../../support/server/http.js';
import { runCli } from '../../support/server/server.js';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { NodeProof } from '../../../server/cluster/node-auth.js';
import { type Role, makeKey } from '../../../server/auth/key-record.js';

const figures = `V::F { of: String DEFAULT "" }
QUERY addF(v: [F64]) => f <- AddV<F>(v, {of: "x"}) RETURN f::{of}
QUERY nearF(v: [F64]) => f <- SearchV<F>(v, 3) RETURN f::{id, score}
`;

/** The numbers of a node, by name and labels. */
async function scrape(name: string): Promise<Map<string, number>> {
  const { text } = await nodes.get(name)!.client.request({ method: 'GET', path: 'metrics' });
  const { samples, faults } = readScrape(text);
  expect(faults).toEqual([]);
  return samples;
}

let servers: Servers;
let nodes: Servers['nodes'];
let log: Servers['log'];

const place = (name: string, role = 'member') =>
  // One shall be out of patience soon; others wait as long as a busy machine takes.
  servers.place(name, {
    'cluster.role': role,
    ...(name === 'b' && { 'cluster.wait_timeout': '1s' }),
  });
const statusOf = (name: string) => servers.statusOf(name);
const leads = (name: string) => servers.leads(name);
const command: Servers['command'] = (...args) => servers.command(...args);
const call: Servers['call'] = (...args) => servers.call(...args);

beforeAll(async () => {
  servers = await Servers.over({ ...people, 'figure.hx': figures });
  ({ nodes, log } = servers);
});

test('K16 the command creates a cluster, and only one time', async () => {
  const a = await place('a');
  const b = await place('b', 'reader');
  const init = await servers.command('init', a);
  expect(init.stderr + init.stdout).toContain('created the log');
  cpSync(a.data, b.data, { recursive: true });
  await a.start();
  await leads('a');
  await b.start();
  const c = await place('c');
  const again = await servers.command('init', c);
  expect(again.code).toBe(78);
  expect(again.stderr).toContain('another database');
  nodes.delete('c');
});

afterAll(() => servers.close());

test('K18 K21 a write goes through any node, and that node reads it', async () => {
  for (let i = 0; i < 20; i++) {
    const via = i % 2 === 0 ? 'a' : 'b';
    const { status, body, position } = await call(via, 'add', { name: `n${i}` });
    expect([status, body.p]).toEqual([200, { name: `n${i}` }]);
    expect(position).toMatch(/^\d+\.\d+$/);
    expect((await call(via, 'all', {})).body).toEqual({ p: i + 1 });
  }
  // Refusals are answers too, wherever they were made.
  for (const [node, path, body, code] of [
    ['a', 'add', {}, 'PARAM_MISSING'],
    ['b', 'add', {}, 'PARAM_MISSING'],
    ['b', '_admin/cluster-piece?copy=x&path=y', {}, 'NOT_FOUND'],
  ] as const) {
    const refused = await call(node, path, body, {});
    expect([refused.body.code, refused.position]).toEqual([
      code,
      expect.stringMatching(/^\d+\.\d+$/),
    ]);
  }
});

test('K19 K20 reads are as current as they request', async () => {
  const { position } = await call('a', 'add', { name: 'fresh' });
  const after = await call('b', 'all', {}, { 'Trellis-After': position });
  expect(after.body).toEqual({ p: 21 });
  const seq = (text: string): number => Number(text.split('.')[1]);
  expect(seq(after.position)).toBeGreaterThanOrEqual(seq(position));
  const [epoch] = position.split('.');
  const never = await call('b', 'all', {}, { 'Trellis-After': `${epoch}.999999` });
  expect([never.status, never.body.code]).toEqual([503, 'REPLICA_BEHIND']);
  for (const node of ['a', 'b']) {
    const fresh = await call(node, 'all', {}, { 'Trellis-Consistency': 'strong' });
    expect(fresh).toMatchObject({ status: 200, body: { p: 21 } });
  }
  expect((await call('b', 'all', {}, { 'Trellis-Consistency': 'max-lag=60000' })).status).toBe(200);
  for (const headers of [{ 'Trellis-After': 'x' }, { 'Trellis-Consistency': 'eventual' }]) {
    const wrong = await call('b', 'all', {}, headers);
    expect([wrong.status, wrong.body.code]).toEqual([400, 'PARAM_VALUE']);
  }
});

test('K23 readyz and the command name the leader; livez does not depend on the log', async () => {
  const b = nodes.get('b')!;
  expect((await statusOf('b')).leader).toMatchObject({ node: 'a' });
  const told = await runCli(['cluster', 'status', b.project, '--data', b.data, '--json']);
  expect(JSON.parse(told.stdout)).toMatchObject({ node: 'b', role: 'follower', name: 'people' });
  const live = await b.client.request({ method: 'GET', path: 'livez' });
  expect(live.text).toBe('{"live":true}');
  // Whichever node is asked.
  const check = await servers.command('check', b);
  expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('2 of 2 equal at ')]);
  const own = await runCli([
    'cluster',
    'check',
    b.project.replace(b.folder, nodes.get('a')!.folder),
  ]);
  expect(own.code).not.toBe(0);
});

test('K28 a reload on the leader is served by every node', async () => {
  const more = { 'more.hx': 'QUERY names() => p <- N<P>::RANGE(0, 1) RETURN p::{name}\n' };
  const a = nodes.get('a')!;
  writeProject(a.project, { sources: more });
  await expect.poll(async () => (await call('b', 'names', {})).status, patient).toBe(200);
});

test('K29 a call that was passed on under another program is refused, and not done', async () => {
  const before = (await call('a', 'all', {}, { 'Trellis-Consistency': 'strong' })).body;
  const passed = { 'Trellis-Passed-On': '0123456789abcdef' };
  const { status, body } = await call('a', 'add', { name: 'old' }, passed);
  expect([status, body.code, body.retryable]).toEqual([409, 'PROGRAM_CHANGED', true]);
  expect((await call('a', 'all', {}, { 'Trellis-Consistency': 'strong' })).body).toEqual(before);
});

test('K39 a session is found from every node that knows where its own is, and named by others', async () => {
  const id = async (name: string): Promise<string> => {
    const reply = await nodes.get(name)!.client.request({ path: 'mcp/init', body: '{}' });
    return JSON.parse(reply.text) as string;
  };
  const [led, read] = [await id('a'), await id('b')];
  expect([led.slice(36), read.slice(36)]).toEqual(['.a', '.b']);
  const step = { connection_id: led, data: { node_type: 'P' } };
  expect((await call('b', 'mcp/n_from_type', step)).status).toBe(200);
  const rest = { connection_id: led, drop: false };
  const [here, there] = [
    await call('a', 'mcp/collect', rest),
    await call('b', 'mcp/collect', rest),
  ];
  expect([there.status, there.body.length, there.body]).toEqual([200, 21, here.body]);
  // A reader never led, and the configuration names none.
  const refused = await call('a', 'mcp/collect', { connection_id: read });
  expect([refused.status, refused.body.code]).toEqual([421, 'SESSION_ELSEWHERE']);
  expect(refused.body.args).toEqual({ node: 'b' });
  const wrong = [`${led.slice(0, 36)}.127.0.0.1:1`, `${read.slice(0, 36)}.nobody`];
  for (const connection_id of wrong)
    expect((await call('a', 'mcp/collect', { connection_id })).status).toBe(421);
  for (const connection_id of [led.slice(0, 36), `${read.slice(0, 36)}.a`])
    expect((await call('a', 'mcp/collect', { connection_id })).body.code).toBe(
      'CONNECTION_NOT_FOUND',
    );
});

test('K24 K25 a node without data fetches those of the leader, and the snapshots of its indexes', async () => {
  for (let i = 0; i < 10; i++)
    expect((await call('a', 'addF', { v: [i, 1, 10 - i] })).status).toBe(200);
  expect((await call('a', '_admin/snapshot', {})).status).toBe(200);
  // One that is not in the snapshot: the log of vectors has it.
  expect((await call('a', 'addF', { v: [3, 3, 3] })).status).toBe(200);
  const c = await place('c', 'reader');
  await c.start();
  const snapshots = (name: string) => readdirSync(join(nodes.get(name)!.data, 'vec'));
  expect(snapshots('c')).toEqual(snapshots('a'));
  const near = { v: [3, 1, 7] };
  expect((await call('c', 'nearF', near)).body).toEqual((await call('a', 'nearF', near)).body);
  const figures = await scrape('c');
  expect(figures.get('trellis_replayed_operations')).toBe(1);
  const made = [...figures].filter(([name]) => name.includes('rebuilds_total'));
  expect(made.map(([, count]) => count)).toEqual([0, 0, 0, 0]);
  expect((await call('c', 'all', {}, { 'Trellis-Consistency': 'strong' })).body).toEqual({ p: 21 });
  expect(readdirSync(c.data)).not.toContain('joining');
  expect((await call('c', 'names', {})).status).toBe(200);
});

test('K38 /metrics of every node has all numbers of the cluster, under its name', async () => {
  await call('b', 'all', {}, { 'Trellis-Consistency': 'strong' });
  const { position } = await call('a', 'add', { name: 'counted' });
  await call('b', 'all', {}, { 'Trellis-After': position });
  await call('b', 'all', {}, { 'Trellis-Consistency': 'max-lag=0' });
  const [a, b] = [await scrape('a'), await scrape('b')];
  for (const [node, samples] of [
    ['a', a],
    ['b', b],
  ] as const) {
    const own = [...samples.keys()].filter((name) => name.startsWith('trellis_cluster_'));
    expect(own.filter((name) => !name.includes(`node="${node}"`))).toEqual([]);
    const bare = new Set(own.map((name) => name.replace(/\{.*/, '').slice(8)));
    const missing = Object.entries(clusterFamilies).filter(
      ([name, { type }]) =>
        !bare.has(type === 'histogram' ? `${name}_sum` : name) &&
        name !== 'cluster_leader_changes_total',
    );
    expect(missing).toEqual([]);
  }
  expect(a.get('trellis_cluster_role{node="a",role="leader"}')).toBe(1);
  expect(b.get('trellis_cluster_role{node="b",role="follower"}')).toBe(1);
  expect(a.get('trellis_cluster_log_bytes{node="a"}')).toBeGreaterThan(0);
  expect(a.get('trellis_cluster_log_first{node="a"}')).toBeGreaterThan(0);
  // Every second write of K18 went through b, and one that was refused.
  expect(b.get('trellis_cluster_forwarded_total{node="b",result="done"}')).toBeGreaterThan(9);
  expect(b.get('trellis_cluster_forwarded_total{node="b",result="refused"}')).toBeGreaterThan(0);
  const waits = 'trellis_cluster_read_waits_total';
  expect(b.get(`${waits}{node="b",mode="strong",result="done"}`)).toBeGreaterThan(0);
  expect(b.get(`${waits}{node="b",mode="session",result="behind"}`)).toBeGreaterThan(0);
  expect(b.get(`${waits}{node="b",mode="max-lag",result="behind"}`)).toBeGreaterThan(0);
});

test('K24 data go to nodes that prove to be some, or to administrators', async () => {
  const proofs = [
    'x',
    '0.a.b',
    `${Math.floor(performance.now()).toString(36)}.${'0'.repeat(64)}.1`,
  ];
  for (const proof of proofs) {
    for (const path of ['_admin/cluster-copy', '_admin/cluster-beat']) {
      const { status, body } = await call('a', path, {}, { 'Trellis-Node': proof });
      expect([status, body.code]).toEqual([403, 'INVALID_API_KEY']);
    }
  }
  const { body } = await call('a', '_admin/cluster-copy', {});
  expect(body.files.map(({ path }: { path: string }) => path)).toContain('graph/data.mdb');
  const piece = (path: string) =>
    call('a', `_admin/cluster-piece?copy=${body.copy}&path=${path}`, {});
  for (const path of ['keys.json', '../keys.json', 'graph/lock.mdb'])
    expect((await piece(path)).body.code).toBe('NOT_FOUND');
  await call('a', `_admin/cluster-copied?copy=${body.copy}`, {});
  expect((await piece('MANIFEST.json')).body.code).toBe('NOT_FOUND');
});

test('K24 a listener cannot use what a node has sent', async () => {
  const proof = new NodeProof([secret], { node: 'x', addresses: ['x:1'] }, () => true);
  const greeting = proof.greet(`127.0.0.1:${nodes.get('a')!.port}`);
  const peer = proof.peerOf(greeting, (await call('a', '_admin/cluster-hello', greeting)).body);
  expect(peer.isProved).toBe(true);
  const path = '/_admin/cluster-keys';
  const body = { set: [], revoke: ['never'] };
  const text = JSON.stringify(body);
  const header = (tenant = ''): Record<string, string> => {
    const said = proof.answer(peer, { path, tenant }, Buffer.from(text));
    return { 'Trellis-Node': said };
  };
  const ask = async (to: string, content: object, headers: object): Promise<string> => {
    const { status, body: told } = await call('a', to, content, headers);
    return status === 200 ? 'done' : told.code;
  };
  const good = header();
  expect(await ask(path.slice(1), body, good)).toBe('done');
  // The same again; another body, path or database under a signature that is fresh.
  expect(await ask(path.slice(1), body, good)).toBe('INVALID_API_KEY');
  expect(await ask(path.slice(1), { ...body, revoke: ['other'] }, header())).toBe(
    'INVALID_API_KEY',
  );
  expect(await ask(`${path.slice(1)}?to=b`, body, header())).toBe('INVALID_API_KEY');
  expect(await ask('_admin/cluster-step-down', body, header())).toBe('INVALID_API_KEY');
  expect(await ask(path.slice(1), body, header('acme'))).toBe('INVALID_API_KEY');
  expect((await statusOf('a')).role).toBe('leader');
});

test('K26 a node that the log no longer reaches continues with a newer copy', async () => {
  const c = nodes.get('c')!;
  await c.stop();
  await call('a', 'add', { name: 'meanwhile' });
  const { position } = await call('a', 'add', { name: 'and then' });
  log.trim(Number(position.split('.')[1]));
  await c.start();
  await expect
    .poll(async () => `${JSON.stringify(await statusOf('c'))}\n${c.stderr}`, patient)
    .toContain('"role":"follower"');
  expect((await call('c', 'all', {}, { 'Trellis-Consistency': 'strong' })).body).toEqual({ p: 24 });
  expect(c.stderr).toContain('continues with the data of another node');
});

/** How many items there are when the leader is lost. */
let kept = 24;

test('K44 K22 a leader hands over to the named node; a client that writes meanwhile gets no error', async () => {
  const d = await place('d');
  await d.start();
  const a = nodes.get('a')!;
  let isOver = false;
  const refused: unknown[] = [];
  const write = async (via: string): Promise<void> => {
    const client = new Client(nodes.get(via)!.port);
    while (!isOver) {
      const headers = { 'X-Request-Timeout-Ms': '20000' };
      const { status, body } = await call(via, 'add', { name: `by ${via}` }, headers, { client });
      if (status === 200) kept++;
      else refused.push([via, status, body]);
    }
    client.close();
  };
  const writing = ['a', 'c', 'd'].map(write);
  for (const [from, to] of [
    [a, 'd'],
    [d, 'a'],
  ] as const) {
    expect((await command('step-down', from, '--to', to)).stdout).toContain('handed over');
    await leads(to);
    expect((await call('c', 'add', { name: `under ${to}` })).status).toBe(200);
    kept++;
  }
  isOver = true;
  await Promise.all(writing);
  expect(refused).toEqual([]);
  expect((await call('c', 'all', {}, { 'Trellis-Consistency': 'strong' })).body.p).toBe(kept);
});

test('without a leader writes fail with that reason, and reads continue', async () => {
  await nodes.get('d')!.stop();
  await nodes.get('a')!.kill();
  const refused = await call('b', 'add', { name: 'lost' });
  expect(refused.status).toBe(503);
  expect(['NOT_LEADER', 'NO_LEADER', 'OUTCOME_UNKNOWN']).toContain(refused.body.code);
  expect((await call('b', 'all', {}, { 'Trellis-Consistency': 'local' })).body).toEqual({
    p: kept,
  });
  await nodes.get('a')!.start();
  await leads('a');
  await expect
    .poll(async () => (await call('b', 'add', { name: 'back' })).status, patient)
    .toBe(200);
  expect((await call('b', 'all', {})).body).toEqual({ p: kept + 1 });
});

test('K16 CT2 data that the log is not yet known to have answer only reads without a required position', async () => {
  const { position } = await call('b', 'all', {});
  const token = { 'Trellis-After': position };
  expect((await call('b', 'all', {}, token)).status).toBe(200);
  await nodes.get('b')!.kill();
  // It begins where it was, and nobody tells it whether the log still has that.
  log.fault('b', { away: 'lost' });
  await nodes.get('b')!.start();
  expect((await statusOf('b')).role).toBe('joining');
  for (const some of [{}, { 'Trellis-Consistency': 'local' }])
    expect(await call('b', 'all', {}, some)).toMatchObject({ status: 200, body: { p: kept + 1 } });
  for (const fresh of [token, { 'Trellis-Consistency': 'max-lag=60000' }])
    expect(await call('b', 'all', {}, fresh)).toMatchObject({
      status: 503,
      body: { code: 'REPLICA_BEHIND' },
    });
  log.fault('b', undefined);
  await expect.poll(async () => (await call('b', 'all', {}, token)).status, patient).toBe(200);
});

test('CT7 a node joins while others write and the log is trimmed, again and again', async () => {
  const rounds = process.env.TRELLIS_TEST_LONG === '1' ? 20 : 1;
  const e = await place('e', 'reader');
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i++) {
      const { status, position } = await call('a', 'add', { name: `w${i}` });
      expect(status).toBe(200);
      if (i % 50 === 49) log.trim(Number(position.split('.')[1]) - 20);
    }
  })();
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await e.stop();
    rmSync(e.data, { recursive: true, force: true });
    await e.start();
    const strong = { 'Trellis-Consistency': 'strong' };
    await expect.poll(async () => (await call('e', 'all', {}, strong)).status, patient).toBe(200);
  }
  isOver = true;
  await writing;
  const strong = { 'Trellis-Consistency': 'strong' };
  const [one, other] = [await call('a', 'all', {}, strong), await call('e', 'all', {}, strong)];
  expect(other.body).toEqual(one.body);
  const check = JSON.parse((await command('check', nodes.get('a')!, '--json')).stdout);
  expect(check.nodes).toContainEqual({ node: 'e', result: 'equal' });
  const { position } = await call('a', 'add', { name: 'behind the check' });
  await call('e', 'all', {}, { 'Trellis-After': position });
  expect((await statusOf('e')).role).toBe('follower');
});

test('K32 a key that is made or revoked on one node is so on all', async () => {
  // As `trellis keys` does it, without the start of a process for each.
  const fileOf = (name: string): string => join(nodes.get(name)!.data, 'keys.json');
  const add = (name: string, role: Role): { id: string; text: string } => {
    const { record, text } = makeKey({ name: role, role }, new Date());
    changeKeyFile(fileOf(name), (keys) => [...keys, record]);
    return { id: record.id, text };
  };
  const revoke = (name: string, id: string): void =>
    changeKeyFile(fileOf(name), (keys) => keys.filter((key) => key.id !== id));
  const patience = { timeout: 60_000 };
  const says = (node: string, key: string, status: number): Promise<void> =>
    expect
      .poll(async () => (await call(node, 'all', {}, { 'X-Api-Key': key })).status, patience)
      .toBe(status);
  const one = add('b', 'admin');
  for (const node of ['a', 'b', 'e']) {
    await says(node, one.text, 200);
    await says(node, '', 401);
  }
  const other = add('a', 'read');
  await says('e', other.text, 200);
  revoke('e', other.id);
  for (const node of ['e', 'b', 'a']) await says(node, other.text, 403);
  // Nobody but a node may change them over the network.
  const forged = { set: [], revoke: [one.id] };
  const refused = await call('a', '_admin/cluster-keys', forged, { 'X-Api-Key': one.text });
  expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
  // One that was away hears of it before it answers anybody.
  const e = nodes.get('e')!;
  await e.stop();
  revoke('b', one.id);
  await says('a', one.text, 403);
  await e.start();
  await says('e', one.text, 403);
});
