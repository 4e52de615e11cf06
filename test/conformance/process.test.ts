// The process around the queries: ports, locks, data directories, start, reload, drain, and who may
// connect.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Client, Connection } from '../support/server/http.js';
import { makeFolder, writeProject } from '../support/project.js';
import {
  runCli,
  type Server,
  type StartOptions,
  StartFailed,
  startServer,
} from '../support/server/server.js';

const sources = {
  'main.hx': `
N::Doc { no: I64 }
V::Emb { no: I64 }
QUERY ping() => RETURN "pong"
QUERY add(no: I64) => d <- AddN<Doc>({ no: no }) RETURN d::{no}
QUERY docs() => n <- N<Doc>::COUNT RETURN n
QUERY emb(vec: [F64]) => v <- AddV<Emb>(vec) RETURN v::ID
QUERY embs() => n <- V<Emb>::COUNT RETURN n
`,
};

const servers: Server[] = [];
async function start(options: Partial<StartOptions> = {}): Promise<Server> {
  const server = await startServer({ sources, ...options });
  servers.push(server);
  return server;
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.dispose();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

async function refusal(server: Server, change: Parameters<Server['start']>[0] = {}) {
  const failure = await server.start(change).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure, 'it started').toBeInstanceOf(StartFailed);
  return failure as StartFailed;
}

test('the ready line names the port, one time, and SIGTERM exits with 0', async () => {
  const server = await start();
  expect(server.readyLine).toBe(`trellis ready http://127.0.0.1:${server.port}`);
  expect(server.stdout.match(/trellis ready/g)).toHaveLength(1);
  await expect.poll(() => server.stderr).toMatch(/"try":"curl -s \S.*:\d+\/\w+"/);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  await server.start();
  expect(await server.stop('SIGINT')).toEqual({ code: 0, signal: null });
});

test('localhost answers on both loopback addresses [H16]', async () => {
  const server = await start();
  if (
    !Object.values(networkInterfaces())
      .flat()
      .some((one) => one?.address === '::1')
  )
    return;
  const client = new Client(server.port, '::1');
  expect(await client.post('ping')).toEqual({ data: 'pong' });
  client.close();
});

test('a port in use is 71, a locked directory 75', async () => {
  const server = await start();
  const other = await startServer({ sources });
  servers.push(other);
  await other.stop();
  const args = ['--port', String(server.port)];
  const taken = await refusal(other, { args });
  expect([taken.exit.code, taken.output.includes('PORT_IN_USE')]).toEqual([71, true]);
  const second = ['serve', server.project, '--data', server.data, '--port', '0'];
  const locked = await runCli(second);
  expect([locked.code, locked.stderr.includes('DATA_LOCKED')]).toEqual([75, true]);
  expect(await server.client.post('ping')).toEqual({ data: 'pong' });
});

test('a data directory that is a file, or not writable, is 74 [XC05]', async () => {
  const folder = makeFolder();
  writeProject(folder, { sources });
  writeFileSync(join(folder, 'file'), 'x');
  const serve = (data: string) => runCli(['serve', folder, '--data', data, '--port', '0']);
  const asFile = await serve(join(folder, 'file'));
  expect([asFile.code, asFile.stderr.includes('DATA_DIR_BAD')]).toEqual([74, true]);
  if (process.getuid?.() === 0) return;
  mkdirSync(join(folder, 'closed'), { mode: 0o500 });
  expect((await serve(join(folder, 'closed'))).code).toBe(74);
});

test('sources with an error are 65, and a project without queries starts [XQ23]', async () => {
  const folder = makeFolder();
  writeProject(folder, { sources: { 'bad.hx': 'QUERY q() => RETURN nope' } });
  const bad = await runCli(['serve', folder, '--data', join(folder, 'd'), '--port', '0']);
  expect([bad.code, /bad\.hx:1:\d+ E301/.test(bad.stdout + bad.stderr)]).toEqual([65, true]);
  const server = await start({ sources: { 'main.hx': 'N::P { name: String }\n' } });
  const reply = await server.client.request({ path: 'ping' });
  expect([reply.status, JSON.parse(reply.text).code]).toEqual([404, 'NOT_FOUND']);
  expect(typeof (await server.client.post('mcp/init'))).toBe('string');
});

