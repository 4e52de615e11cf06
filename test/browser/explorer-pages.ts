// The explorer in a real browser: the checklist's rows that need one (E07 to E19), on the demo.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { closeBrowser, openPage } from './open-page.js';

const pages = ['overview', 'schema', 'query', 'graph', 'source', 'slow', 'api'];

const hostile = `
N::Thing { name: String, big: I64, at: Date }
QUERY add(name: String, big: I64, at: Date) =>
  t <- AddN<Thing>({ name: name, big: big, at: at })
  RETURN t
QUERY things() => t <- N<Thing> RETURN t
QUERY sized(rows: [{ no: U8, name: String }]) => RETURN rows
`;

let demo: Server;
let other: Server;
let origin: string;
beforeAll(async () => {
  const names = ['schema.hx', 'queries.hx', 'load.hx', 'seed.ndjson'];
  const sources = Object.fromEntries(
    names.map((name) => [name, readFileSync(join(root, 'server/demo', name), 'utf8')]),
  );
  demo = await startServer({ sources, config: { 'embedding.model': 'hash' } });
  other = await startServer({ sources: { 'main.hx': hostile } });
  origin = `http://127.0.0.1:${demo.port}`;
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
  await other?.dispose();
});

const ready = (page: string): string => `main.page-${page}`;

test('E07: every page opens without an error, a violation or a request to others', async () => {
  for (const name of pages) {
    const { page, faults, close } = await openPage(origin, `#/${name}`);
    await page.waitForSelector(ready(name));
    await page.waitForTimeout(700);
    expect([name, faults]).toEqual([name, []]);
    await close();
  }
});

test('E10: the form sends what was typed, digits and all; a fault stands at its field', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const { page, faults, close } = await openPage(at, '#/query/add');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/add')) sent.push(request.postData() ?? '');
  });
  await page.fill('[id="field/name"]', 'a');
  await page.fill('[id="field/big"]', '9007199254740993');
  await page.fill('[id="field/at"]', 'yesterday');
  await page.click('text=Run');
  await page.click('text=Yes, write');
  await page.waitForSelector('[id="fault/at"]');
  expect(await page.getAttribute('[id="field/at"]', 'aria-invalid')).toBe('true');
  await page.fill('[id="field/at"]', '2026-03-01T12:00:00+02:00');
  await page.click('button.primary');
  await page.click('text=Yes, write');
  await page.waitForSelector('[role=tablist]');
  expect(sent.at(-1)).toBe('{"name":"a","big":9007199254740993,"at":"2026-03-01T12:00:00+02:00"}');
  await page.click('role=tab[name=JSON]');
  await page.waitForSelector('text=9007199254740993');
  // The refused call is an answer with status 400, which a browser notes.
  expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  await close();
});

test('E11: expand, undo, collapse', async () => {
  const found = await demo.client.post('person', { key: 'newton' });
  const { page, faults, close } = await openPage(origin, `#/graph?around=${found.person.id}`);
  const count = () =>
    page.getAttribute('.tools [data-nodes]', 'data-nodes').then((text) => Number(text));
  await expect.poll(count, { timeout: 10_000 }).toBeGreaterThan(2);
  const before = await count();
  await page.locator('.inspector button', { hasText: 'hide' }).click();
  await expect.poll(count).toBe(before - 1);
  await page.click('.tools >> text=undo');
  await expect.poll(count).toBe(before);
  expect(faults).toEqual([]);
  await close();
});

/** A proxy that mounts a server under a path. */
async function mount(port: number, path: string): Promise<{ origin: string; close: () => void }> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(path)) {
      outgoing.writeHead(404).end();
      return;
    }
    const to = { port, method, path: url.slice(path.length - 1), headers };
    const passed = request({ ...to, headers: { ...headers, host: `127.0.0.1:${port}` } });
    passed.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    // The browser names the proxy as the origin of its requests; a proxy speaks for it.
    passed.removeHeader('origin');
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port: own } = proxy.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${own}`, close: () => proxy.close() };
}

test('E08: behind a proxy that mounts it under a path', async () => {
  const proxy = await mount(demo.port, '/db/');
  const { page, faults, close } = await openPage(proxy.origin, 'db/#/query/beginnings?run=1');
  await page.waitForSelector('td');
  await page.goto(`${proxy.origin}/db/#/graph`);
  await page.waitForSelector('.tools [data-nodes="400"]');
  await page.waitForTimeout(1_000);
  expect(faults).toEqual([]);
  await close();
  proxy.close();
});

