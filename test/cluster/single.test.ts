// K01, CT12: a process without a cluster, watched while it runs: it loads no client of a log, no thread for one and no
// recorder, and nothing it commits has a position; the watch is seen to see.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openEnv } from '../../engine/storage/table/env.js';
import { metaKey } from '../../engine/storage/table/meta.js';
import { makeFolder, root } from '../support/project.js';

const ofCluster = /@nats-io|log-thread|log\/(jetstream|s3|drivers)|find-leader/;

/** What of a cluster a program loads, on its own thread and all that it starts. */
function loadedBy(program: string, folder: string): string[] {
  const list = join(folder, 'loaded');
  writeFileSync(list, '');
  const hooks = `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(${JSON.stringify(list)}, url + '\\n');
  return next(url, context);
}`;
  const toUrl = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
  const start = `import { register } from 'node:module'; register(${JSON.stringify(toUrl(hooks))});`;
  const file = join(folder, 'program.mjs');
  writeFileSync(file, program);
  execFileSync(process.execPath, ['--import', toUrl(start), file], { cwd: root, stdio: 'pipe' });
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded.length).toBeGreaterThan(3);
  return [...new Set(loaded.filter((url) => ofCluster.test(url)))];
}

const urlOf = (path: string): string =>
  JSON.stringify(pathToFileURL(join(root, 'dist/engine', path)).href);

test('K01 CT12 a process of its own loads nothing of a cluster, and makes no entries', async () => {
  const folder = makeFolder();
  const dataDir = join(folder, 'data');
  const text = `N::P { UNIQUE INDEX name: String } V::T { }
    QUERY add(name: String) => p <- AddN<P>({name: name}) v <- AddV<T>([1, 2]) RETURN p::{name}
    QUERY near() => RETURN SearchV<T>([1, 2], 3)::{score}`;
  const options = { dataDir, sources: [{ path: 'app.hx', text }], minFreeBytes: 0, workers: 1 };
  const program = `import { open } from ${urlOf('database/embedded.js')};
const db = await open(${JSON.stringify(options)});
await db.call('add', { name: 'a' });
await db.call('near', {});
await db.close();`;
  expect(loadedBy(program, folder)).toEqual([]);
  const env = openEnv(join(dataDir, 'graph'), { readOnly: true });
  const told = [metaKey.state, metaKey.position].map((key) => env.meta.get(key) !== undefined);
  await env.close();
  expect(told).toEqual([true, false]);
});

test('K51 the watch sees what is loaded, also on another thread', () => {
  const folder = makeFolder();
  const thread = join(folder, 'thread.mjs');
  writeFileSync(thread, `await import(${urlOf('cluster/log/drivers.js')});`);
  const program = `import { Worker } from 'node:worker_threads';
await import(${urlOf('cluster/log/jetstream.js')});
new Worker(${JSON.stringify(thread)});`;
  const loaded = loadedBy(program, folder).join(' ');
  expect(loaded).toMatch(/@nats-io\/(jetstream|transport-node)/);
  expect(loaded).toContain('drivers.js');
});
