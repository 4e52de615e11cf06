// `trellis mcp` as programs that hosts start: several on one project share one server, which one of
// them has started, and outlive it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { holderOf } from '../../engine/storage/lock/lock-holder.js';
import { hostConfig, hosts } from '../../server/mcp/stdio/host-config.js';
import { makeFolder, removeFolder, root, writeProject } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';
import { built } from '../support/server/embedded-server.js';
import { runCli } from '../support/server/server.js';

const { loadConfig } =
  await built<typeof import('../../server/config/config.js')>('server/config/config.js');
const { ServerLink } = await built<typeof import('../../server/mcp/stdio/server-link.js')>(
  'server/mcp/stdio/server-link.js',
);

const main = join(root, 'dist/bin/main.js');
const source = `
N::Person { name: String }
QUERY count() => n <- N<Person>::COUNT RETURN n
#[mcp]
QUERY add(name: String) => p <- AddN<Person>({name: name}) RETURN p::{name}
`;

const folders: string[] = [];
function project(text = source): string {
  const folder = makeFolder();
  folders.push(folder);
  writeProject(folder, { sources: { 'main.hx': text } });
  return folder;
}
const dataOf = (folder: string): string => join(folder, '.trellis/data');
const serverOf = (folder: string): number | undefined => holderOf(dataOf(folder))?.pid;

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) {
    const pid = serverOf(folder);
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    removeFolder(folder);
  }
});

interface Bridge {
  ask(method: string, params?: object): Promise<string>;
  call(name: string, args?: object): Promise<string>;
  stdout: string;
  stderr: string;
  end(): Promise<number | null>;
}

function bridge(folder: string, ...flags: string[]): Bridge {
  const child = spawn(process.execPath, [main, 'mcp', folder, ...flags], { cwd: folder });
  running.add(child);
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  void exit.then(() => running.delete(child));
  const waiting = new Map<number, (line: string) => void>();
  let rest = '';
  let id = 0;
  const self: Bridge = {
    stdout: '',
    stderr: '',
    ask: (method, params = {}) =>
      new Promise((resolve) => {
        waiting.set(++id, resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      }),
    call: (name, args = {}) => self.ask('tools/call', { name, arguments: args }),
    end: () => {
      child.stdin.end();
      return exit;
    },
  };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (self.stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    self.stdout += text;
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) waiting.get((JSON.parse(line) as { id: number }).id)?.(line);
  });
  return self;
}

test('M16 bridges that start at the same time share one server, and outlive it', {
  timeout: 120_000,
}, async () => {
  const folder = project();
  const many = process.env.TRELLIS_TEST_LONG ? 10 : 2;
  const bridges = Array.from({ length: many }, () => bridge(folder));
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x' } };
  const told = await Promise.all(bridges.map((one) => one.ask('initialize', hello)));
  for (const line of told) expect(JSON.parse(line).result.serverInfo.name).toBe('trellisdb');
  await Promise.all(bridges.map((one, i) => one.call('add', { name: `of ${i}` })));
  for (const one of bridges) expect(await one.call('count')).toContain(`"n":${many}`);
  const first = serverOf(folder)!;

  // Under load, every call gets a response of some kind, and then everything continues.
  const load = bridges.flatMap((one) => Array.from({ length: 20 }, () => one.call('count')));
  process.kill(first, 'SIGKILL');
  for (const line of await Promise.all(load)) {
    expect(JSON.parse(line).result.content[0].text).toMatch(/^(\{"n":\d+\}|NOT_READY: )/);
  }
  // A server that starts more slowly than the bridge waits is reported as not ready, and still starts.
  for (const one of bridges) {
    await expect.poll(() => one.call('count'), { timeout: 60_000 }).toContain(`"n":${many}`);
  }
  expect(serverOf(folder)).not.toBe(first);

  for (const one of bridges) {
    expect(await one.end()).toBe(0);
    expect(one.stderr).not.toContain('DATA_LOCKED');
  }
  // The server is available for the next bridge.
  expect(serverOf(folder)).toBeDefined();
});

describe('what cannot work is said', () => {
  test('of sources with an error, before any request waits', async () => {
    const { code, stdout, stderr } = await runCli(['mcp', project('QUERY broken(')], {});
    expect([code, stdout]).toEqual([65, '']);
    expect(stderr).toContain('SOURCE_INVALID');
  });

  test('of an unknown host', async () => {
    const host = await runCli(['mcp', '--print-config', 'emacs'], {});
    expect([host.code, host.stderr]).toEqual([78, expect.stringContaining('Known are claude, ')]);
  });
});

test('a started server that never listens is reported, and waited for no longer', async () => {
  const folder = project();
  // Nobody writes into it: whoever reads it stands still, without an end.
  const keys = join(folder, 'keys.fifo');
  spawnSync('mkfifo', [keys]);
  const flags = new Map([['auth.keys_file', keys]]);
  writeFileSync(join(folder, 'trellis.toml'), `[auth]\nkeys_file = ${JSON.stringify(keys)}\n`);
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  const link = new ServerLink({ config, mayStart: true, dataFlags: [], report: tell });
  const before = performance.now();
  await link.open(100, 500);
  expectFigure(performance.now() - before, 1_000, 'ms to give up');
  expect(told).toEqual([
    expect.stringContaining('does not listen after 1 s: calls fail NOT_READY'),
  ]);
  expect(told[0]).toContain(join(folder, '.trellis/server.log'));
  const pid = Number(/process (\d+)/.exec(told[0]!)![1]);
  await expect(link.find(performance.now())).rejects.toThrow('no server is reached');
  process.kill(pid, 'SIGKILL');
});

test('--print-config prints what starts it again', async () => {
  const folder = project();
  const argv = ['mcp', '--print-config', 'claude', '--read-only', '--key', 'secret'];
  const { code, stdout } = await runCli(argv, { cwd: folder });
  expect(code).toBe(0);
  const args = [main, 'mcp', folder, '--read-only'];
  const env = { TRELLIS_API_KEY: 'secret' };
  expect(JSON.parse(stdout)).toEqual({
    mcpServers: { trellis: { command: process.execPath, args, env } },
  });
});

test('each host gets the configuration of a remote server in its own form', () => {
  const [url, headers] = ['http://db.example:6969/mcp', { 'x-api-key': 'k' }];
  const told = Object.entries(hosts).map(([name, host]) => {
    const text = hostConfig(host, 'db', { url, key: 'k', command: 'node', args: [] });
    return [name, JSON.parse(text)];
  });
  expect(Object.fromEntries(told)).toEqual({
    claude: { mcpServers: { db: { type: 'http', url, headers } } },
    cursor: { mcpServers: { db: { url, headers } } },
    vscode: { servers: { db: { type: 'http', url, headers } } },
    windsurf: { mcpServers: { db: { serverUrl: url, headers } } },
  });
});
