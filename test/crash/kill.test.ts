// kill -9 at random moments under load: every acknowledged write survives, nothing is partial, and
// the store passes its own check. 3 cycles here, 60 in the long run.
import { expect, test } from 'vitest';
import { runCli, startServer } from '../support/server.js';
import { crashSources, Oracle, random } from './oracle.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const cycles = long ? 60 : 3;
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test(`${cycles} kill cycles, seed ${seed} [I1] [I2]`, async () => {
  const chance = random(seed);
  const oracle = new Oracle(seed);
  const server = await startServer({ sources: crashSources, workers: 2 });
  try {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const load = oracle.load(server, 1 + Math.floor(chance() * 32), new Promise(() => undefined));
      if (chance() < 0.3) void server.client.post('_admin/snapshot').catch(() => undefined);
      // At random, but never before there is something to lose.
      const enough = oracle.acknowledged + 25;
      await pause(100 + chance() * 400);
      while (oracle.acknowledged < enough) await pause(20);
      await server.kill();
      await load;
      if (cycle === 0 || long) {
        const verify = await runCli(['verify', server.data, '--deep']);
        expect(verify.code, `verify: ${verify.stdout}${verify.stderr}`).toBe(0);
      }
      await server.start();
      const faults = await oracle.check(server);
      expect(faults, `cycle ${cycle}, seed ${seed}\n${faults.slice(0, 20).join('\n')}`).toEqual([]);
    }
    expect(oracle.refused).toEqual([]);
    expect(oracle.acknowledged).toBeGreaterThan(cycles * 20);
  } finally {
    await server.dispose();
  }
}, 3_600_000);
