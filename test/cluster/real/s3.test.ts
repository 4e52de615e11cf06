// The S3 driver against a real store (versitygw over a folder), and what an append costs there.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import type { LogAddress } from '../../../engine/cluster/log/replicated-log.js';
import {
  appendSurely,
  bytesOf,
  follow,
  race,
  readTo,
  verify,
} from '../../support/cluster/log-messages.js';
import { freePort, sleep } from '../../support/cluster/nats-servers.js';
import { makeFolder } from '../../support/project.js';

const driver = await driverOf('s3://');
let store: ChildProcess;
let place: LogAddress;

beforeAll(async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'data/bucket'), { recursive: true });
  const port = await freePort();
  const argv = ['--access', 'trellis', '--secret', 's3cret', '--port', `127.0.0.1:${port}`];
  const backend = ['posix', join(folder, 'data')];
  store = spawn(process.env.TRELLIS_S3_SERVER!, [...argv, ...backend], { stdio: 'ignore' });
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'trellis:s3cret', { mode: 0o600 });
  const url = `s3://bucket/a/b?endpoint=http://127.0.0.1:${port}&poll=10`;
  place = { url, name: 'db', tokenFile, keepBytes: 1 << 30 };
  for (let tries = 0; ; tries++) {
    try {
      await driver.look(place);
      break;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
});
afterAll(() => {
  store?.kill('SIGKILL');
});

test('K16 a log is created one time; wrong credentials create none', async () => {
  const tokenFile = join(makeFolder(), 'wrong');
  writeFileSync(tokenFile, 'trellis:wrong', { mode: 0o600 });
  const wrong = driver.create({ ...place, tokenFile });
  await expect(wrong).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  await expect(driver.open(place)).rejects.toMatchObject({ code: 'LOG_LOST' });
  await driver.create(place);
  await expect(driver.create(place)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

test('appends, reads, trims', async () => {
  const log = await driver.open(place);
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    const begun = performance.now();
    expect(await log.append(bytesOf(`m${i}`), i, `m${i}`)).toBe('ok');
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  console.log(
    `append to versitygw: p50 ${times[50]!.toFixed(1)} ms, p99 ${times[98]!.toFixed(1)} ms`,
  );
  expect(await log.append(bytesOf('m5'), 5, 'm5')).toBe('ok');
  expect(await log.append(bytesOf('x'), 5, 'x')).toBe('behind');
  expect(await log.append(new Uint8Array(525_000), 100, 'part')).toBe('ok');
  expect((await readTo(log, 1, 101)).length).toBe(101);
  await log.trim(90);
  expect([await log.first(), await log.last()]).toEqual([90, 101]);
  expect(await follow(log, 50).ended).toMatchObject({ code: 'LOG_TRUNCATED' });
  expect(await log.append(bytesOf('late'), 20, 'late')).toBe('unknown');
  await log.close();
});

test('two writers race: every sequence has one owner', async () => {
  const other = { ...place, name: 'race' };
  await driver.create(other);
  const logs = [await driver.open(other), await driver.open(other)];
  const { owner, twice, refused } = await race(logs, (count) => count >= 300);
  expect([twice, refused > 0]).toEqual([0, true]);
  await verify(logs[0]!, owner);
  expect((await appendSurely(logs[1]!, 'end', owner.size)).outcome).toBe('ok');
  await Promise.all(logs.map((log) => log.close()));
});
