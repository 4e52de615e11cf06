// Unusual conditions: hostile data on every page (E16), links to deleted elements (E17), a server that is
// slow or restarts (E19), addresses that are too long.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packIds } from '../../server/explorer/model/packed-ids.js';
import { type Server, startServer } from '../support/server/server.js';
import { closeBrowser, goToView, hashOf, openPage } from './open-page.js';

const text = `
N::Thing { INDEX key: String, name: String, big: I64, list: [I64], ratio: F64, note: String }
E::Near { From: Thing, To: Thing, Properties: { big: U64, list: [I64] } }
V::Spot { name: String, list: [I64] }
QUERY add(key: String, name: String, big: I64, list: [I64], ratio: F64) =>
  t <- AddN<Thing>({ key: key, name: name, big: big, list: list, ratio: ratio })
  RETURN t
QUERY join(a: ID, b: ID, big: U64, list: [I64]) =>
  e <- AddE<Near>({ big: big, list: list })::From(a)::To(b) RETURN e
QUERY place(vector: [F64], name: String, list: [I64]) =>
  s <- AddV<Spot>(vector, { name: name, list: list }) RETURN s
QUERY drop(id: ID) => DROP N<Thing>(id) RETURN "ok"
QUERY things() => t <- N<Thing> RETURN t
QUERY nothing() => t <- N<Thing>::WHERE(_::{ratio}::LT(-1e300)) RETURN t
QUERY say(name: String) => RETURN name
QUERY echo(rows: [{ no: I64, at: { x: F64 } }]) => RETURN rows
`;

/** More digits than a float holds. */
const digits = '9007199254740993';
const most = '18446744073709551615';
const names = [
  `<script>document.title = 'taken'</script><img src=x onerror="document.title='taken'">`,
  'n'.repeat(10_000),
  'שלום \u202e gnikcab \u2066 עולם',
  `${'\u{1f9d1}\u200d\u{1f680}'.repeat(40)} flown`,
  '\u0000\u0007\u001b[31m\ud7ff\uffff',
  'a\nb\tc   d',
  'm'.repeat(1_000_000),
];

let server: Server;
let origin: string;
const ids: string[] = [];
let spot = '';

/** Numbers are sent with all their digits, which JSON.stringify would not do. */
async function post(name: string, body: string): Promise<Record<string, { id: string }>> {
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(`${origin}/${name}`, { method: 'POST', headers, body });
  const printed = await reply.text();
  if (!reply.ok) throw new Error(printed);
  return JSON.parse(printed) as Record<string, { id: string }>;
}

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': text } });
  origin = `http://127.0.0.1:${server.port}`;
  const list = `[${digits},-${digits}]`;
  for (const name of names) {
    const key = JSON.stringify(name.slice(0, 200));
    const body = `{"key":${key},"name":${JSON.stringify(name)},"big":${digits},"list":${list},"ratio":1e308}`;
    ids.push((await post('add', body)).t!.id);
  }
  const [a, b] = ids;
  await post('join', `{"a":"${a}","b":"${b}","big":${most},"list":${list}}`);
  const vector = Array.from({ length: 1536 }, (_, at) => Math.sin(at));
  for (const name of names.slice(0, 5)) {
    const body = `{"vector":${JSON.stringify(vector)},"name":${JSON.stringify(name)},"list":${list}}`;
    spot = (await post('place', body)).s!.id;
    vector.reverse();
  }
});
afterAll(async () => {
  await closeBrowser();
  await server?.dispose();
});

/** The page stands, is no wider than its window, and nothing of the data has become code. */
async function isWell(page: Page): Promise<void> {
  expect(await page.locator('text=Something went wrong').count()).toBe(0);
  const over = 'Math.max(0, document.documentElement.scrollWidth - innerWidth)';
  expect(await page.evaluate<number>(over)).toBe(0);
  expect(await page.title()).not.toContain('taken');
}

const walk = encodeURIComponent(
  '[["n_from_type",{"node_type":"Thing"}],["collect",{"drop":false}]]',
);

/** Views, and what stands on each: whole digits where there are some. */
const shown: Record<string, string> = {
  overview: '.caption a[data-nodes="12"]',
  schema: '.diagram',
  'schema/Thing': `td:has-text("[${digits},-${digits}]")`,
  'schema/Near': `td:text-is("${most}")`,
  'schema/Spot': `td:has-text("[${digits},-${digits}]")`,
  'query/things?run=1&view=json': `.json :text-is("${digits}")`,
  'query/things?run=1&view=table': `td:text-is("${digits}")`,
  'query/things?run=1&view=graph': '.tools [data-nodes="7"]',
  'query/nothing?run=1': 'text=No matches.',
  'query/nothing?run=1&view=graph': 'text=The result contains no elements',
  session: '.tools-of button',
  [`session?walk=${walk}`]: `.json :text-is("${digits}")`,
  vectors: '[data-points="5"]',
  api: '.contracts',
};

