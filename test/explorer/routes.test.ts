// The page, its files, and who may see what: E01, E04, E05 of the explorer's checklist, on a server of its
// own with keys and one without.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { cpSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeKeyFile } from '../../server/auth/key-file.js';
import { makeKey } from '../../server/auth/key-record.js';
import { ExplorerAssets } from '../../server/handlers/explorer/assets.js';
import type { Exchange } from '../../server/http/exchange.js';
import { makeFolder, root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const sources = { 'main.hx': 'N::Doc { text: String }\nQUERY docs() => d <- N<Doc> RETURN d\n' };
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';

let server: Server;
beforeAll(async () => {
  server = await startServer({ sources });
});
afterAll(() => server?.dispose());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers });

test('E01: the page for browsers, JSON for everyone else', async () => {
  const json = await get('/', { accept: '*/*' });
  expect(await json.json()).toEqual({ name: 'trellisdb', ready: true });
  expect(json.headers.get('vary')).toBe('Accept');
  const [page, again] = await Promise.all([0, 1].map(() => get('/', { accept: browser })));
  const html = await page!.text();
  expect(page!.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page!.headers.get('content-security-policy')!;
  const nonce = /'nonce-([A-Za-z0-9+/=]{24})'/.exec(policy)![1]!;
  expect(html).toContain(nonce);
  expect(await again!.text()).not.toContain(nonce);
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(page!.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page!.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=/);
});

test('E04: an open page is complete after another version has replaced its files', () => {
  const folder = join(makeFolder(), 'explorer');
  cpSync(join(root, 'dist/explorer'), folder, { recursive: true });
  const [opened, late] = [new ExplorerAssets(folder), new ExplorerAssets(folder)];
  const page = (assets: ExplorerAssets): string => String(assets.page()!.body);
  const { length } = page(opened);
  rmSync(folder, { recursive: true });
  expect(page(opened)).toHaveLength(length);
  for (const name of opened.names) {
    const reply = opened.answer(name, { acceptEncoding: 'br', ifNoneMatch: '' } as Exchange);
    expect(reply.body.length).toBeGreaterThan(0);
  }
  expect(page(late)).toMatch(/Start it again/);
});

test('E04: files are those of the table, in the form that is taken', async () => {
  const html = await (await get('/', { accept: browser })).text();
  const name = /_explorer\/(main\.\w{8}\.js)/.exec(html)![1]!;
  const path = `/_explorer/${name}`;
  const plain = await get(path, { 'accept-encoding': 'identity' });
  const text = Buffer.from(await plain.arrayBuffer());
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  for (const [accepted, coding, open] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
  ] as const) {
    const { client } = server;
    const reply = await client.request({
      method: 'GET',
      path: path.slice(1),
      headers: { 'accept-encoding': accepted },
    });
    expect(reply.headers.get('content-encoding')).toBe(coding);
    expect(open(reply.body).equals(text)).toBe(true);
  }
  const etag = plain.headers.get('etag')!;
  const same = await get(path, { 'if-none-match': etag });
  expect([same.status, await same.text()]).toEqual([304, '']);
  const head = await get(path, { 'accept-encoding': 'identity' }, 'HEAD');
  expect(head.headers.get('content-length')).toBe(String(text.length));
  const wrong = [
    '/_explorer/',
    '/_explorer/index.html',
    '/_explorer/.stamp',
    `/_explorer/${name}.gz`,
    `/_explorer/../explorer/${name}`,
    `/_explorer/%2e%2e/${name}`,
    '/_explorer/main.00000000.js',
    '/_explorer/..%2f..%2fpackage.json',
  ];
  for (const each of wrong) {
    const { status } = await server.client.request({ method: 'GET', path: each.slice(1) });
    expect(`${each} ${status}`).toBe(`${each} 404`);
  }
  const built = readdirSync(join(root, 'dist/explorer')).filter((file) => /\.(js|css)$/.test(file));
  for (const file of built) expect((await get(`/_explorer/${file}`)).status).toBe(200);
});

const callers = [
  { name: 'reader', role: 'read' },
  { name: 'writer', role: 'write' },
  { name: 'admin', role: 'admin' },
  { name: 'meter', role: 'metrics' },
  { name: 'limited', role: 'read', queries: ['docs'] },
] as const satisfies Parameters<typeof makeKey>[0][];

