// A process that may not use the addresses it needs says so: LMDB would end it by a signal.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeFolder, removeFolder } from '../support/project.js';

const hasLimits = existsSync('/proc/self/limits');

test.runIf(hasLimits).each([6, 40])('%i GiB of addresses', (gibibytes) => {
  const folder = makeFolder();
  const limit = `ulimit -v ${gibibytes * 2 ** 20}`;
  const serve = `exec ${process.execPath} dist/bin/main.js serve server/demo --data ${folder}`;
  const ended = spawnSync('bash', ['-c', `${limit} && ${serve} --port 0`], { encoding: 'utf8' });
  removeFolder(folder);
  expect(ended.signal).toBeNull();
  expect(ended.status).toBe(78);
  expect(ended.stderr).toContain('ulimit -v');
});
