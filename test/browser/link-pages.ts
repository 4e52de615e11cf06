// Addresses: every page behind a proxy that mounts it under a path (E08), and every view again in a fresh
// tab, by what stands in the address bar (E17).
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { mount } from './mount.js';
import { closeBrowser, goToView, hashOf, openPage } from './open-page.js';

let demo: Server;
let origin: string;
let passage: string;
beforeAll(async () => {
  // Every request is slow: the slow log has entries.
  demo = await startDemo({ config: { 'embedding.model': 'hash', 'log.slow_after': 0 } });
  origin = `http://127.0.0.1:${demo.port}`;
  const { passages } = await demo.client.post('passagesLike', { text: 'gravity', k: 1 });
  passage = passages[0].id;
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
});

const walk = encodeURIComponent('[["n_from_type",{"node_type":"Person"}]]');

/** Every page, and what stands on it once all of it has come. */
const pages: Record<string, string> = {
  overview: '.caption a[data-nodes="400"]',
  schema: '.diagram a',
  'schema/Work': '.type-panel td',
  query: '.list a',
  'query/beginnings?run=1': 'td',
  'query/worksOf?person=newton&run=profile': '.plan meter',
  graph: '.tools [data-nodes="400"]',
  vectors: '[data-points="129"]',
  session: '.tools-of button',
  [`session?walk=${walk}`]: '.path tbody tr',
  source: '.lines a',
  slow: 'table.slow td',
  api: '.contracts a',
};

test('E08: behind a proxy that mounts it under a path: every page', async () => {
  const proxy = await mount(demo.port, '/db/');
  // Whatever is asked for beside the mounted path is a fault.
  const { page, faults, close } = await openPage(proxy.origin, '#/overview');
  for (const [view, selector] of Object.entries(pages)) {
    await goToView(page, `#/${view}`);
    await page.waitForSelector(selector);
    await page.waitForSelector('main .waiting', { state: 'detached' });
    expect([view, faults]).toEqual([view, []]);
  }
  // Loaded whole, not only gone to.
  await page.reload();
  await page.waitForSelector('.contracts a');
  expect(faults).toEqual([]);
  await close();
  proxy.close();
});

type Act = (page: Page) => Promise<unknown>;

const click =
  (...selectors: string[]): Act =>
  async (page) => {
    for (const selector of selectors) await page.click(selector);
  };

const run =
  (name: string, text: string, ...then: string[]): Act =>
  async (page) => {
    await page.fill(`[id="field/${name}"]`, text);
    await page.click('button.primary');
    await page.waitForSelector('[role=tablist]');
    await click(...then)(page);
  };

