// A real file system that fills up (T7): ext4 in a file, filled to the last block. Needs root and loop
// devices: in the long run.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { crashSources } from '../crash/oracle.js';
import { noteProof } from '../../support/proof.js';
import { ImageEngine } from '../support/image-engine.js';
import { serverOn, SmallDisk, whyNoDisk } from '../support/small-disk.js';
import { expectFigure } from '../../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const missing = long ? whyNoDisk() : 'it belongs to the long run';
if (long && missing !== undefined) console.info(`T7 is skipped: ${missing}`);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const engine = new ImageEngine();
afterAll(() => engine.end());

describe.skipIf(missing !== undefined)('on a file system of its own', () => {
  test.each([16, 64])(
    'T7 a full disk of %i MB: 507, reads continue, and it recovers',
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