test.each(Object.entries(shown))('E16: hostile data: %s', async (view, selector) => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page, faults, close } = await openPage(origin, `#/${view}`, { viewport });
    await page.waitForSelector(selector);
    await isWell(page);
    expect(faults).toEqual([]);
    await close();
  }
});

test('E16: hostile data on a canvas: each element, an edge, its colours and the search', async () => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  for (const [at, id] of ids.entries()) {
    await goToView(page, `#/graph?around=${id}`);
    await page.waitForSelector(`.inspector dd:has-text("${id}")`);
    await page.waitForSelector(`.inspector dd:has-text("[${digits},-${digits}]")`);
    await page.waitForSelector(at < 2 ? '.degrees li' : 'text=It has no edges.');
    await isWell(page);
  }
  await goToView(page, `#/graph?n=${packIds(ids)}`);
  await page.waitForSelector('.tools [data-nodes="7"]');
  for (const by of ['list', 'big', 'note', 'name', '']) {
    await page.selectOption('[aria-label="Color by"]', by);
    await page.waitForSelector('.legend li');
  }
  await goToView(page, `#/vectors/Spot?at=${spot}`);
  await page.waitForSelector(`.inspector dd:has-text("[${digits},-${digits}]")`);
  for (const typed of ['<script>', 'n'.repeat(64), 'שלום', names[5]!]) {
    await page.fill('.finder input', typed);
    await page.waitForSelector('#hits[aria-busy="false"] li');
    await isWell(page);
  }
  expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  await close();
});

test('an edge on the canvas is an element, too: a click on its line chooses it', async () => {
  const { page, faults, close } = await openPage(origin, `#/graph?n=${packIds(ids.slice(0, 2))}`);
  await page.waitForSelector('.tools [data-edges="1"]');
  await page.waitForSelector('.tools button:text-is("layout")');
  // Both ends lie on a line through the middle of the canvas, and so does the edge.
  const box = (await page.locator('.canvas').boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector('.inspector .kind:text-is("edge")');
  await page.waitForSelector(`.inspector dd:has-text("${most}")`);
  expect(faults).toEqual([]);
  await close();
});

const gone = '01a216c5-fd80-7000-9e34-837975196d7c';

/** Addresses of what is not there, or of nothing, and what is said of it. */
const lost: Record<string, string> = {
  'nowhere/at?all=1': 'There is no page “nowhere”',
  __proto__: 'There is no page “__proto__”',
  'schema/Gone': 'The type Gone no longer exists.',
  'query/gone?x=1&run=1': 'There is no query gone',
  'query/things?run=1&view=gone': 'rows',
  'query/echo?rows=%5Bnull%2C1%2C%7B%22no%22%3A1%2C%22at%22%3Anull%7D%5D': 'add one',
  'query/echo?rows=%7B%22': 'add one',
  'source/gone.hx?line=77777': 'The file gone.hx no longer exists.',
  'vectors/Gone': 'The vector type Gone no longer exists',
  'vectors/Spot?samples=x&at=y&hits=z': '5 of 5',
  [`graph?around=${gone}`]: 'There is nothing to show',
  'graph?around=x': 'There is nothing to show',
  [`graph?n=${packIds([gone])}`]: 'There is nothing to show',
  [`graph?n=${packIds([gone])}**&at=%00&by=gone`]: 'There is nothing to show',
  'session?walk=%5B%5B%22next%22%2Cnull%5D%5D': 'Try the session tools',
  'session?walk=%7B': 'Try the session tools',
  'session?watch=gone': 'gone',
  'slow?by=gone&order=gone': '',
  'api?%ff': 'openapi.json',
  '%ff/%c0': 'There is no page',
};

test('E17: a link to what is gone, or to nothing, says so', async () => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  for (const [view, said] of Object.entries(lost)) {
    await goToView(page, `#/${view}`);
    await page.waitForSelector(said === '' ? 'main' : `main >> text=${said}`);
    await isWell(page);
  }
  // A server may refuse what is wrong, and a browser notes that; the page has no fault of its own.
  expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
  await page.goBack();
  await page.goBack();
  await isWell(page);
  await close();
});

test('E17: of a link to some elements those that are left are drawn, and the others counted', async () => {
  const { t } = await post('add', '{"key":"brief","name":"brief","big":1,"list":[],"ratio":0}');
  const link = `#/graph?n=${packIds([ids[0]!, t!.id])}`;
  await post('drop', `{"id":"${t!.id}"}`);
  const { page, close } = await openPage(origin, link);
  await page.waitForSelector('.said:has-text("link shows: 1 element")');
  await page.waitForSelector('.tools [data-nodes="1"]');
  await close();
});

test('E10: arguments that are too long for an address are sent all the same', async () => {
  const { page, faults, close } = await openPage(origin, '#/query/say');
  const long = 'w'.repeat(1_500_000);
  // More in all than a browser keeps for a tab.
  for (let calls = 1; calls <= 5; calls++) {
    await page.fill('[id="field/name"]', `${calls}${long}`);
    const [sent] = await Promise.all([
      page.waitForResponse((reply) => reply.url().endsWith('/say')),
      page.click('button.primary'),
    ]);
    expect(sent.request().postDataBuffer()!.length).toBeGreaterThan(1_500_000);
    await page.waitForSelector('.json button:has-text("more of 1,500,001 characters")');
    await page.waitForSelector('button.primary:enabled');
  }
  expect(await page.locator('.answer .note.bad').count()).toBe(0);
  await page.fill('[id="field/name"]', 'short');
  await expect.poll(() => hashOf(page)).toContain('name=short');
  expect(faults).toEqual([]);
  await isWell(page);
  await close();
});

