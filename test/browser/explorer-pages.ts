// The explorer in a real browser: the checklist's rows that need one (E07, E10, E16, E19), on the demo.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, goToView, hashOf, openPage } from './open-page.js';

const pages = [
  'overview',
  'schema',
  'query',
  'graph',
  'vectors',
  'session',
  'source',
  'slow',
  'api',
];

const hostile = `
N::Thing { name: String, big: I64, at: Date }
QUERY add(name: String, big: I64, at: Date) =>
  t <- AddN<Thing>({ name: name, big: big, at: at })
  RETURN t
QUERY things() => t <- N<Thing> RETURN t
V::Spot {}
QUERY place(vector: [F64]) => spot <- AddV<Spot>(vector) RETURN spot
QUERY near(vector: [F64]) => s <- SearchV<Spot>(vector, 3) RETURN s
QUERY sized(rows: [{ no: U8, name: String }]) => RETURN rows
`;

let demo: Server;
let other: Server;
let origin: string;
beforeAll(async () => {
  demo = await startDemo();
  other = await startServer({ sources: { 'main.hx': hostile } });
  origin = `http://127.0.0.1:${demo.port}`;
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
  await other?.dispose();
});

const ready = (page: string): string => `main.page-${page}`;

/** Until the page shows what it is for; what comes late, or should not, has a moment then. */
async function settle(page: Page): Promise<void> {
  await page.waitForSelector('main > :not(.waiting)');
  await page.waitForSelector('main .waiting', { state: 'detached' });
  await page.waitForTimeout(600);
}

test('E07: every page opens without an error, a violation or a request to others', async () => {
  for (const name of pages) {
    const { page, faults, close } = await openPage(origin, `#/${name}`);
    await page.waitForSelector(ready(name));
    await settle(page);
    expect([name, faults]).toEqual([name, []]);
    await close();
  }
});

/** Says yes to a write, as late as somebody who has read the question. */
async function confirm(page: Page): Promise<void> {
  const yes = page.locator('button:text-is("Yes, write")');
  await yes.waitFor();
  await page.waitForTimeout(350);
  await yes.click();
}

test('E10: a write asks once: haste, a held key, another body and a link are no answer', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const address = '#/query/add?name=asked&big=1&at=2026-03-01&run=1';
  const { page, faults, close } = await openPage(at, address);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/add')) sent.push(request.url());
  });
  const field = page.locator('[id="field/name"]');
  const yes = page.locator('button:text-is("Yes, write")');
  const run = page.locator('button:text-is("Run")');
  await field.focus();
  for (const keys of ['Control+Enter', 'Enter']) {
    await page.keyboard.press(keys);
    await page.keyboard.press(keys);
    await yes.waitFor();
    await page.keyboard.press('Escape');
    await run.waitFor();
  }
  await page.keyboard.down('Enter');
  await yes.waitFor();
  await page.waitForTimeout(350);
  // A key that goes down again without having come up repeats.
  for (let times = 0; times < 3; times++) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await yes.waitFor();
  await field.fill('other');
  await run.waitFor();
  await page.click('button:text-is("as JSON")');
  await run.click();
  await yes.waitFor();
  await page.fill('textarea', '{"name":"third","big":1,"at":0}');
  await run.waitFor();
  expect(sent).toEqual([]);
  await run.click();
  await confirm(page);
  await expect.poll(() => sent.length).toBe(1);
  await run.waitFor();
  expect(faults).toEqual([]);
  await close();
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
  await page.click('button:text-is("Run")');
  await confirm(page);
  await page.waitForSelector('[id="fault/at"]');
  expect(await page.getAttribute('[id="field/at"]', 'aria-invalid')).toBe('true');
  await page.fill('[id="field/at"]', '2026-03-01T12:00:00+02:00');
  await page.click('button:text-is("Run")');
  await confirm(page);
  await page.waitForSelector('[role=tablist]');
  expect(sent.at(-1)).toBe('{"name":"a","big":9007199254740993,"at":"2026-03-01T12:00:00+02:00"}');
  await page.click('role=tab[name=JSON]');
  await page.waitForSelector('text=9007199254740993');
  // The refused call is an answer with status 400, which a browser notes.
  expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  await close();
});

