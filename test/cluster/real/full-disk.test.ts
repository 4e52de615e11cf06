// The disks of all log servers are full, and then there is room again: what was acknowledged is there. NATS turns
// JetStream off on a server that could not write, and on again only at its start; the page "When something fails" says
// so, and this test says when that is no longer true. Needs root: each server has a file system of its own.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TrellisError } from '../../../engine/base/errors.js';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import type { ReplicatedLog } from '../../../engine/cluster/log/replicated-log.js';
import { makeFolder, root } from '../../support/project.js';
import { NatsServers, sleep } from '../../support/cluster/nats-servers.js';

const isRoot = process.getuid?.() === 0;
const disks: string[] = [];
let servers: NatsServers | undefined;
afterAll(async () => {
  await servers?.stop();
  for (const disk of disks) execFileSync('umount', ['-l', disk]);
});

/** Takes all the room of a disk. */
function fill(disk: string): void {
  const { bavail, bsize } = statfsSync(disk);
  try {
    writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize + 1024 * 1024));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}

/** Servers that begin, and a busy machine, take their time to answer. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + 60_000; ; await sleep(200)) {
    try {
      return await work();
    } catch (error) {
      const isLate = performance.now() > end;
      if (isLate || !(error instanceof TrellisError) || error.code !== 'LOG_UNAVAILABLE')
        throw error;
    }
  }
}

test.runIf(isRoot)(
  'full disks of all log servers lose nothing, and take a restart of each',
  async () => {
    const folder = makeFolder();
    for (const i of [0, 1, 2]) {
      const disk = join(folder, `disk${i}`);
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]);
      disks.push(disk);
    }
    servers = await NatsServers.start({
      sync: 'always',
      folders: disks.map((disk) => join(disk, 'js')),
    });
    const driver = await driverOf('nats://');
    const place = servers.place('full');
    let tries = 0;
    await patiently(async () => {
      try {
        await driver.create(place);
      } catch (error) {
        // Made by the try before, which heard no answer.
        const isMade = error instanceof TrellisError && error.code === 'CONFIG_INVALID';
        if (tries++ === 0 || !isMade) throw error;
      }
    });
    const log = await patiently(() => driver.open(place));
    const acknowledged: Buffer[] = [];
    const append = async (to: ReplicatedLog, after: number): Promise<string> => {
      const bytes = randomBytes(100_000);
      const outcome = await to.append(bytes, after, `m${after}`);
      if (outcome === 'ok') acknowledged[after] = bytes;
      return outcome;
    };
    for (let i = 0; i < 5; i++) expect(await append(log, i)).toBe('ok');
    for (const disk of disks) fill(disk);
    const logOf = (i: number): string =>
      readFileSync(join(servers!.folder, `n${i + 1}.log`), 'utf8');
    const isOff = (i: number): boolean => logOf(i).includes('will be DISABLED');
    // Nobody is told that it is there; whether it is, nobody knows.
    for (const end = performance.now() + 90_000; ![0, 1, 2].every(isOff); ) {
      expect(await append(log, 5)).toBe('unknown');
      if (performance.now() > end) break;
    }
    for (const disk of disks) rmSync(join(disk, 'filler'));
    await sleep(5_000);
    const later = await append(log, 5);
    // Servers that come back by themselves: then the page is wrong, and this line with it.
    expect([later, [0, 1, 2].map(isOff)]).toEqual(['unknown', [true, true, true]]);
    await log.close();
    for (const i of [0, 1, 2]) {
      await servers.kill(i, 'SIGTERM');
      servers.start(i);
      await sleep(1_000);
    }
    await servers.ready();
    const again = await patiently(() => driver.open(place));
    await expect.poll(() => again.last()).toBeGreaterThanOrEqual(5);
    for (const [i, bytes] of acknowledged.entries())
      expect(Buffer.compare((await patiently(() => again.at(i + 1)))!, bytes)).toBe(0);
    await expect.poll(async () => append(again, await again.last())).toBe('ok');
    await again.close();
  },
);

test('the page says what to do', () => {
  const page = readFileSync(join(root, 'server/docs/operate/cluster/failures.md'), 'utf8');
  expect(page).toMatch(/disks of the log's servers.*restart the log servers/);
});