/** By what a person does: where it begins, what is done, and what must then stand in a fresh tab, too. */
const links: Record<string, [begin: string, act: Act, sight: string]> = {
  'a type': ['schema', click('.diagram a[href="#/schema/Work"]'), '.type-panel h2, .type-panel td'],
  'a type of the tiles': ['overview', click('.tiles a >> nth=0'), '.type-panel h2, .type-panel td'],
  json: ['query/worksOf', run('person', 'newton', 'role=tab[name=JSON]'), '.json'],
  table: ['query/worksOf', run('person', 'euler', 'role=tab[name=Table]'), 'td, form input'],
  graph: [
    'query/person',
    run('key', 'newton', 'role=tab[name=Graph]'),
    '.inset .tools [data-nodes="1"]',
  ],
  explain: [
    'query/worksOf?person=newton',
    click('button:text-is("Explain")'),
    '.plan tbody tr > :first-child, [role=tab][aria-selected="true"]',
  ],
  profile: [
    'query/worksOf?person=newton',
    click('button:text-is("Profile")'),
    '.plan tbody tr > :first-child, [role=tab][aria-selected="true"]',
  ],
  'rows beside a profile': [
    'query/worksOf?person=newton',
    click('button:text-is("Profile")', 'role=tab[name=Table]'),
    'td, [role=tab][aria-selected="true"]',
  ],
  'plan of a write': [
    'query/createReadingList?name=a',
    click('button:text-is("Explain")'),
    '.plan .statements li',
  ],
  'a body': [
    'query/worksOf',
    async (page) => {
      await page.click('button:text-is("as JSON")');
      await page.fill('textarea', '{"person": "kepler"}');
      await page.click('button.primary');
    },
    'textarea, td',
  ],
  expanded: [
    'overview',
    async (page) => {
      await page.fill('.finder input', 'newton');
      await page.click('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
      await page.selectOption('[aria-label="Color by"]', 'field');
      await page.click('.degrees button:enabled >> nth=0');
      await page.waitForSelector('.said:has-text("element"), .said:has-text("No new elements")');
    },
    '.tools [data-nodes], .inspector .kind, .inspector h2, .legend li',
  ],
  'an edge': [
    'query/work?key=opticks&run=1',
    async (page) => {
      await page.fill('.finder input', 'opticks');
      await page.click('#hits[aria-busy="false"] li:has-text("Opticks") >> nth=0');
      await page.waitForSelector('.degrees li');
      await page.focus('.canvas');
      await page.keyboard.press('e');
      await page.waitForSelector('.inspector .ends li');
    },
    '.tools [data-nodes], .inspector .kind, .inspector h2, .inspector .ends li',
  ],
  'colours of a map': [
    'vectors',
    async (page) => {
      await page.waitForSelector('[aria-label="Color by"] option >> nth=1', { state: 'attached' });
      await page.selectOption('[aria-label="Color by"]', 'text');
    },
    '[aria-label="Color by"], .legend li',
  ],
  'a point': [
    'vectors/Passage?at=',
    click('.inspector .near button >> nth=0'),
    '.inspector dl, .inspector .near li',
  ],
  'a walk': [
    'session',
    async (page) => {
      await page.click('.tools-of .step > button');
      await page.waitForSelector('.path tbody tr');
      await page.click('.tools-of .steps button >> nth=0');
      await page.waitForSelector('.path tbody tr >> nth=1');
    },
    '.path td[data-count], .path .first, .held',
  ],
  'a declaration': [
    'source/queries.hx',
    click('.lines a:text-is("Person") >> nth=0'),
    '.list a[aria-current], .lines',
  ],
  'order of the slow log': [
    'slow',
    click('th button:text-is("time")'),
    'th[aria-sort="descending"]',
  ],
  'a part of the contract': [
    'api',
    (page) => page.fill('[aria-label="Filter queries"]', 'reading'),
    '.contracts h2, [aria-label="Filter queries"]',
  ],
};

/** As above: what stands beside the matter of a view. */
const moreLinks: typeof links = {
  'filter of the queries': [
    'query',
    (page) => page.fill('[aria-label="Filter queries"]', 'work'),
    '.list li, [aria-label="Filter queries"]',
  ],
  'a query of a filtered list': [
    'query',
    async (page) => {
      await page.fill('[aria-label="Filter queries"]', 'work');
      await page.click('.list a:text-is("worksOf")');
      await run('person', 'newton')(page);
    },
    '.list li, [aria-label="Filter queries"], .runner h2, td',
  ],
  'pages of a type': [
    'schema/Person',
    async (page) => {
      await page.click('.type-panel button:text-is("66 more")');
      await page.click('.type-panel button:text-is("16 more")');
      await page.waitForSelector('.type-panel tbody tr >> nth=115');
    },
    '.type-panel tbody tr',
  ],
  'what is pinned': [
    'graph',
    async (page) => {
      await page.fill('.finder input', 'newton');
      await page.click('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
      await page.click('.inspector button:text-is("pin")');
    },
    '.inspector h2, .inspector button[aria-pressed]',
  ],
};

/** What is read there, without how long it took. */
const sightOf = async (page: Page, selector: string): Promise<string[]> => {
  const list = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((one) => typeof one.value === 'string' && one.value !== '' ? one.value : one.innerText)`);
  return list.map((text) => text.replace(/[\d.,]+ (s|ms|us|µs)\b/g, '# $1'));
};

test.each(Object.entries({ ...links, ...moreLinks }))(
  'E17: an address opens the same view in a fresh tab: %s',
  async (_name, [begin, act, sight]) => {
    const first = await openPage(origin, `#/${begin}${begin.endsWith('=') ? passage : ''}`);
    await act(first.page);
    await first.page.waitForSelector(sight);
    // Until what comes has come.
    let [before, seen]: [string[], string[]] = [[], await sightOf(first.page, sight)];
    while (String(before) !== String(seen)) {
      await first.page.waitForTimeout(700);
      [before, seen] = [seen, await sightOf(first.page, sight)];
    }
    const hash = await hashOf(first.page);
    expect(hash).not.toBe(`#/${begin}`);
    await first.close();
    const second = await openPage(origin, hash);
    await expect.poll(() => sightOf(second.page, sight)).toEqual(seen);
    expect(await hashOf(second.page)).toBe(hash);
    expect([...first.faults, ...second.faults]).toEqual([]);
    await second.close();
  },
);

test('E17: what is pinned stands in a fresh tab where it stood, and is moved by hand only', async () => {
  const first = await openPage(origin, '#/graph');
  await first.page.fill('.finder input', 'newton');
  await first.page.click('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
  await first.page.click('.inspector button:text-is("pin")');
  await expect.poll(() => paramsOf(first.page)).toHaveProperty('pin');
  const sent = await hashOf(first.page);
  const second = await openPage(origin, sent);
  await second.page.waitForSelector('.inspector button[aria-pressed="true"]');
  // Once the layout is at rest another change writes the address anew.
  await second.page.waitForSelector('.tools button:text-is("layout")');
  await second.page.selectOption('[aria-label="Color by"]', 'field');
  await expect.poll(() => hashOf(second.page)).not.toBe(sent);
  const [before, after] = [await paramsOf(first.page), await paramsOf(second.page)];
  expect([after.pin, after.place]).toEqual([before.pin, before.place]);
  await second.page.click('.inspector button:text-is("unpin")');
  await expect.poll(() => paramsOf(second.page)).not.toHaveProperty('pin');
  expect([...first.faults, ...second.faults]).toEqual([]);
  await first.close();
  await second.close();
});

/** Of the address that a page stands at. */
const paramsOf = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams((await hashOf(page)).split('?')[1]));