/** A property may hold no more (`limits.value_bytes`). */
const fourMiB = '<b> '.repeat(2 ** 20);

test('E16: hostile values are text', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const names = ['<img src=x onerror=alert(1)>', 'מימין לשמאל', fourMiB];
  const rows = names.map((name) => ({ name, big: 1, at: 0 }));
  for (const row of rows) await other.client.post('add', row);
  const { page, faults, close } = await openPage(at, '#/query/things?run=1&view=json');
  await page.waitForSelector('.json');
  expect(await page.locator('.json img').count()).toBe(0);
  expect(await page.textContent('.json')).toContain('<img src=x onerror=alert(1)>');
  await page.waitForSelector('.json button:has-text("more of 4,194,304 characters")');
  await page.click('role=tab[name=Table]');
  await page.waitForSelector('td');
  // All of it on demand, and where else it stands: a type's elements, the canvas.
  await page.click('role=tab[name=JSON]');
  const more = page.locator('.json button:has-text("more of 4,194,304 characters")');
  while ((await more.count()) > 0) await more.first().click();
  const whole = "document.querySelector('.json').textContent.includes('<b> '.repeat(2 ** 20))";
  await expect.poll(() => page.evaluate(whole)).toBe(true);
  await goToView(page, '#/schema/Thing');
  await page.waitForSelector('.type-panel td:has-text("<b> <b>")');
  await goToView(page, '#/graph');
  await page.waitForSelector('.tools [data-nodes]:not([data-nodes="0"])');
  expect(await page.locator('main img, main b:has-text("<b>")').count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

test('E16: pictures of hostile names are files that others can read', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const names = [
    '\u0000\u0001\u000b\u007f\uffff',
    '</text>&"\'',
    `${'y'.repeat(34)}\u{1f600} z`,
    '',
  ];
  for (const name of names) await other.client.post('add', { name, big: 1, at: 0 });
  const { page, faults, close } = await openPage(at, '#/graph');
  await page.waitForSelector('.tools [data-nodes]:not([data-nodes="0"])');
  const saved = async (kind: string): Promise<Buffer> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click(`.tools button:text-is("${kind}")`),
    ]);
    return readFileSync((await download.path())!);
  };
  const svg = String(await saved('SVG'));
  const parsed = await page.evaluate<string>(`(() => {
    const file = new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml');
    return file.querySelector('parsererror')?.textContent ?? file.documentElement.textContent;
  })()`);
  expect(parsed).toContain(names[1]);
  expect((await saved('PNG')).subarray(1, 4).toString()).toBe('PNG');
  const { nodes } = JSON.parse(String(await saved('JSON'))) as { nodes: { name: string }[] };
  expect(nodes.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  expect(faults).toEqual([]);
  await close();
});

test('E16: 10,000 members, 4 MiB of text and deep lists are shown, and the page lives', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const { page, faults, close } = await openPage(at, '#/overview');
  await page.waitForSelector('.tiles');
  const members = Array.from({ length: 10_000 }, (_, no) => [`member${no}`, { no }]);
  let deep: unknown = 'bottom';
  for (let level = 0; level < 200; level++) deep = [deep];
  const wide = Object.fromEntries(members);
  const answer = { wide, rows: [wide], text: fourMiB, deep };
  await page.route('**/things', (route) => route.fulfill({ json: answer }));
  await page.evaluate("location.hash = '#/query/things?run=1&view=json'");
  await page.waitForSelector('.json >> text=… 10,000 …');
  await page.waitForSelector('.json button:has-text("more of 4,194,304 characters")');
  expect(await page.locator('.json b').count()).toBe(0);
  expect(await page.locator('.json li').count()).toBeLessThan(2_000);
  for (const view of ['Table', 'Graph', 'JSON']) {
    await page.click(`role=tab[name=${view}]`);
    await page.waitForSelector(`[role=tabpanel][aria-label="${view}"]`);
  }
  expect(await page.locator('.json').count()).toBe(1);
  expect(faults).toEqual([]);
  await close();
});

