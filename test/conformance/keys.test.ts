// API keys that end while a server runs: revoked or expired, their sessions end (sessions.md 2).
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeKey, writeKeyFile } from '../../server/key-file.js';
import { Keyring } from '../../server/keys.js';
import { makeFolder, removeFolder } from '../support/project.js';
import { type Server, runCli, startServer } from '../support/server.js';

const sources = { 'main.hx': 'N::P { name: String }\nQUERY ping() => RETURN "pong"\n' };
const admin = { 'x-api-key': 'root' };

async function addKey(server: Server, name: string, ...more: string[]): Promise<string> {
  const argv = ['keys', 'add', name, server.project, '--role', 'read', '--data', server.data];
  const { stdout } = await runCli([...argv, ...more]);
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
  await expect.poll(async () => (await ask()).status, { timeout: 5_000 }).toBe(200);
}

test('a key lapses once, when it expires', () => {
  const folder = makeFolder();
  const path = join(folder, 'keys.json');
  const expires = new Date(5_000).toISOString();
  const { record } = makeKey({ name: 'brief', role: 'read', expires }, new Date(0));
  writeKeyFile(path, [record]);
  const keys = new Keyring(path);
  expect(keys.lapsed(1_000)).toEqual([]);
  expect(keys.lapsed(4_999)).toEqual([]);
  expect(keys.lapsed(5_000)).toEqual([record.id]);
  expect(keys.lapsed(6_000)).toEqual([]);
  removeFolder(folder);
});

test('sessions end with their key', async () => {
  const server = await startServer({
    sources,
    env: { TRELLIS_API_KEY: 'root' },
    config: { 'limits.auth_failures': 1000 },
  });
  try {
    const revoked = await addKey(server, 'one');
    const kept = await addKey(server, 'two');
    for (const key of [revoked, kept, 'root']) await openAs(server, key);
    expect(await openSessions(server)).toBe(3);
    await runCli(['keys', 'revoke', 'one', server.project, '--data', server.data]);
    await expect.poll(() => openSessions(server), { timeout: 8_000 }).toBe(2);
  } finally {
    await server.dispose();
  }
});