describe('while starting and stopping', () => {
  test('every route but health is 503 NOT_READY before the ready line', async () => {
    const server = await start();
    for (let i = 0; i < 40; i++) await server.client.post('emb', { vec: [i, 1] });
    await server.stop();
    rmSync(join(server.data, 'vec'), { recursive: true });
    mkdirSync(join(server.data, 'vec'));
    const port = await freePort();
    const env = { TRELLIS_FAILPOINT: 'midRebuild@1:sleep' };
    const starting = server.start({ args: ['--port', String(port)], env });
    const seen = new Set<string>();
    const client = new Client(port);
    const deadline = Date.now() + 30_000;
    while (!seen.has('200') && Date.now() < deadline) {
      await pause(25);
      const reply = await client.request({ path: 'ping' }).catch(() => undefined);
      if (reply === undefined) continue;
      const { code } = JSON.parse(reply.text);
      seen.add(code === undefined ? '200' : `${reply.status} ${code}`);
      if (code !== 'NOT_READY') continue;
      expect(reply.headers.get('retry-after')).toBe('1');
      const live = await client.request({ method: 'GET', path: 'livez' });
      expect(live.status).toBe(200);
      const ready = await client.request({ method: 'GET', path: 'readyz' });
      if (ready.status === 503) expect(JSON.parse(ready.text).code).toBe('NOT_READY');
    }
    client.close();
    await starting;
    expect([...seen]).toEqual(['503 NOT_READY', '200']);
    expect(await server.client.post('embs')).toEqual({ n: 40 });
  });

  test('SIGTERM finishes calls in flight and refuses new ones with SHUTTING_DOWN', async () => {
    const server = await start({ env: { TRELLIS_FAILPOINT: 'W6@2:sleep' } });
    await server.client.post('add', { no: 1 });
    const idle = await Connection.open(server.port);
    const slow = new Client(server.port);
    const writing = slow.post('add', { no: 2 });
    await pause(200);
    server.child.kill('SIGTERM');
    await pause(200);
    const refused = await idle.request({ path: 'ping' });
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([503, 'SHUTTING_DOWN']);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await writing).toEqual({ d: { no: 2 } });
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    idle.close();
    slow.close();
    await server.start({ env: {} });
    expect(await server.client.post('docs')).toEqual({ n: 2 });
  });
});

describe('reload', () => {
  const until = async (server: Server, path: string, status: number): Promise<string> => {
    for (let i = 0; i < 100; i++) {
      const reply = await server.client.request({ path });
      if (reply.status === status) return reply.text;
      await pause(50);
    }
    throw new Error(`${path} never became ${status}: ${server.stderr.slice(-500)}`);
  };

  test('a changed set is swapped in, a broken one is not', async () => {
    const server = await start();
    writeProject(server.project, { sources: { 'more.hx': 'QUERY more() => RETURN 1' } });
    expect(await until(server, 'more', 200)).toBe('{"data":1}');
    writeProject(server.project, { sources: { 'more.hx': 'QUERY more() => RETURN nope' } });
    await pause(1000);
    expect(await server.client.post('more')).toEqual({ data: 1 });
    expect(server.stderr).toContain('E301');
    writeProject(server.project, { sources: { 'more.hx': 'QUERY other() => RETURN 2' } });
    expect(await until(server, 'other', 200)).toBe('{"data":2}');
    expect((await server.client.request({ path: 'more' })).status).toBe(404);
  });

  test('a query that is removed while a call of it runs finishes [XQ19]', async () => {
    const more = 'QUERY late(no: I64) => d <- AddN<Doc>({ no: no }) RETURN d::{no}';
    const server = await start({
      sources: { ...sources, 'more.hx': more },
      env: { TRELLIS_FAILPOINT: 'W6@1:sleep' },
    });
    const running = new Client(server.port).post('late', { no: 7 });
    await pause(100);
    writeProject(server.project, { sources: { 'more.hx': '// nothing left' } });
    await until(server, 'late', 404);
    expect(await running).toEqual({ d: { no: 7 } });
  });

  test('a source that becomes a directory or a link loop keeps the old set [XQ21]', async () => {
    const more = { 'more.hx': 'QUERY more() => RETURN 1' };
    const server = await start({ sources: { ...sources, ...more } });
    const path = join(server.project, 'more.hx');
    for (const replace of [() => mkdirSync(path), () => symlinkSync(path, path)]) {
      rmSync(path, { recursive: true, force: true });
      replace();
      await pause(1200);
      expect(await server.client.post('more')).toEqual({ data: 1 });
    }
    await server.stop();
    const refused = await refusal(server);
    expect(refused.exit.code).toBe(65);
    expect(refused.output).toContain('more.hx');
  });
});

