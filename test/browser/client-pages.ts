// `trellisdb/client` in a real browser, on a page of the server that it calls (client.md 9, P10).
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { closeBrowser, openPage } from './open-page.js';

const source = `
N::Person { UNIQUE INDEX name: String, big: I64 }
QUERY add(name: String, big: I64) => p <- AddN<Person>({name: name, big: big}) RETURN p::{name, big}
QUERY all() => people <- N<Person> RETURN people::{name}
`;

let server: Server;
beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source } });
});
afterAll(async () => {
  await closeBrowser();
  await server?.dispose();
});

test('P10 the client in Chromium calls, keeps digits, and tells faults', async () => {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, 'dist/bin/client.js')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'trellis',
    platform: 'browser',
  });
  const { page, faults, close } = await openPage(`http://127.0.0.1:${server.port}`, '');
  const told = await page.evaluate(`(async () => {
    ${outputFiles[0]!.text}
    const caller = trellis.connect({ url: location.origin });
    const db = trellis.bind(caller, {
      add: { writes: true, at: { p: { big: 2 } } },
      all: { writes: false, at: 0 },
    });
    const { p } = await db.add({ name: 'Ada', big: 9007199254740993n });
    const again = await db.add({ name: 'Ada', big: 1n }).catch((error) => [error.code, error.status]);
    const { people } = await db.all();
    const walk = await caller.session();
    await walk.nFromType({ node_type: 'Person' });
    const walked = [];
    for await (const one of walk) walked.push(one.name);
    const ended = await caller.call('all', {}, { signal: AbortSignal.abort() })
      .catch((error) => error.name);
    return [String(p.big), again, people, walked, ended];
  })()`);
  expect(told).toEqual([
    '9007199254740993',
    ['UNIQUE_VIOLATION', 409],
    [{ name: 'Ada' }],
    ['Ada'],
    'AbortError',
  ]);
  // The browser itself names every answer that is no success.
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
  await close();
});
