// Lets the bundled server run for a few seconds on a copy of the demo, so that it keeps the code V8 has
// made of it (server/lifecycle/compile-cache.ts). Whatever fails here makes starts slower, and nothing else.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** After this long a machine is too busy to wait for. */
const mostMs = 30_000;

const calls = [
  ['counts', {}],
  ['people', { start: 0, end: 2 }],
  ['worksOf', { person: 'newton' }],
  ['introspect', undefined],
  ['metrics', undefined],
];

async function ask(url) {
  for (const [path, body] of calls) {
    const headers = { 'Content-Type': 'application/json' };
    const request = body && { method: 'POST', headers, body: JSON.stringify(body) };
    await (await fetch(`${url}/${path}`, request)).arrayBuffer();
  }
}

/** Resolves when each of `names` has code in the folder, or when that takes too long. */
export async function warm(root, folder, names) {
  const until = performance.now() + mostMs;
  const data = mkdtempSync(join(tmpdir(), 'trellisdb-warm-'));
  const argv = ['serve', join(root, 'server/demo'), '--data', data, '--port', '0', '--no-watch'];
  const env = { ...process.env, TRELLIS_SERVER_HTTP_THREADS: '2', TRELLIS_SERVER_WORKERS: '1' };
  const child = spawn(process.execPath, [join(root, 'dist/bin/main.js'), ...argv], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    const url = /^trellis ready (\S+)$/m.exec(output)?.[1];
    if (url) void ask(url).catch(() => undefined);
  });
  const isKept = (name) => kept(folder).some((file) => file.startsWith(`${name}-`));
  const isOver = () => child.exitCode !== null || performance.now() > until;
  while (!names.every(isKept) && !isOver()) await pause(50);
  child.kill('SIGTERM');
  await ended;
  rmSync(data, { recursive: true, force: true });
}

function kept(folder) {
  try {
    return readdirSync(folder).filter((name) => !name.endsWith('.tmp'));
  } catch {
    return [];
  }
}