test('a browser that takes no more changes of its address gets them a little later', async () => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  await goToView(page, '#/query/add');
  await page.waitForSelector('[id="field/name"]');
  await page.evaluate(`(() => {
    const real = history.replaceState.bind(history);
    history.replaceState = () => { throw new DOMException('too many', 'SecurityError'); };
    setTimeout(() => { history.replaceState = real; }, 1500);
  })()`);
  await page.locator('[id="field/name"]').pressSequentially('typed', { delay: 5 });
  expect(await page.inputValue('[id="field/name"]')).toBe('typed');
  await expect.poll(() => hashOf(page)).toContain('name=typed');
  expect(faults).toEqual([]);
  await close();
});

const slowMs = 1_000;

test('a server that takes its time: each page says that it waits, then shows what it has', async () => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  await page.route(/_explore|mcp|openapi|introspect|slowlog|things/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, slowMs));
    // The page may have been left meanwhile.
    await route.continue().catch(() => undefined);
  });
  const views: Record<string, string> = {
    'schema/Thing': 'td >> nth=0',
    [`graph?around=${ids[0]}`]: '.degrees li',
    'query/things?run=1': 'td >> nth=0',
    source: '.lines',
    vectors: '[data-points="5"]',
    [`session?walk=${walk}`]: '.path tbody tr >> nth=1',
  };
  for (const [view, selector] of Object.entries(views)) {
    await goToView(page, `#/${view}`);
    await page.waitForSelector('main >> text=/…$/');
    await page.waitForSelector(selector);
  }
  expect(faults).toEqual([]);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await close();
});

test('E19: a view opened while the server is away is filled when it is back', async () => {
  const views: Record<string, string> = {
    'schema/Thing': 'td >> nth=0',
    [`graph?around=${ids[0]}`]: '.degrees li',
    graph: '.tools [data-nodes="12"]',
    source: '.lines',
    vectors: '[data-points="5"]',
    overview: '.caption a[data-nodes="12"]',
  };
  const { page, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  // Its files have come once.
  for (const view of Object.keys(views)) {
    await goToView(page, `#/${view}`);
    await page.waitForSelector(views[view]!);
  }
  for (const [view, selector] of Object.entries(views)) {
    await goToView(page, '#/api');
    await page.waitForSelector('.contracts');
    await page.context().setOffline(true);
    await page.waitForSelector('.chip.bad');
    await goToView(page, `#/${view}`);
    await page.waitForTimeout(300);
    await page.context().setOffline(false);
    await page.waitForSelector(selector);
  }
  await close();
});

test('E19: a walk that begins while the server is away says why it does not', async () => {
  const { page, faults, close } = await openPage(origin, '#/session');
  const begin = page.locator('.tools-of button:text-is("all of it")');
  await begin.waitFor();
  await page.context().setOffline(true);
  await begin.click();
  await page.waitForSelector('.path .note.bad');
  await page.context().setOffline(false);
  await page.waitForSelector('.chip.good');
  await begin.click();
  await page.waitForSelector('.path tbody tr');
  expect(await page.locator('.path .note.bad').count()).toBe(0);
  expect(faults.filter((fault) => !fault.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  await close();
});

test('what a walk may begin with comes later than the page, and is chosen all the same', async () => {
  const { page, faults, close } = await openPage(origin, '#/session');
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/introspect', (route) => asked.then(() => route.continue()));
  await page.reload();
  await page.waitForSelector('.tools-of');
  answer();
  for (const name of ['All of', 'Search in'])
    await expect.poll(() => page.locator(`[aria-label="${name}"]`).inputValue()).not.toBe('');
  await page.click('.tools-of button:text-is("all of it")');
  await page.waitForSelector('.path tbody tr');
  expect(faults).toEqual([]);
  await close();
});

test('two tabs are two: each keeps its own view, walk and calls', async () => {
  const one = await openPage(origin, '#/query/things');
  const second = await one.page.context().newPage();
  await second.goto(`${origin}/#/session`);
  await second.click('.tools-of button:text-is("all of it")');
  await second.waitForSelector('.path tbody tr');
  await one.page.click('button.primary');
  await one.page.waitForSelector('td >> nth=0');
  await goToView(one.page, '#/session');
  await one.page.waitForSelector('text=Try the session tools');
  await goToView(second, '#/query');
  await second.waitForSelector('.list a');
  expect(await second.locator('.history').count()).toBe(0);
  await one.page.goBack();
  await one.page.waitForSelector('td >> nth=0');
  expect(one.faults).toEqual([]);
  await one.close();
});
