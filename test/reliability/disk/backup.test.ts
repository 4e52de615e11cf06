// Backups while clients write (T21): each is one moment of the data between its request and its
// answer, passes the deep check, and can be restored and served.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { crashSources, Oracle } from '../crash/oracle.js';
import { makeFolder, removeFolder, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { commandHere } from '../../support/server/command-here.js';
import { Server, startServer } from '../../support/server/server.js';
import { ImageEngine } from '../support/image-engine.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const backups = 50;
/** Every so many, one is restored by the command and served. */
const served = 10;

const engine = new ImageEngine();
afterAll(() => engine.end());

async function faultsOf(backup: string, moment: Oracle): Promise<string[]> {
  const copy = join(makeFolder(), 'data');
  cpSync(backup, copy, { recursive: true });
  try {
    await engine.open(copy, crashSources);
    return [...(await moment.check(engine, 6)), ...(await engine.verify())];
  } finally {
    await engine.close();
    rmSync(copy, { recursive: true });
  }
}

async function faultsOfServed(backup: string, moment: Oracle): Promise<string[]> {
  const folder = makeFolder();
  mkdirSync(join(folder, 'project'));
  writeProject(join(folder, 'project'), { sources: crashSources, config: {} });
  const server = new Server(folder, {});
  try {
    const restored = await commandHere(['restore', backup, '--data', server.data], folder);
    if (restored.code !== 0) return [restored.stderr];
    await server.start();
    return await moment.check(server, 6);
  } finally {
    if (server.child !== undefined) await server.kill();
    removeFolder(folder);
  }
}

test.runIf(long)(`T21 ${backups} backups under load are whole, each of one moment`, async () => {
  const oracle = new Oracle(21, () => performance.now());
  const config = { 'storage.ballast': 0, 'snapshot.after_writes': 500 };
  const server = await startServer({ sources: crashSources, config });
  try {
    const exited = server.exit(3_600_000);
    for (let i = 0; i < backups; i++) {
      // Nobody writes while a backup is looked at: the data would grow by what is not asked about.
      let stop = () => {};
      const stopped = new Promise<void>((resolve) => (stop = resolve));
      const load = oracle.load(server, 4, Promise.race([stopped, exited]));
      const enough = oracle.acknowledged + 100;
      while (oracle.acknowledged < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      const from = performance.now();
      const { path } = (await server.client.post('_admin/backup', { name: `b${i}` })) as {
        path: string;
      };
      const moment = oracle.at(from, performance.now());
      stop();
      await load;
      const look = i % served === served - 1 ? faultsOfServed : faultsOf;
      const faults = await look(path, moment);
      expect(faults, `backup ${i}`).toEqual([]);
      rmSync(path, { recursive: true });
    }
    expect(oracle.refused).toEqual([]);
    noteProof(
      'T21',
      `${backups} backups beside ${oracle.acknowledged} writes: whole, of one moment`,
    );
  } finally {
    await server.dispose();
  }
});
