// Kills the server at every named place of the write, snapshot and shutdown paths (operations.md
// 6.2), restarts it and compares it with what was acknowledged.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, StartFailed, startServer } from '../../support/server/server.js';
import { readSources } from '../../support/source-tree.js';
import { crashSources, Oracle } from './oracle.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** What makes the server pass a place: a load of writes, or a call beside it. */
type Trigger = 'load' | 'snapshot' | 'reload' | 'stop' | 'rebuild';

// W7, W8 and beforeSyncMetaPage lie inside LMDB's one native commit call: only recorded power cuts reach
// them. W0 to W4 change nothing on disk.
const points: Record<string, Trigger> = {
  W5: 'load',
  W6: 'load',
  beforeSyncDataPages: 'load',
  W9: 'load',
  W10: 'load',
  W11: 'load',
  W12: 'load',
  W13: 'snapshot',
  midSnapshotBlock: 'snapshot',
  W14: 'snapshot',
  afterSnapshotRename: 'snapshot',
  beforeDirFsync: 'snapshot',
  W15: 'snapshot',
  beforeVlogTrim: 'snapshot',
  W16: 'snapshot',
  midReload: 'reload',
  inShutdown: 'stop',
  midRebuild: 'rebuild',
};

/** Places of commands, which end beside a server: where they are tested. */
const elsewhere: Record<string, string> = {
  loadPiece: 'test/load/load.test.ts',
  adoptLoad: 'test/load/corrected-files.test.ts',
  takeBack: 'test/load/corrected-files.test.ts',
  listEdges: 'test/load/load.test.ts',
  schemaCommitted: 'test/schema/migration.test.ts',
  midRestoreRename: 'test/load/data.test.ts',
  C6: 'test/cluster/converge.test.ts',
  C7: 'test/cluster/nodes/roles.test.ts',
  follow: 'test/cluster/nodes/full-disk.test.ts',
  reembedRows: 'test/embed/reembed-kill.test.ts',
  reembedSwap: 'test/embed/reembed-kill.test.ts',
  httpThreadMessage: 'test/conformance/http-thread-failure.test.ts',
};

/** Runs until the armed place has killed the process; false when it never passes there. */
async function provoke(server: Server, oracle: Oracle, trigger: Trigger): Promise<boolean> {
  const dead = server.exit(6000).then(
    (exit) => exit.signal === 'SIGKILL',
    () => false,
  );
  const load = oracle.load(server, 8, dead);
  const ignore = () => undefined;
  if (trigger === 'snapshot' || trigger === 'reload') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let i = 0; i < 5; i++) {
      await server.client.post(`_admin/${trigger}`).catch(ignore);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  if (trigger === 'stop') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    server.child.kill('SIGTERM');
  }
  const died = await dead;
  await load;
  return died;
}

/** The places that the product has; what the specification names beyond them is one failure below. */
const present = new Set(
  readSources('engine', 'server').flatMap((file) =>
    [...file.text.matchAll(/\bfailpoint\(\s*'(\w+)'/g)].map((match) => match[1]!),
  ),
);

test('every failpoint of the specification exists, and every failpoint is covered', () => {
  expect(Object.keys(points).filter((point) => !present.has(point))).toEqual([]);
  const covered = (point: string): boolean =>
    point in points || (point in elsewhere && readFileSync(elsewhere[point]!).includes(point));
  expect([...present].filter((point) => !covered(point))).toEqual([]);
});

/** One data directory dies at one place after the other; each start is checked, then armed for the next. */
describe('T2 kill', () => {
  const oracle = new Oracle(1);
  let server: Server;
  let before = 'the first start';
  beforeAll(async () => {
    server = await startServer({ sources: crashSources, workers: 1 });
    await oracle.load(server, 8, new Promise((resolve) => setTimeout(resolve, 300)));
    await server.kill();
  });
  afterAll(() => server?.dispose());

  async function expectWhole(): Promise<void> {
    const faults = await oracle.check(server, 10);
    expect(faults, `after ${before}\n${faults.join('\n')}`).toEqual([]);
  }

  /** Without snapshots a start rebuilds the vector index, and dies half-way. */
  async function dieInRebuild(env: Record<string, string>): Promise<boolean> {
    for (const name of readdirSync(join(server.data, 'vec')))
      rmSync(join(server.data, 'vec', name), { recursive: true });
    const failure = await server.start({ env }).catch((error: unknown) => error);
    if (failure instanceof StartFailed) return failure.exit.signal === 'SIGKILL';
    return (await server.exit(3000).catch(() => undefined))?.signal === 'SIGKILL';
  }

  for (const [point, trigger] of Object.entries(points).filter(([name]) => present.has(name)))
    for (const pass of long ? [1, 2, 7, 100] : [2])
      test(`${point}@${pass}`, async () => {
        const running = server.child.exitCode === null && server.child.signalCode === null;
        if (running) await server.kill();
        const often = trigger === 'load' && point !== 'W13';
        const env = { TRELLIS_FAILPOINT: `${point}@${often ? pass : 1}:kill` };
        let died: boolean;
        if (trigger === 'rebuild') {
          died = await dieInRebuild(env);
        } else {
          await server.start({ env });
          await expectWhole();
          died = await provoke(server, oracle, trigger);
        }
        before = `${point}@${pass}`;
        expect(died, `the server never passed ${point}: ${server.stderr.slice(-500)}`).toBe(true);
      });

  test('the last start is whole, and so is the store', async () => {
    await server.start({ env: {} });
    await expectWhole();
    await oracle.load(server, 8, Promise.resolve());
    expect(oracle.repeated).toBeGreaterThan(0);
    expect(oracle.doubled).toEqual([]);
    await expectWhole();
    await server.stop();
    const verify = await commandHere(['verify', server.data, '--deep']);
    expect(verify.code, verify.stdout).toBe(0);
  });
});

test('a throwing failpoint is an INTERNAL answer and rolls back', async () => {
  const env = { TRELLIS_FAILPOINT: 'W6@3:throw' };
  const server = await startServer({ sources: crashSources, env });
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      const body = JSON.stringify({ key: `k${i}`, words: 'w', vec: [i, 1] });
      const reply = await server.client.request({ path: 'put', body });
      statuses.push(reply.status);
      if (reply.status === 200) continue;
      const { code, error, request_id } = JSON.parse(reply.text);
      expect(code).toBe('INTERNAL');
      expect(error).toBe(`Internal error; see the log for request ${request_id}.`);
      expect(server.stderr).toContain(request_id);
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([500]);
    expect((await server.client.post('items')).i).toHaveLength(4);
    expect((await server.client.post('embs')).v).toHaveLength(4);
  } finally {
    await server.dispose();
  }
});
