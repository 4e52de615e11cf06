// A real file system that loses its power (T4) and one that fills up (T7): ext4 in a file, stopped by
// its own shutdown call or filled to the last block. Needs root and loop devices: in the long run.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { crashSources, Oracle } from '../../crash/oracle.js';
import { writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { Server } from '../../support/server/server.js';
import { ImageEngine } from '../kit/image-engine.js';
import { SmallDisk, whyNoDisk } from '../kit/small-disk.js';
import { expectFigure } from '../../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const cuts = 30;
const missing = long ? whyNoDisk() : 'it belongs to the long run';
if (long && missing !== undefined) console.info(`T4 and T7 are skipped: ${missing}`);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const engine = new ImageEngine();
afterAll(() => engine.end());

function serverOn(disk: SmallDisk, config: Record<string, number | string>): Server {
  const project = join(disk.folder, 'project');
  mkdirSync(project, { recursive: true });
  writeProject(project, { sources: crashSources, config });
  return new Server(disk.folder, {});
}

/** Whatever a server that was killed still held is let go a moment later. */
async function unmounted(disk: SmallDisk): Promise<void> {
  for (let i = 0; i < 100; i++) {
    try {
      return disk.unmount();
    } catch {
      await pause(50);
    }
  }
  disk.unmount();
}

describe.skipIf(missing !== undefined)('on a file system of its own', () => {
  test(`T4 ${cuts} power cuts lose nothing that was acknowledged, seed ${seed} [I1] [I2]`, async () => {
    const random = new Random(seed);
    const oracle = new Oracle(seed);
    const disk = new SmallDisk(192 * 2 ** 20);
    const config = { 'storage.ballast': 0, 'storage.min_free': 0, 'snapshot.after_writes': 100 };
    try {
      for (let cut = 0; cut < cuts; cut++) {
        disk.mount(random.pick([1, 5, 1000]));
        const server = serverOn(disk, config);
        await server.start();
        const where = `cut ${cut}, seed ${seed}`;
        if (cut > 0) expect(await oracle.check(server, 10), where).toEqual([]);
        const load = oracle.load(server, 1 + random.below(12), server.exit(60_000));
        if (random.chance(0.3)) void server.client.post('_admin/snapshot').catch(() => undefined);
        const enough = oracle.acknowledged + 5;
        await pause(random.below(500));
        while (oracle.acknowledged < enough) await pause(5);
        // What clients hear from now on is not from the disk any more: they do not hear it.
        server.child.kill('SIGSTOP');
        await pause(20);
        disk.cutPower();
        await server.kill();
        await load;
        await unmounted(disk);
        disk.mount();
        try {
          await engine.open(server.data, crashSources);
          expect(await engine.verify(), where).toEqual([]);
        } finally {
          await engine.close();
        }
        await unmounted(disk);
      }
      noteProof(
        'T4',
        `${cuts} power cuts of an ext4 file system, ${oracle.acknowledged} acknowledged writes: 0 lost`,
      );
    } finally {
      disk.remove();
    }
  });

  test.each([16, 64])(
    'T7 a full disk of %i MB: 507, reads go on, and it recovers',
    async (size) => {
      const disk = new SmallDisk(size * 2 ** 20);
      disk.mount();
      const config = {
        'storage.ballast': 0,
        'storage.min_free': '4MiB',
        'snapshot.interval': '1h',
      };
      const server = serverOn(disk, config);
      const filler = join(disk.folder, 'filler');
      try {
        await server.start();
        const put = (key: string) =>
          server.client.request({
            path: 'put',
            body: JSON.stringify({ key, words: 'w', vec: [1, key.length] }),
          });
        expect((await put('first')).status).toBe(200);
        fill(filler, 2 ** 20);
        const full = performance.now();
        let refused = await put('a0');
        for (let i = 1; refused.status === 200 && performance.now() < full + 30_000; i++) {
          await pause(20);
          refused = await put(`a${i}`);
        }
        expect(refused.status, refused.text).toBe(507);
        expectFigure(performance.now() - full, 1_500, 'ms to the first refusal');
        const until = performance.now() + 10_000;
        let reads = 0;
        for (; performance.now() < until; reads++) {
          expect((await server.client.post('one', { key: 'first' })).i).toEqual({ n: 0 });
          if (reads % 50 === 0) expect((await put(`b${reads}`)).status).toBe(507);
          await pause(5);
        }
        rmSync(filler);
        await pause(1500);
        expect((await put('last')).status).toBe(200);
        await server.stop();
        await engine.open(server.data, crashSources);
        expect(await engine.verify()).toEqual([]);
        noteProof(
          'T7',
          `a full disk of ${size} MB: 507 at once, ${reads} reads meanwhile, recovered`,
        );
      } finally {
        await engine.close();
        if (server.child?.exitCode === null) await server.kill();
        disk.remove();
      }
    },
  );
});

/** Writes a file until the disk has no room, and then lets go of `left` bytes. */
function fill(path: string, left: number): void {
  const block = Buffer.alloc(2 ** 16, 1);
  const blocks: Buffer[] = [];
  try {
    for (;;) {
      blocks.push(block);
      writeFileSync(path, block, { flag: 'a' });
    }
  } catch {
    writeFileSync(path, Buffer.concat(blocks.slice(0, -1 - left / block.length)));
  }
}
