// Which logs a node uses at all: those of this machine, those that know whom they serve over a line that nobody else
// reads, and others only where the operator has said so.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { natsAddress } from '../../../engine/cluster/log/jetstream-connect.js';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import type { Config } from '../../../server/config/config.js';
import { checkLogGuard, pathOf } from '../../../server/config/log-guard.js';
import { readManual } from '../../support/page.js';
import { makeFolder, writeProject } from '../../support/project.js';
import { runCli } from '../../support/server/server.js';

const none = { token_file: '', tls_ca: '', tls_cert: '', tls_key: '', insecure: false };
const token = { token_file: 'token' };
const ca = { tls_ca: 'ca.pem' };
const system = { tls_ca: 'system' };
const insecure = { insecure: true };

type Case = [log: string, said: Partial<typeof none>, why: RegExp | undefined];

const far = [
  'nats://10.0.0.1:4222',
  'nats://log:4222',
  'nats://127.0.0.1:1,log2:4222',
  'nats://[2001:db8::1]:4222',
];
const cases: Case[] = [
  ['nats://127.0.0.1:4222,localhost:4223', {}, undefined],
  ['nats://[::1]:4222?replicas=1', {}, undefined],
  ['file:///driver.mjs', {}, undefined],
  ...far.flatMap((log): Case[] => [
    [log, {}, /without credentials and TLS/],
    [log, token, /without TLS/],
    [log, ca, /without credentials\./],
    [log, { ...token, ...ca }, undefined],
    [log, { ...ca, tls_cert: 'cert.pem', tls_key: 'key.pem' }, undefined],
    [log, { tls_cert: 'cert.pem', tls_key: 'key.pem' }, /needs `cluster.tls_ca`/],
    [log, insecure, undefined],
  ]),
  // Whoever has a name that only begins like this machine is another one.
  ['nats://localhost.example:4222', {}, /localhost\.example is on another machine/],
  ['nats://127.0.0.1.example:4222', {}, /another machine/],
  ['nats://user@10.0.0.1:4222', token, /The log at 10\.0\.0\.1/],
  ['tls://log:4222', token, /needs `cluster.tls_ca`/],
  ['tls://log:4222', { ...token, ...insecure }, /needs `cluster.tls_ca`/],
  ['tls://log:4222', { ...token, ...system }, undefined],
  ['tls://log:4222', system, /without credentials/],
  ['tls://127.0.0.1:4222', {}, /needs `cluster.tls_ca`/],
  ['tls://127.0.0.1:4222', ca, undefined],
  ['s3://bucket/x', token, /needs `cluster.tls_ca`/],
  ['s3://bucket/x', { ...token, ...system }, undefined],
  ['s3://bucket/x', system, /without credentials/],
  ['s3://bucket/x?endpoint=http://store:9000', token, /without TLS/],
  ['s3://bucket/x?endpoint=http://store:9000', { ...token, ...ca }, /without TLS/],
  ['s3://bucket/x?endpoint=http://store:9000', { ...token, ...insecure }, undefined],
  ['s3://bucket/x?endpoint=http://127.0.0.1:9000', token, undefined],
  ['s3://bucket/x?endpoint=https://store:9000', { ...token, ...ca }, undefined],
];

describe('a log', () => {
  test.each(cases)('%s, with %o', (log, said, why) => {
    const check = (): void => checkLogGuard({ cluster: { log, ...none, ...said } } as Config);
    if (why === undefined) return check();
    expect(check).toThrow(why);
    expect(check).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test('its servers are those that its driver connects to', () => {
    for (const log of [...far, 'tls://a:1,tls://b:2,nats://c', 'nats://127.0.0.1:1?replicas=1']) {
      const { servers, encrypted } = natsAddress(log);
      const hosts = servers.map((one) => one.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
      expect([log, pathOf(log)]).toEqual([log, { hosts, isTls: encrypted }]);
    }
  });
});

test('every page that names the log in a bucket calls it experimental', () => {
  const named = /\bs3:\/\/|\bS3 (?:bucket|log)\b/;
  let count = 0;
  for (const { path, text } of readManual())
    for (const part of text.split(/\n\n|\n(?=\|)/)) {
      if (!named.test(part.replace(/\n/g, ' '))) continue;
      count++;
      expect([path, part, /experimental/.test(part)]).toEqual([path, part, true]);
    }
  expect(count).toBeGreaterThan(3);
});

test('a driver opens TLS connections only to servers with a configured root', async () => {
  const tokenFile = join(makeFolder(), 'token');
  writeFileSync(tokenFile, 'id:secret', { mode: 0o600 });
  const place = { name: 'x', tokenFile, keepBytes: 1 };
  const urls = ['tls://127.0.0.1:1', 's3://bucket/x?endpoint=https://127.0.0.1:1', 's3://bucket/x'];
  for (const url of urls) {
    const { open } = await driverOf(url);
    await expect(open({ ...place, url })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  }
  const { open } = await driverOf('nats://');
  const tls = { cert: 'x', key: 'y' };
  const half = open({ ...place, url: 'nats://127.0.0.1:1', tls });
  await expect(half).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const named = open({ ...place, url: 'tls://127.0.0.1:1', tls: { ca: 'system' } });
  await expect(named).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
});

test('a server with such a log does not start, and says what to write', async () => {
  const project = makeFolder();
  writeProject(project, {
    sources: { 'a.hx': 'N::P { name: String }' },
    config: { 'cluster.log': 'nats://log.example:4222', 'cluster.name': 'x' },
  });
  const done = await runCli(['serve', project]);
  expect(done.code).toBe(78);
  expect(done.stderr).toMatch(/CONFIG_INVALID: The log at log\.example is on another machine/);
  expect(done.stderr).toContain('cluster.insecure = true');
});