test('E09: a key is asked for, kept in memory, and sent to data routes only', async () => {
  const key = 'the-administrator';
  const server = await startServer({
    sources: { 'main.hx': hostile },
    env: { TRELLIS_API_KEY: key },
  });
  try {
    const at = `http://127.0.0.1:${server.port}`;
    const { page, close } = await openPage(at, '#/overview');
    const leaked: string[] = [];
    page.on('request', (sent) => {
      const { 'x-api-key': given } = sent.headers();
      if (sent.url().includes(key)) leaked.push(sent.url());
      if (sent.url().includes('/_explorer/') && given !== undefined) leaked.push(sent.url());
    });
    await page.fill('input[type=password]', 'wrong');
    await page.click('text=Open');
    await page.waitForSelector('text=does not know this key');
    await page.fill('input[type=password]', key);
    await page.click('text=Open');
    await page.waitForSelector('.tiles');
    await page.click('text=Graph');
    await page.waitForSelector('.canvas');
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(stored)).not.toContain(key);
    expect(page.url()).not.toContain(key);
    expect(leaked).toEqual([]);
    await page.reload();
    await page.waitForSelector('input[type=password]');
    await close();
  } finally {
    await server.dispose();
  }
});

test('E12: a hub of very many edges expands in bounded pieces', async () => {
  const edges = process.env.TRELLIS_TEST_LONG === '1' ? 100_000 : 20_000;
  const hub = `
N::Hub { name: String }
N::Leaf { no: I64 }
E::Has { From: Hub, To: Leaf }
QUERY hub() => h <- AddN<Hub>({ name: "hub" }) RETURN h::ID
QUERY grow(hub: ID, rows: [I64]) =>
  FOR no IN rows { leaf <- AddN<Leaf>({ no: no }) AddE<Has>::From(hub)::To(leaf) }
  RETURN "ok"
`;
  const server = await startServer({ sources: { 'main.hx': hub } });
  try {
    const { h } = await server.client.post('hub');
    for (let at = 0; at < edges; at += 10_000) {
      await server.client.post('grow', {
        hub: h,
        rows: Array.from({ length: 10_000 }, (_, i) => i),
      });
    }
    const at = `http://127.0.0.1:${server.port}`;
    const { page, faults, close } = await openPage(at, `#/graph?around=${h}`);
    await page.waitForSelector('.tools [data-nodes="26"]');
    await page.click('.degrees button:has-text("show")');
    await page.waitForSelector(`text=+${(edges - 25).toLocaleString('en')} left`);
    await page.click('.degrees button:has-text("left")');
    await page.waitForSelector('.tools [data-nodes="51"]');
    await page.click('.tools >> text=undo');
    await page.waitForSelector('.tools [data-nodes="26"]');
    expect(faults).toEqual([]);
    await close();
  } finally {
    await server.dispose();
  }
});

test('E15: a faulty source turns the page amber, its mending green again', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const { page, close } = await openPage(at, '#/source');
  await page.waitForSelector('.lines');
  const path = join(other.folder, 'project/main.hx');
  writeFileSync(path, hostile.replace('RETURN rows', 'RETURN nothing_known'));
  await page.waitForSelector('.rail a.amber', { timeout: 5_000 });
  await page.waitForSelector('.faulty.bad .diagnostic.error');
  writeFileSync(path, hostile);
  await page.waitForSelector('.rail a.amber', { state: 'detached', timeout: 5_000 });
  await close();
});

