// The client as it is shipped: one small file that any runtime can load (client.md 9, P10).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';

const path = join(root, 'dist/bin/client.js');

test('P10 the client is one file of at most 4 KB, compressed', () => {
  const size = gzipSync(readFileSync(path)).length;
  expect(size).toBeLessThanOrEqual(4_096);
});

test('P10 it is bundled for a worker without anything of Node, and calls by fetch alone', async () => {
  const stdin = {
    contents: `import { connect } from ${JSON.stringify(path)}; globalThis.connect = connect;`,
    resolveDir: root,
  };
  // What names a module of Node would not resolve for this platform.
  const { outputFiles } = buildSync({
    stdin,
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    conditions: ['worker'],
  });
  const { text } = outputFiles[0]!;
  expect(text).not.toMatch(/\b(require\(|process\.|Buffer\b|node:)/);
  const asked: string[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: what the file leaves in its own world
  const world: any = createContext({
    ...{ TextDecoder, TextEncoder, AbortController, AbortSignal, setTimeout, clearTimeout },
    ...{ crypto, performance },
    // As browsers and workers have it: a member of nothing else.
    async fetch(this: unknown, url: string) {
      if (this !== undefined) throw new TypeError('Illegal invocation');
      asked.push(url);
      return new Response('{"n":1}');
    },
  });
  runInContext(text, world);
  const answer = await world.connect({ url: 'http://db.example/base/' }).call('count');
  expect([JSON.stringify(answer), asked]).toEqual(['{"n":1}', ['http://db.example/base/count']]);
});
