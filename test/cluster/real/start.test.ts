// The script that starts a whole cluster on one machine, as people run it: six processes, a write through one
// node, a strong read through another, the leader lost, and all of it again on the same folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFailed, test } from 'vitest';
import { connect } from '../../../server/client/client.js';
import { people } from '../support/servers.js';
import { makeFolder, root, writeProject } from '../../support/project.js';

const folder = makeFolder();
const port = 17_000 + (process.pid % 1000) * 3;
let child: ChildProcess | undefined;

async function start(): Promise<void> {
  child = spawn(process.execPath, [join(root, 'server/deploy/cluster/start.mjs'), folder], {
    env: { ...process.env, PORT: String(port), NATS_PORT: String(port + 4000) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (text: Buffer): void => {
      output += text;
      if (output.includes('cluster ready')) resolve();
    };
    child!.stdout!.on('data', hear);
    child!.stderr!.on('data', hear);
    child!.once('exit', (code) => reject(new RangeError(`ended with ${code}: ${output}`)));
  });
}

async function stop(): Promise<number | null> {
  if (child === undefined || child.exitCode !== null) return null;
  const ended = new Promise<number | null>((resolve) => child!.once('exit', resolve));
  child.kill('SIGTERM');
  return ended;
}

afterAll(stop);

interface Readiness {
  cluster: { leader?: { node: string } };
}

const nodes = [0, 1, 2].map((i) => `http://127.0.0.1:${port + i}`);
const strong = { 'Trellis-Consistency': 'strong' };
const shape = { writes: false, at: 0 } as const;

test('one command starts a cluster, a second time on what the first has left', async () => {
  onTestFailed(() => {
    for (const name of ['node1', 'node2', 'node3'])
      console.log(
        readFileSync(join(folder, '.trellis/cluster', `${name}.log`), 'utf8').slice(-4_000),
      );
  });
  writeProject(folder, {
    sources: people,
    config: { 'storage.min_free': 0, 'storage.ballast': 0 },
  });
  await start();
  const all = connect({ url: nodes, retries: 10, timeoutMs: 60_000 });
  for (let i = 0; i < 10; i++) await all.call('add', { name: `n${i}` });
  for (const url of nodes) {
    const one = connect({ url, headers: strong, retries: 10 });
    expect(await one.call('all', {}, { shape })).toEqual({ p: 10 });
  }
  expect(await stop()).toBe(0);
  await start();
  await all.call('add', { name: 'later' });
  const last = connect({ url: nodes[2]!, headers: strong, retries: 10 });
  expect(await last.call('all', {}, { shape })).toEqual({ p: 11 });
  const leaderBy = async (url: string): Promise<string | undefined> => {
    const reply = await fetch(`${url}/readyz`).catch(() => undefined);
    return ((await reply?.json()) as Readiness | undefined)?.cluster.leader?.node;
  };
  /** The leader that all these nodes name, or undefined while they do not agree. */
  const agreed = async (urls: readonly string[]): Promise<string | undefined> => {
    const names = new Set(await Promise.all(urls.map(leaderBy)));
    return names.size === 1 ? [...names][0] : undefined;
  };
  await expect.poll(() => agreed(nodes)).toBeDefined();
  const node = (await agreed(nodes))!;
  const lock = readFileSync(join(folder, '.trellis/cluster', node, 'LOCK'), 'utf8');
  process.kill(JSON.parse(lock).pid, 'SIGKILL');
  // A node that still forwards to the killed leader cannot tell whether a write was done. Therefore the next
  // write waits until both others name one of them as the leader.
  const survivors = nodes.filter((_, i) => `node${i + 1}` !== node);
  const isLedAgain = async (): Promise<boolean> =>
    ![undefined, node].includes(await agreed(survivors));
  await expect.poll(isLedAgain).toBe(true);
  await all.call('add', { name: 'without its leader' });
  expect(await all.call('all', {}, { shape })).toEqual({ p: 12 });
  // It ends all that are left, and itself.
  expect(await stop()).toBe(0);
});
