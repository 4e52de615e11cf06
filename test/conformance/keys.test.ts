// API keys that end while a server runs: revoked or expired, their sessions end (sessions.md 2).
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { changeKeyFile, readKeyFile, writeKeyFile } from '../../server/auth/key-file.js';
import { makeKey } from '../../server/auth/key-record.js';
import { Keyring } from '../../server/auth/keys.js';
import { makeFolder, removeFolder, root } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, runCli, startServer } from '../support/server/server.js';
import { expectFigure } from '../support/run/figure.js';

const sources = { 'main.hx': 'N::P { name: String }\nQUERY ping() => RETURN "pong"\n' };
const admin = { 'x-api-key': 'root-of-the-tests' };

async function addKey(server: Server, name: string, ...more: string[]): Promise<string> {
  const argv = ['keys', 'add', name, server.project, '--role', 'read', '--data', server.data];
  const { stdout } = await commandHere([...argv, ...more]);
  return stdout.trim();
}

async function openSessions(server: Server): Promise<number> {
  const { text } = await server.client.request({ method: 'GET', path: 'metrics', headers: admin });
  return Number(/^trellis_sessions (\d+)$/m.exec(text)![1]);
}

async function openAs(server: Server, key: string): Promise<void> {
  const ask = () =>
    server.client.request({ path: 'mcp/init', headers: { 'x-api-key': key }, body: '{}' });
  // The key file is read again within a second or so.
  await expect.poll(async () => (await ask()).status).toBe(200);
}

test('a key expires one time, at its date', () => {
  const folder = makeFolder();
  const path = join(folder, 'keys.json');
  const expires = new Date(5_000).toISOString();
  const { record } = makeKey({ name: 'brief', role: 'read', expires }, new Date(0));
  writeKeyFile(path, [record]);
  const keys = new Keyring(path);
  expect(keys.expired(1_000)).toEqual([]);
  expect(keys.expired(4_999)).toEqual([]);
  expect(keys.expired(5_000)).toEqual([record.id]);
  expect(keys.expired(6_000)).toEqual([]);
  removeFolder(folder);
});

test('a change that slept until another took its draft for a dead one is made again', () => {
  const folder = makeFolder();
  const path = join(folder, 'keys.json');
  const named = (name: string) => makeKey({ name, role: 'read' }, new Date()).record;
  writeKeyFile(path, [named('first'), named('revoked')]);
  let asked = 0;
  changeKeyFile(path, (keys) => {
    // The other waits until this one's draft looks left behind.
    if (++asked === 1) changeKeyFile(path, (others) => [...others, named('meanwhile')]);
    return keys.filter(({ name }) => name !== 'revoked');
  });
  expect(asked).toBe(2);
  expect(readKeyFile(path).map(({ name }) => name)).toEqual(['first', 'meanwhile']);
  expect(readdirSync(folder)).toEqual(['keys.json']);
  removeFolder(folder);
});

test('simultaneous changes of the key file are all kept', async () => {
  const folder = makeFolder();
  const path = join(folder, 'keys.json');
  const program = `
    const { workerData: [urls, path, who] } = require('node:worker_threads');
    Promise.all(urls.map((url) => import(url))).then(([{ changeKeyFile }, { makeKey }]) => {
      for (let i = 0; i < 15; i++) {
        const { record } = makeKey({ name: who + i, role: 'read' }, new Date());
        changeKeyFile(path, (keys) => [...keys, record]);
      }
    });`;
  const urls = ['key-file.js', 'key-record.js'].map(
    (name) => pathToFileURL(join(root, 'dist/server/auth', name)).href,
  );
  const workers = ['a', 'b', 'c'].map(
    (who) => new Worker(program, { eval: true, workerData: [urls, path, who] }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  expect(readKeyFile(path).length).toBe(45);
  expect(readdirSync(folder)).toEqual(['keys.json']);
  // The lock of a process that died in the middle does not last.
  writeFileSync(`${path}.tmp`, '{');
  const began = performance.now();
  changeKeyFile(path, () => []);
  expect(readKeyFile(path)).toEqual([]);
  // By how long it has stayed, whatever its time says: a set clock makes no draft old.
  expect(performance.now() - began).toBeGreaterThan(1_900);
  expectFigure(performance.now() - began, 10_000, 'ms behind a draft');
  removeFolder(folder);
});

/** Names a client may send that no file system, or no rule of ours, takes. */
const badNames = [
  'a\u0000b',
  'a\nb',
  '\u007f',
  '',
  '.',
  '..',
  '../x',
  '/etc/x',
  'x'.repeat(201),
  'x'.repeat(300),
  `${'é'.repeat(150)}`,
  'a/'.repeat(2_000),
  'file/x',
  'file/x/y',
  'first/x',
  'first/graph',
];

test('commands show a key, and names of every kind are answered for what they are', async () => {
  const server = await startServer({ sources, env: { TRELLIS_API_KEY: 'root-of-the-tests' } });
  const run = (...argv: string[]) =>
    commandHere([...argv, '--project', server.project, '--data', server.data]);
  try {
    const refused = await run('backup', 'first');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/^API_KEY_REQUIRED: .*--key/m);
    for (const argv of [['backup', 'first'], ['dump', join(server.folder, 'd')], ['recall']]) {
      expect([argv[0], (await run(...argv, '--key', 'root-of-the-tests')).code]).toEqual([
        argv[0],
        0,
      ]);
    }
    writeFileSync(join(server.data, 'backups', 'file'), '');
    const post = (path: string, body: object | string = {}) =>
      server.client.request({
        path,
        headers: admin,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    for (const name of badNames) {
      const { status, text } = await post('/_admin/backup', { name });
      expect([name, status, JSON.parse(text).code]).toEqual([name, 400, 'PARAM_VALUE']);
      const escaped = encodeURIComponent(name);
      for (const path of [
        `/_admin/import?name=${escaped}`,
        `/_admin/recall?type=${escaped}`,
        `/_admin/recall?k=${escaped}&samples=${escaped}`,
      ]) {
        const reply = await post(path, '');
        expect([path, reply.status < 500, reply.text.includes('INTERNAL')]).toEqual([
          path,
          true,
          false,
        ]);
      }
    }
    expect((await post('/_admin/backup', { name: 'second one/ünï' })).status).toBe(200);
    expect((await post('/_admin/backup', { name: 'x'.repeat(200) })).status).toBe(200);
  } finally {
    await server.dispose();
  }
});

test('sessions end with their key', async () => {
  const server = await startServer({
    sources,
    env: { TRELLIS_API_KEY: 'root-of-the-tests' },
    config: { 'limits.auth_failures': 1000 },
  });
  try {
    const revoked = await addKey(server, 'one');
    const kept = await addKey(server, 'two');
    for (const key of [revoked, kept, 'root-of-the-tests']) await openAs(server, key);
    expect(await openSessions(server)).toBe(3);
    await runCli(['keys', 'revoke', 'one', server.project, '--data', server.data]);
    await expect.poll(() => openSessions(server)).toBe(2);
  } finally {
    await server.dispose();
  }
});
