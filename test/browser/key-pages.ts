// What each kind of key sees of every page (E05), and a key that is wrong, revoked or expired while the page
// is open (E09), on one server with keys.
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeKeyFile } from '../../server/auth/key-file.js';
import { type KeyRecord, makeKey } from '../../server/auth/key-record.js';
import { type Server, startServer } from '../support/server/server.js';
import { closeBrowser, goToView, openPage } from './open-page.js';

const text = `
N::Doc { title: String }
V::Passage { text: String }
E::Cites { From: Doc, To: Doc }
QUERY add(title: String) => d <- AddN<Doc>({ title: title }) RETURN d
QUERY docs() => d <- N<Doc> RETURN d
`;

const records: KeyRecord[] = [];
const keys = new Map<string, string>();
let server: Server;
let origin: string;

/** The running server takes the file in by itself. */
const writeKeys = (list: readonly KeyRecord[]): void =>
  writeKeyFile(join(server.data, 'keys.json'), list);

function addKey(options: Parameters<typeof makeKey>[0]): void {
  const made = makeKey(options, new Date());
  keys.set(options.name, made.text);
  records.push(made.record);
}

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': text } });
  await server.client.post('add', { title: 'one' });
  addKey({ name: 'reader', role: 'read' });
  addKey({ name: 'admin', role: 'admin' });
  addKey({ name: 'meter', role: 'metrics' });
  addKey({ name: 'limited', role: 'read', queries: ['docs'] });
  writeKeys(records);
  await server.restart();
  origin = `http://127.0.0.1:${server.port}`;
});
afterAll(async () => {
  await closeBrowser();
  await server?.dispose();
});

async function signIn(page: Page, key: string): Promise<void> {
  await page.fill('input[type=password]', key);
  await page.click('button:text-is("Open")');
}

/** What stands on a page for a key: each is waited for. */
const seen: Record<string, Record<string, string>> = {
  reader: {
    overview: '.tiles a:has-text("Doc")',
    schema: '.diagram text:has-text("Doc")',
    'schema/Doc': 'td:has-text("one")',
    'query/docs?run=1': 'td:has-text("one")',
    'query/add': '.chip:has-text("writes")',
    graph: '.tools [data-nodes="1"]',
    vectors: 'h2:has-text("needs the role admin")',
    session: 'legend:has-text("Start")',
    source: 'h2:has-text("Source needs the role admin")',
    slow: 'h2:has-text("The slow log needs the role admin")',
    api: '.contracts h2:has-text("/docs")',
  },
  admin: {
    source: '.lines a:has-text("Doc")',
    slow: 'h2:has-text("No slow requests"), table.slow',
    vectors: 'h2:has-text("There is no Passage yet")',
  },
  limited: {
    overview: '.figures a:text-is("docs")',
    schema: 'h2:has-text("There are no types to show")',
    'query/docs?run=1': 'td:has-text("one")',
    'query/add': 'h2:has-text("There is no query add")',
    graph: 'h2:has-text("limited to some queries")',
    vectors: 'h2:has-text("limited to some queries")',
    session: 'h2:has-text("limited to some queries")',
    source: 'h2:has-text("needs the role admin")',
    slow: 'h2:has-text("needs the role admin")',
    api: '.contracts h2:has-text("/docs")',
  },
  meter: { overview: '.login [role=alert]:has-text("This API key may not")' },
};

test.each(Object.entries(seen))('E05: what a key sees of every page: %s', async (name, views) => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await signIn(page, keys.get(name)!);
  for (const [view, mark] of Object.entries(views)) {
    await goToView(page, `#/${view}`);
    const found = await page.waitForSelector(mark).catch(() => undefined);
    expect([name, view, found !== undefined]).toEqual([name, view, true]);
  }
  // A refusal is an answer, which a browser notes: the one before the key, and no other.
  const refused = faults.filter((fault) => !fault.includes('status of 401'));
  expect(refused.length).toBe(name === 'meter' ? 1 : 0);
  await close();
});

test('E09: a key is asked for, kept in memory, and sent to data routes only', async () => {
  const key = keys.get('admin')!;
  const { page, close } = await openPage(origin, '#/overview');
  const leaked: string[] = [];
  page.on('request', (sent) => {
    const { 'x-api-key': given } = sent.headers();
    if (sent.url().includes(key)) leaked.push(sent.url());
    if (sent.url().includes('/_explorer/') && given !== undefined) leaked.push(sent.url());
  });
  await signIn(page, 'wrong');
  await page.waitForSelector('text=The API key is not valid');
  await signIn(page, key);
  await page.waitForSelector('.tiles');
  await page.click('.rail >> text=Graph');
  await page.waitForSelector('.canvas');
  const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
  expect(await page.evaluate(stored)).not.toContain(key);
  expect(await page.evaluate<string>('location.href')).not.toContain(key);
  expect(leaked).toEqual([]);
  await page.reload();
  await page.waitForSelector('input[type=password]');
  // Kept until the tab is closed when that is wanted, and forgotten at once when it is not.
  await page.check('.login input[type=checkbox]');
  await signIn(page, key);
  await page.waitForSelector('.canvas');
  await page.reload();
  await page.waitForSelector('.canvas');
  await page.click('button:text-is("sign out")');
  await page.waitForSelector('input[type=password]');
  expect(await page.evaluate(stored)).not.toContain(key);
  await close();
});

test('E09: a key that is revoked or expires while the page is open', async () => {
  for (const way of ['revoked', 'expired'] as const) {
    const { text: key, record } = makeKey({ name: way, role: 'read' }, new Date());
    writeKeys([...records, record]);
    const { page, close } = await openPage(origin, '#/schema/Doc');
    const isKnown = async (): Promise<number> =>
      (await fetch(`${origin}/_explore/status`, { headers: { 'x-api-key': key } })).status;
    await expect.poll(isKnown).toBe(200);
    await signIn(page, key);
    await page.waitForSelector('td:has-text("one")');
    const ended = { ...record, expires: new Date(Date.now() - 1_000).toISOString() };
    writeKeys(way === 'revoked' ? records : [...records, ended]);
    await page.waitForSelector('text=The API key is not valid');
    // Another key goes on where the page was.
    await signIn(page, keys.get('reader')!);
    await page.waitForSelector('td:has-text("one")');
    await close();
  }
});

test('E09: a late refusal of the key before does not take the new one away', async () => {
  const { page, close } = await openPage(origin, '#/schema/Doc');
  const held: Route[] = [];
  await page.route('**/_explore/elements', (route) => void held.push(route), { times: 1 });
  await signIn(page, keys.get('reader')!);
  await expect.poll(() => held.length).toBe(1);
  await page.click('button:text-is("sign out")');
  await signIn(page, keys.get('admin')!);
  await page.waitForSelector('td:has-text("one")');
  await held[0]!.fulfill({ status: 403, json: { error: 'no', code: 'INVALID_API_KEY' } });
  // The page goes on asking, with the new key.
  for (let polls = 0; polls < 2; polls++) {
    const reply = await page.waitForResponse('**/_explore/status*');
    expect(reply.request().headers()['x-api-key']).toBe(keys.get('admin'));
    expect(reply.status()).toBe(200);
  }
  expect(await page.locator('.login').count()).toBe(0);
  await close();
});