test('without keys only this machine is answered [XC03]', async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4')?.address;
  const server = await start({ args: ['--host', '0.0.0.0'] });
  expect(await server.client.post('ping')).toEqual({ data: 'pong' });
  expect(server.stderr).not.toBe('');
  if (outside === undefined) return;
  const client = new Client(server.port, outside);
  const reply = await client.request({ path: 'ping', headers: { Host: outside } });
  expect([reply.status, JSON.parse(reply.text).code]).toEqual([403, 'PROTECTED_MODE']);
  expect((await client.request({ method: 'GET', path: 'readyz' })).status).toBe(200);
  client.close();
  await server.restart({ args: ['--host', '0.0.0.0', '--insecure-no-auth'] });
  const open = new Client(server.port, outside);
  expect(await open.post('ping')).toEqual({ data: 'pong' });
  open.close();
});

test('a read-only server reads, refuses writes, and does not begin a directory', async () => {
  const server = await start();
  await server.client.post('add', { no: 1 });
  await server.restart({ env: { TRELLIS_STORAGE_READ_ONLY: 'true' } });
  expect(await server.client.post('docs')).toEqual({ n: 1 });
  const refused = await server.client.request({ path: 'add', body: '{"no":2}' });
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([503, 'READ_ONLY']);
  const ready = await server.client.request({ method: 'GET', path: 'readyz' });
  expect(JSON.parse(ready.text)).toMatchObject({ ready: true, writes: false });
  const env = { TRELLIS_STORAGE_READ_ONLY: 'true' };
  const empty = join(makeFolder(), 'data');
  const begun = await runCli(['serve', server.project, '--data', empty, '--port', '0'], { env });
  expect([begun.code, begun.stderr]).toEqual([74, expect.stringContaining('holds no data')]);
});

test('vectors beyond the memory limit are 507 VECTOR_CAPACITY and nothing is half stored', async () => {
  const server = await start({ config: { 'vectors.memory_bytes': '4MiB' } });
  const vec = Array.from({ length: 1024 }, (_, i) => i);
  let stored = 0;
  let refused: string | undefined;
  for (let i = 0; i < 3000 && refused === undefined; i++) {
    const body = JSON.stringify({ vec: [i, ...vec] });
    const reply = await server.client.request({ path: 'emb', body });
    if (reply.status === 200) stored++;
    else refused = `${reply.status} ${JSON.parse(reply.text).code}`;
  }
  expect(refused).toBe('507 VECTOR_CAPACITY');
  expect(await server.client.post('embs')).toEqual({ n: stored });
  expect(await server.client.post('ping')).toEqual({ data: 'pong' });
});

test('the deadline of a request lowers its budget: 504 QUERY_TIMEOUT rolls a write back', async () => {
  const server = await start({ env: { TRELLIS_FAILPOINT: 'W6@1:sleep' } });
  const slow = new Client(server.port).request({ path: 'add', body: '{"no":1}' });
  await pause(100);
  const headers = { 'X-Request-Timeout-Ms': '200' };
  const late = await server.client.request({ path: 'add', body: '{"no":2}', headers });
  expect([late.status, JSON.parse(late.text).code]).toEqual([504, 'QUERY_TIMEOUT']);
  expect((await slow).status).toBe(200);
  expect(await server.client.post('docs')).toEqual({ n: 1 });
});

test('secrets never show [XC07]', async () => {
  const env = { TRELLIS_API_KEY: 'planted-secret-1', OPENAI_API_KEY: 'planted-secret-2' };
  const server = await start({ env });
  const headers = { 'x-api-key': 'planted-secret-1' };
  await server.client.post('ping', {}, headers);
  await server.client.request({ path: 'nope', headers });
  await server.client.request({ path: 'ping', headers: { 'x-api-key': 'planted-secret-wrong' } });
  const metrics = await server.client.request({ method: 'GET', path: 'metrics', headers });
  expect(server.stderr + server.stdout + metrics.text).not.toContain('planted-secret');
});
