// The built pages: small enough, and with no address of another host in them (E02, E03).
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';

const folder = join(root, 'dist/explorer');
const files = existsSync(folder)
  ? readdirSync(folder).filter((name) => /\.(js|css|html)$/.test(name))
  : [];
const sizeOf = (name: string): number => gzipSync(readFileSync(join(folder, name))).length;
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** What a page of a script brings at once: itself and, over and over, what it imports. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const found = textOf(name).matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g);
  for (const [, next] of found) withImports(next!, seen);
  return seen;
}

test('E02: the first load, every file and all together are small', () => {
  const page = textOf('index.html');
  const entries = [...page.matchAll(/_explorer\/([\w.-]+\.(?:js|css))/g)].map(([, name]) => name!);
  expect(entries).toHaveLength(2);
  // The picture of the graph on the first page comes later, and counts all the same, with its worker.
  const parts = files.filter((name) => /^(graph-preview|layout-worker)\./.test(name));
  expect(parts).toHaveLength(2);
  const first = new Set([...entries, ...parts].flatMap((name) => [...withImports(name)]));
  const firstLoad = [...first].reduce((sum, name) => sum + sizeOf(name), sizeOf('index.html'));
  const all = files.reduce((sum, name) => sum + sizeOf(name), 0);
  process.stderr.write(`explorer: first load ${firstLoad} bytes, all ${all} bytes (gzip)\n`);
  expect(firstLoad).toBeLessThan(70 * 1024);
  expect(all).toBeLessThan(300 * 1024);
  expect(Math.max(...files.map(sizeOf))).toBeLessThan(130 * 1024);
});

test('E03: no address of another host', () => {
  for (const name of files) {
    const hosts = [...textOf(name).matchAll(/(?:https?:)?\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi)]
      .map(([address]) => address)
      .filter((address) => !/^https?:\/\/www\.w3\.org$/.test(address));
    expect([name, hosts]).toEqual([name, []]);
  }
  expect(files.length).toBeGreaterThan(3);
});
