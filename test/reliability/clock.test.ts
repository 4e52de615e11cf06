// T20, a clock that is set while the server runs: a day ahead, an hour back. What is stored and shown
// follows it, ids rise all the same, and whatever waits (sessions, deadlines, snapshots, the
// heartbeat) does not notice. The clock of the child process alone is set, by a preload library.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileStorage } from '../storage/support/compiled.js';
import { makeFolder } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { compiled, whyNoC } from './support/compiled.js';

const day = 86_400;
const sources = {
  'main.hx': `
N::Note { at: Date DEFAULT NOW }
V::Point { no: I64 }
QUERY add() => n <- AddN<Note>({}) RETURN n::{at, id: ID}
QUERY put(vec: [F64]) => v <- AddV<Point>(vec, { no: 1 }) RETURN v::ID
QUERY near(vec: [F64]) => v <- SearchV<Point>(vec, 3) RETURN v::ID
QUERY since(from: Date) => n <- N<Note>::WHERE(_::{at}::GT(from))::COUNT RETURN n
`,
};

const missing = whyNoC('to set the clock of a process');
if (missing !== undefined) console.log(`skipped: ${missing}`);
const inLinux = missing === undefined ? it : it.skip;

const folder = makeFolder();
const offsetFile = join(folder, 'offset');
const env = { LD_PRELOAD: '', CLOCK_OFFSET_FILE: offsetFile };
const setClock = (seconds: number): void => writeFileSync(offsetFile, String(seconds));

let server: Server | undefined;
beforeAll(async () => {
  if (missing !== undefined) return;
  env.LD_PRELOAD = compiled('set-clock.c', '-shared', '-fPIC', '-ldl');
  setClock(0);
});
afterAll(() => server?.dispose());

/** Seconds by which an instant is ahead of this process's clock. */
const ahead = (instant: string): number => (Date.parse(instant) - Date.now()) / 1000;
const aheadOfId = (id: string): number =>
  (Number.parseInt(id.replace('-', '').slice(0, 12), 16) - Date.now()) / 1000;
/** CPU time of the server in ticks of 10 ms. */
const ticks = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

inLinux('T20 NOW and ids follow the clock, ids rise, nothing that waits notices', async () => {
  const args = ['--allow-preload'];
  const config = { 'limits.session_idle': '5m', 'limits.query_time': '5s' };
  server = await startServer({ sources, config, env, args });
  const { client } = server;
  const ids: string[] = [];
  const session = await client.post('mcp/init');
  for (const offset of [0, day, -3600, 0, 365 * day, 0]) {
    setClock(offset);
    const { n } = await client.post('add');
    expect(Math.abs(ahead(n.at) - offset)).toBeLessThan(10);
    if (offset >= Math.max(...ids.map(aheadOfId), 0)) {
      expect(Math.abs(aheadOfId(n.id) - offset)).toBeLessThan(10);
    }
    expect([...ids, n.id].sort().at(-1)).toBe(n.id);
    ids.push(n.id);
    await client.post('put', { vec: [offset, 1] });
    expect((await client.post('near', { vec: [offset, 1] })).v.length).toBeGreaterThan(0);
    const from = new Date(Date.now() + 400 * day * 1000).toISOString();
    expect(await client.post('since', { from })).toEqual({ n: 0 });
    const step = {
      connection_id: session,
      tool: { tool_name: 'n_from_type', args: { node_type: 'Note' } },
    };
    expect(
      (await client.request({ path: 'mcp/tool_call', body: JSON.stringify(step) })).status,
    ).toBe(200);
    const metrics = await client.request({ method: 'GET', path: 'metrics' });
    const age = /^\S*heartbeat_age_seconds\S* ([\d.e-]+)$/m.exec(metrics.text);
    expect(Number(age![1])).toBeLessThan(30);
    expect((await client.request({ method: 'GET', path: 'readyz' })).status).toBe(200);
  }
  const before = ticks(server.pid);
  await pause(500);
  expect(ticks(server.pid) - before, 'a storm of timers').toBeLessThan(25);
  // The next start goes on above the newest id, though its clock is a year behind.
  await server.restart();
  const { n } = await server.client.post('add');
  expect(n.id > ids.at(-1)!).toBe(true);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

inLinux('an answer is kept for a day of that clock, over a restart, and no longer', async () => {
  setClock(0);
  const kept = await startServer({ sources, env, args: ['--allow-preload'] });
  const add = async (key: string): Promise<string> => {
    const headers = { 'Idempotency-Key': key };
    return (await kept.client.request({ path: 'add', body: '{}', headers })).text;
  };
  try {
    const first = await add('k');
    for (const offset of [day - 60, -3600, 0]) {
      setClock(offset);
      expect(await add('k'), `after ${offset} s`).toBe(first);
      const { n } = JSON.parse(await add(`of${offset}`));
      expect(Math.abs(ahead(n.at) - offset)).toBeLessThan(10);
    }
    setClock(day - 60);
    await kept.restart();
    expect(await add('k'), 'after a restart').toBe(first);
    setClock(day + 1);
    const second = await add('k');
    expect(second).not.toBe(first);
    expect(await add('k')).toBe(second);
    setClock(2 * day - 60);
    expect(await add('k'), 'a day goes on from the second').toBe(second);
  } finally {
    await kept.dispose();
  }
});

inLinux('T20 threads that start after the clock was set share the clock of deadlines', async () => {
  const clock = join(await compileStorage(), 'base/clock.js');
  const script = `
import { Worker } from 'node:worker_threads';
import { writeFileSync } from 'node:fs';
import { sharedMs, wallMs } from '${clock}';
const wall = wallMs();
writeFileSync(process.env.CLOCK_OFFSET_FILE, '${day}');
if (wallMs() - wall < ${day} * 1000 - 1000) throw new Error('the clock was not set');
const code = "Promise.all([import('${clock}'), import('node:worker_threads')])"
  + ".then(([{ sharedMs }, { parentPort }]) => parentPort.postMessage(sharedMs()))";
const began = sharedMs();
new Worker(code, { eval: true }).on('message', (there) => {
  console.log(there >= began - 1 && there <= sharedMs() + 1);
});`;
  setClock(0);
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  await new Promise((resolve) => child.once('close', resolve));
  expect(output).toBe('true\n');
});