test('E10: a field of numbers takes the vector of an element, or of a text', async () => {
  const { passages } = await demo.client.post('passagesLike', { text: 'gravity', k: 1 });
  const { page, close } = await openPage(`http://127.0.0.1:${other.port}`, '#/query/near');
  const field = '[id="field/vector"]';
  const source = '[aria-label="Element or text of vector"]';
  // This server has no model: it says so, and the field stays as it was.
  await page.fill(source, 'gravity');
  await page.click('button:text-is("embed text")');
  await page.waitForSelector('.vector-source .hint:not(:empty)');
  expect(await page.inputValue(field)).toBe('');
  const { spot } = await other.client.post('place', { vector: [0.5, -1, 0.25] });
  await page.fill(source, spot.id);
  await page.click('button:text-is("of element")');
  await expect.poll(() => page.inputValue(field)).toBe('[0.5,-1,0.25]');
  await page.click('button.primary');
  await page.waitForSelector('td');
  await close();
  expect(passages).toHaveLength(1);
});

test('the plan of a query stands in the margin of its source; names lead to their declaration', async () => {
  const { page, faults, close } = await openPage(origin, '#/source/queries.hx');
  await page.click('.margin button[aria-label^="Plan of worksOf,"]');
  await page.waitForSelector('.inline-plan .plan tbody tr >> nth=1');
  await page.click('.lines a:text-is("Person") >> nth=0');
  await page.waitForSelector('.list a[aria-current]:has-text("schema.hx")');
  expect(await hashOf(page)).toContain('line=');
  expect(faults).toEqual([]);
  await close();
});

test('a type that an address names is in view, however large the diagram', async () => {
  const types = Array.from({ length: 60 }, (_, no) => `N::Type${no} { name: String }`);
  const wide = await startServer({ sources: { 'main.hx': types.join('\n') } });
  try {
    for (const name of ['Type0', 'Type59']) {
      const at = `http://127.0.0.1:${wide.port}`;
      const { page, close } = await openPage(at, `#/schema/${name}`);
      await page.waitForSelector('.box.chosen');
      const isInView = `(() => {
        const view = document.querySelector('.diagram .scroll').getBoundingClientRect();
        const box = document.querySelector('.box.chosen').getBoundingClientRect();
        return box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left;
      })()`;
      await expect.poll(() => page.evaluate(isInView)).toBe(true);
      await close();
    }
  } finally {
    await wide.dispose();
  }
});

test('a node of a cluster says its place, a server of its own does not', async () => {
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  expect(await page.locator('#cluster').count()).toBe(0);
  const cluster = {
    node: 'b',
    role: 'follower',
    epoch: 3,
    position: '3.120',
    lag_ms: 42,
    leader: { node: 'a', address: '10.0.0.1:6969' },
  };
  await page.route('**/_explore/status*', async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ json: { ...(await reply.json()), cluster } });
  });
  await page.waitForSelector('#cluster');
  const said = (await page.textContent('section:has(#cluster)'))!;
  for (const part of ['b', 'follower', '3.120', '42.0 ms', 'a', '10.0.0.1:6969']) {
    expect(said).toContain(part);
  }
  await page.unrouteAll({ behavior: 'wait' });
  await page.waitForSelector('#cluster', { state: 'detached' });
  expect(faults).toEqual([]);
  await close();
});

test('E19: the page goes on by itself after the server was away', async () => {
  const { port } = demo;
  const { page, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.chip.good');
  await demo.stop();
  await page.waitForSelector('.chip.bad');
  await demo.restart({ args: ['--port', String(port)] }).catch(() => demo.start());
  if (demo.port === port) await page.waitForSelector('.chip.good');
  await close();
});