const nobody = { id: '00000000-0000-0000-0000-000000000000' };
const doors: [path: string, body?: object][] = [
  ['status'],
  ['search', { text: 'x' }],
  ['neighbours', nobody],
  ['elements', { type: 'Doc' }],
  ['graph', {}],
  ['vector', nobody],
  ['vector-map', { type: 'Doc' }],
  ['sources'],
];
const forReaders = ['status', 'search', 'neighbours', 'elements', 'graph', 'vector'];
const mayEnter: Record<string, string[]> = {
  reader: forReaders,
  writer: forReaders,
  admin: doors.map(([path]) => path),
  meter: [],
  limited: ['status'],
};

test('E05, E09: what each role sees, with keys and with the explorer off', async () => {
  const guarded = await startServer({
    sources,
    env: { TRELLIS_API_KEY: 'the-administrator' },
  });
  try {
    const as = (path: string, apiKey?: string, body?: object) =>
      fetch(`http://127.0.0.1:${guarded.port}/${path}`, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          accept: browser,
          'content-type': 'application/json',
          ...(apiKey && { 'x-api-key': apiKey }),
        },
      });
    // Page and files are open: they hold nothing of the data.
    const page = await as('');
    expect(page.status).toBe(200);
    const file = /_explorer\/main\.\w{8}\.js/.exec(await page.text())![0];
    expect((await as(file)).status).toBe(200);
    for (const path of ['_explore/status', '_explore/sources', 'openapi.json', 'introspect']) {
      expect([path, (await as(path)).status]).toEqual([path, 401]);
      expect([path, (await as(path, 'wrong')).status]).toEqual([path, 403]);
      expect([path, (await as(path, 'the-administrator')).status]).toEqual([path, 200]);
    }
    expect((await as('_explore/graph', undefined, {})).status).toBe(401);
    expect((await as('_explore/graph', 'the-administrator', {})).status).toBe(200);
    const keys = new Map<string, string>();
    const records = callers.map((caller) => {
      const { record, text } = makeKey(caller, new Date());
      keys.set(caller.name, text);
      return record;
    });
    writeKeyFile(join(guarded.data, 'keys.json'), records);
    const known = async () => (await as('_explore/status', keys.get('reader'))).status;
    await expect.poll(known).toBe(200);
    for (const { name } of callers) {
      const allowed: string[] = [];
      for (const [path, body] of doors) {
        const reply = await as(`_explore/${path}`, keys.get(name), body);
        const { code } = (await reply.json()) as { code?: string };
        if (code !== 'FORBIDDEN') allowed.push(path);
      }
      expect([name, allowed]).toEqual([name, mayEnter[name]]);
    }
  } finally {
    await guarded.dispose();
  }
  const off = await startServer({ sources, config: { 'server.explorer': false } });
  try {
    const at = (path: string, accept = '*/*') =>
      fetch(`http://127.0.0.1:${off.port}${path}`, { headers: { accept } });
    expect((await at('/', browser)).status).toBe(404);
    expect(await (await at('/')).json()).toEqual({ name: 'trellisdb', ready: true });
    const name = readdirSync(join(root, 'dist/explorer')).find((file) => /\.js$/.test(file))!;
    expect((await at(`/_explorer/${name}`)).status).toBe(404);
    expect(await (await at('/_explore/status')).json()).toMatchObject({ code: 'FEATURE_DISABLED' });
  } finally {
    await off.dispose();
  }
});

/** Seconds of processor time of a process, all its threads. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

const polls = process.env.TRELLIS_TEST_LONG === '1' ? 1_000 : 250;

test('E20: a page that polls once a second takes less than 1 % of a processor', async () => {
  const { client, pid } = server;
  const poll = () => client.request({ method: 'GET', path: '_explore/status?since=page' });
  // What is compiled first is not what a page costs.
  for (let at = 0; at < 50; at++) await poll();
  const before = cpuSeconds(pid);
  for (let at = 0; at < polls; at++) expect((await poll()).status).toBe(200);
  const perPoll = (cpuSeconds(pid) - before) / polls;
  process.stderr.write(
    `explorer: a poll takes ${Math.round(perPoll * 1e6)} us of processor time\n`,
  );
  expect(perPoll).toBeLessThan(0.01);
});
