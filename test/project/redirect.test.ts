// A key belongs to the address for which it was configured: a client that sends one follows no redirect, and
// reports the target.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/internal.js';
import { printPython } from '../../engine/contract/python.js';
import { compile } from '../../engine/lang/compile.js';
import { connect } from '../../server/client/client.js';
import { RemoteImport } from '../../server/import/remote-import.js';
import { makeFolder } from '../support/project.js';

const key = 'the-key-of-this-server';
const statuses = [301, 302, 303, 307, 308];
/** What came to the one who is pointed at. */
const foreign: string[] = [];
let status = 307;
let thief: Server;
let first: Server;
const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  thief = createServer((request, response) => {
    foreign.push(JSON.stringify(request.headers));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"info":{}}');
  });
  first = createServer((request, response) => {
    // Another port is another origin.
    response.writeHead(status, { Location: `${urlOf(thief)}${request.url}` }).end();
  });
  for (const one of [thief, first])
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const one of [thief, first]) {
    one.closeAllConnections();
    one.close();
  }
});
beforeEach(() => void (foreign.length = 0));

describe.each(statuses)('%i', (one) => {
  beforeEach(() => void (status = one));

  const calls: [string, (url: string) => Promise<unknown>][] = [
    ['call', (url) => connect({ url, apiKey: key }).call('q')],
    ['bytes', (url) => connect({ url, apiKey: key }).bytes('q', {}, { writes: false })],
    ['session', (url) => connect({ url, apiKey: key }).session()],
    ['check', (url) => connect({ url, apiKey: key }).check()],
    ['health', (url) => connect({ url, headers: { 'x-api-key': key } }).health()],
    ['waitUntilReady', (url) => connect({ url, apiKey: key }).waitUntilReady(5_000)],
  ];
  test.each(calls)('trellisdb/client: %s', async (_, call) => {
    const done = await call(urlOf(first)).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(done).toMatchObject({ name: 'TrellisError', code: 'REDIRECTED', status: one });
    expect(String((done as Error).message)).toContain(`redirects to ${urlOf(thief)}/`);
    expect(foreign).toEqual([]);
  });

  test('trellis import --url', async () => {
    const to = { url: urlOf(first), key, tenant: '', name: 'n', again: false };
    const remote = new RemoteImport(to, () => undefined);
    await remote.write(Buffer.from('{}\n'));
    await expect(remote.end()).rejects.toMatchObject({
      data: { args: { what: expect.stringContaining(`redirects to ${urlOf(thief)}/`) } },
    });
    expect(foreign).toEqual([]);
  });
});

test('a fetch that follows all the same is found out', async () => {
  const fetchAll: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'follow' });
  const call = connect({ url: urlOf(first), fetch: fetchAll }).call('q');
  await expect(call).rejects.toMatchObject({ code: 'REDIRECTED' });
});

test('in a browser, which does not say where, it is an error too', async () => {
  const opaque = { type: 'opaqueredirect', status: 0, ok: false, headers: new Headers() };
  const call = connect({ url: 'http://h', fetch: async () => opaque as Response }).call('q');
  await expect(call).rejects.toThrow('http://h/q redirects to elsewhere, which is not followed');
});

const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']);
test.skipIf(python.status !== 0)('the generated module of Python', async () => {
  const source = [{ path: 'a.hx', text: 'QUERY q() => RETURN 1\n' }];
  const { program } = compile(source, { compat: false, limits: defaultLimits });
  const folder = mkdtempSync(join(makeFolder(), 'py-'));
  writeFileSync(join(folder, 'db.py'), printPython(program!, '1.0.0', 1));
  const code = `import db
try:
    db.Client(${JSON.stringify(urlOf(first))}, ${JSON.stringify(key)}).call("q")
except db.TrellisError as error:
    print(error.code, error)
`;
  const { spawn } = await import('node:child_process');
  for (status of statuses) {
    const child = spawn('python3', ['-c', code], { cwd: folder });
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(told).toContain(`REDIRECTED ${urlOf(first)}/q redirects to ${urlOf(thief)}/q`);
    expect(foreign).toEqual([]);
  }
});
