// The form of every query of the demo sends what the command that the page copies would send (E10).
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, goToView, openPage } from './open-page.js';

interface Sent {
  method: string;
  path: string;
  type: string;
  body: string;
}

let demo: Server;
/** Takes what curl sends, in place of the server. */
const ear = createServer();
const heard: Sent[] = [];
const ids = { list: '', work: '' };
beforeAll(async () => {
  demo = await startDemo();
  ids.list = (await demo.client.post('createReadingList', { name: 'first' })).list.id;
  ids.work = (await demo.client.post('work', { key: 'opticks' })).work.workId;
  ear.on('request', (request, reply) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      heard.push({ method, path, type: headers['content-type'] ?? '', body });
      reply.end('{}');
    });
  });
  await new Promise<void>((resolve) => ear.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await closeBrowser();
  ear.close();
  await demo?.dispose();
});

type Arguments = Record<string, unknown>;

/** Texts that a shell, JSON and a form each have their own view of. */
const odd = `it's "so" \\n $HOME \`ls\` 100% ü מ`;

/** Arguments of every query, in the order in which a session of somebody could make them. */
const asked = (): Record<string, Arguments> => ({
  person: { key: 'newton' },
  work: { key: 'opticks' },
  workById: { id: ids.work },
  worksOfYear: { year: 1704 },
  people: { start: 0, end: 2 },
  worksOf: { person: 'newton' },
  ideasOf: { person: 'euler' },
  ancestry: { key: 'newton' },
  neighbours: { key: 'opticks' },
  worksBetween: { field: 'physics', first: -300, last: 1800 },
  beginnings: {},
  mostBuiltOn: { count: 255 },
  counts: {},
  passagesLike: { text: odd, k: 3 },
  worksLike: { text: 'light', k: 2 },
  findPassages: { words: odd, limit: 1_000 },
  findWorks: { words: 'light', limit: 1 },
  searchPassages: { text: 'gravity', limit: 3 },
  ideasAbout: { words: 'gravity' },
  createReadingList: { name: odd },
  addToReadingList: { list: ids.list, work: 'opticks', position: 7, note: odd },
  readingLists: {},
  updateReadingList: { id: ids.list, name: 'true', done: true },
  dropReadingList: { id: ids.list },
  loadPeople: {
    rows: [
      { key: 'anna', name: odd, field: 'x', born: -10 },
      { key: 'bob', name: 'Bob', field: 'y', born: 1900, died: 1950 },
    ],
  },
  loadIdeas: { rows: [{ key: 'one', name: 'One', summary: odd }] },
  loadWorks: {
    rows: [
      {
        key: 'new',
        title: 'New',
        year: 2026,
        kind: 'book',
        field: 'x',
        authors: ['anna', 'bob'],
        ideas: ['one'],
      },
      { key: 'next', title: 'Next', year: 2027, kind: '', field: '', authors: [], ideas: [] },
    ],
  },
  loadPassages: { rows: [{ work: 'new', text: odd }] },
  linkWorks: { rows: [{ later: 'next', earlier: 'new' }] },
  linkPeople: { rows: [{ teacher: 'anna', pupil: 'bob' }] },
  addWork: { person: 'anna', key: 'own', title: odd, year: 0, field: '', text: 'text' },
  dropWork: { key: 'own' },
});

/** Types a value into its fields as a person does. */
async function fill(within: Locator, path: string, value: unknown): Promise<void> {
  if (Array.isArray(value)) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const list = within.locator(`fieldset:has(> legend:has-text("${name}"))`).first();
    for (const [at, item] of value.entries()) {
      await list.locator(':scope > button:text-is("add one")').click();
      await fill(list.locator(':scope > .entry').nth(at), `${path}/${at}`, item);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      await fill(within, `${path}/${name}`, member);
    }
  } else {
    const field = within.locator(`[id="field${path}"]`);
    if (typeof value === 'boolean') await field.selectOption(String(value));
    else {
      // An empty text is one that was taken away again: what nobody has touched is not sent.
      if (value === '') await field.fill('x');
      await field.fill(String(value));
    }
  }
}

/** Runs a command that was copied, with the ear as its server. */
const curlFrom = (text: string): Promise<number | null> => {
  const { port } = ear.address() as AddressInfo;
  const there = text.replaceAll(`127.0.0.1:${demo.port}`, `127.0.0.1:${port}`);
  const child = spawn('bash', ['-c', there], { stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', resolve));
};

test('E10: every demo query: the form sends what curl would', async () => {
  const all = asked();
  const origin = `http://127.0.0.1:${demo.port}`;
  const { queries } = (await (await fetch(`${origin}/introspect`)).json()) as {
    queries: { name: string }[];
  };
  // A query that is new in the demo is to be tried here, too.
  expect(queries.map(({ name }) => name).sort()).toEqual(Object.keys(all).sort());
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, faults, close } = await openPage(origin, '#/overview', { permissions });
  await page.waitForSelector('.tiles');
  for (const [name, body] of Object.entries(all)) {
    await goToView(page, `#/query/${name}`);
    await page.waitForSelector(`form h2:text-is("${name}")`);
    await fill(page.locator('form'), '', body);
    const answered = page.waitForResponse((reply) => reply.url() === `${origin}/${name}`);
    await page.click('form button[type=submit]');
    const yes = page.locator('button:text-is("Yes, write")');
    const isWrite = (await page.locator('form .chip:text-is("writes")').count()) > 0;
    if (isWrite) {
      await yes.waitFor();
      await page.waitForTimeout(350);
      await yes.click();
    }
    const reply = await answered;
    const request = reply.request();
    const sent: Sent = {
      method: request.method(),
      path: new URL(request.url()).pathname,
      type: request.headers()['content-type'] ?? '',
      body: request.postData() ?? '',
    };
    expect([name, reply.status(), sent.body]).toEqual([name, 200, JSON.stringify(body)]);
    await page.click('.copies button:text-is("curl")');
    await page.waitForSelector('.copies >> text=copied');
    expect(await curlFrom(await page.evaluate<string>('navigator.clipboard.readText()'))).toBe(0);
    expect([name, heard.pop()]).toEqual([name, sent]);
  }
  expect(faults).toEqual([]);
  await close();
});
