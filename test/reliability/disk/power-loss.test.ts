// A real file system that loses its power (T4): ext4 in a file, stopped by its own shutdown call. Needs
// root and loop devices: in the long run.
import { afterAll, expect, test } from 'vitest';
import { crashSources, Oracle } from '../crash/oracle.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { ImageEngine } from '../support/image-engine.js';
import { serverOn, SmallDisk, whyNoDisk } from '../support/small-disk.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const cuts = 30;
const missing = long ? whyNoDisk() : 'it belongs to the long run';
if (long && missing !== undefined) console.info(`T4 is skipped: ${missing}`);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const engine = new ImageEngine();
afterAll(() => engine.end());

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

test.skipIf(missing !== undefined)(
  `T4 ${cuts} power cuts lose nothing that was acknowledged, seed ${seed} [I1] [I2]`,
  async () => {
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
  },
);