test('E16: hostile values are text', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const names = ['<img src=x onerror=alert(1)>', 'מימין לשמאל', 'x'.repeat(900_000)];
  const rows = names.map((name) => ({ name, big: 1, at: 0 }));
  for (const row of rows) await other.client.post('add', row);
  const { page, faults, close } = await openPage(at, '#/query/things?run=1&view=json');
  await page.waitForSelector('.json');
  expect(await page.locator('.json img').count()).toBe(0);
  expect(await page.textContent('.json')).toContain('<img src=x onerror=alert(1)>');
  await page.click('role=tab[name=Table]');
  await page.waitForSelector('td');
  expect(faults).toEqual([]);
  await close();
});

test('E17: an address opens the same view in a fresh tab', async () => {
  const first = await openPage(origin, '#/query/worksOf');
  await first.page.fill('[id="field/person"]', 'newton');
  await first.page.click('button.primary');
  await first.page.click('role=tab[name=JSON]');
  const hash = new URL(first.page.url()).hash;
  const text = await first.page.textContent('.json');
  await first.close();
  const second = await openPage(origin, hash);
  await second.page.waitForSelector('.json');
  expect(await second.page.textContent('.json')).toBe(text);
  await second.close();
});

test('E18: no serious fault of access in either theme', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const name of [...pages, 'query/worksOf?person=newton&run=1', 'schema/Work']) {
      const { page, close } = await openPage(origin, `#/${name}`, { colorScheme, bypassCSP: true });
      await page.waitForTimeout(900);
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const { axe } = globalThis as never as { axe: { run(): Promise<{ violations: never[] }> } };
        const { violations } = await axe.run();
        return (violations as { id: string; impact: string; nodes: { html: string }[] }[])
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => `${id} ${nodes[0]!.html.slice(0, 120)}`);
      });
      faults.push(...found.map((fault) => `${name} ${colorScheme}: ${fault}`));
      await close();
    }
  }
  expect(faults).toEqual([]);
});

test('E19: the page goes on by itself after the server was away', async () => {
  const { port } = demo;
  const { page, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.chip.good');
  await demo.stop();
  await page.waitForSelector('.chip.bad', { timeout: 10_000 });
  await demo.restart({ args: ['--port', String(port)] }).catch(() => demo.start());
  if (demo.port === port) await page.waitForSelector('.chip.good', { timeout: 15_000 });
  await close();
});

test('paths of somebody new: three clicks at most', async () => {
  const { page, close } = await openPage(`http://127.0.0.1:${demo.port}`, '');
  // Run a query with arguments, and copy it as code.
  await page.click('.figures a:text-is("worksOf")');
  await page.fill('[id="field/person"]', 'newton');
  await page.click('button.primary');
  await page.waitForSelector('text=Opticks');
  await page.click('text=curl');
  // Why it was slow: its plan with rows and times.
  await page.click('text=Profile');
  await page.waitForSelector('.plan meter');
  // Follow an edge: search, which opens the element with its edges.
  await page.keyboard.press('Escape');
  await page.fill('.finder input', 'newton');
  await page.click('#hits li:has-text("Isaac Newton")');
  await page.click('.degrees button >> nth=0');
  await close();
});

const shots = process.env.TRELLIS_SHOTS ?? '';

test.runIf(shots !== '')('pictures of every page, in both themes and sizes', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of [
      ['wide', { width: 1280, height: 800 }],
      ['phone', { width: 390, height: 844 }],
    ] as const) {
      const views = [...pages, 'query/worksOf?person=newton&run=1', 'schema/Work'];
      for (const [at, name] of views.entries()) {
        const place = `http://127.0.0.1:${demo.port}`;
        const { page, close } = await openPage(place, `#/${name}`, { colorScheme, viewport });
        await page.waitForTimeout(name === 'graph' ? 3_000 : 900);
        const file = `${at}-${name.split(/[/?]/).join('-').slice(0, 16)}-${size}-${colorScheme}.png`;
        await page.screenshot({ path: join(shots, file) });
        await close();
      }
    }
  }
});
