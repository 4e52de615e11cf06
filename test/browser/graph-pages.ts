// The canvas in a real browser (E11, E12): expanding, taking back, pinning, choosing, the way between two; many
// elements stay fluid, and a hub of very many edges comes in bounded pieces.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';
import { packIds } from '../../server/explorer/model/graph-model.js';
import { closeBrowser, goToView, openPage } from './open-page.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const edges = isLong ? 100_000 : 20_000;
const many = 5_000;

const text = `
N::Hub { name: String }
N::Leaf { no: I64 }
E::Has { From: Hub, To: Leaf }
E::Next { From: Leaf, To: Leaf }
QUERY hub(name: String) => h <- AddN<Hub>({ name: name }) RETURN h::ID
QUERY leaf(no: I64) => l <- AddN<Leaf>({ no: no }) RETURN l::ID
QUERY has(hub: ID, leaf: ID) => e <- AddE<Has>::From(hub)::To(leaf) RETURN e::ID
QUERY next(a: ID, b: ID) => e <- AddE<Next>::From(a)::To(b) RETURN e::ID
QUERY grow(hub: ID, rows: [I64]) =>
  FOR no IN rows { leaf <- AddN<Leaf>({ no: no }) AddE<Has>::From(hub)::To(leaf) }
  RETURN "ok"
QUERY some(count: I64) => l <- N<Leaf>::RANGE(0, count) RETURN l::ID
`;

let server: Server;
let origin: string;
/** A hub of two leaves, the second of which leads to a third; and the hub of very many. */
const small = { hub: '', leaves: ['', '', ''] };
let large = '';
beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': text } });
  origin = `http://127.0.0.1:${server.port}`;
  const { client } = server;
  small.hub = (await client.post('hub', { name: 'small' })).h;
  for (const no of [0, 1, 2]) small.leaves[no] = (await client.post('leaf', { no })).l;
  const [a, b, c] = small.leaves;
  for (const leaf of [a, b]) await client.post('has', { hub: small.hub, leaf });
  await client.post('next', { a: b, b: c });
  large = (await client.post('hub', { name: 'large' })).h;
  for (let at = 0; at < edges; at += 10_000) {
    const rows = Array.from({ length: 10_000 }, (_, i) => at + i);
    await client.post('grow', { hub: large, rows });
  }
});
afterAll(async () => {
  await closeBrowser();
  await server?.dispose();
});

const holds = (page: Page, count: number) => page.waitForSelector(`.tools [data-nodes="${count}"]`);

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

test('E11: expand, undo, collapse, hide, pin: each is one step', async () => {
  const { page, faults, close } = await openPage(
    origin,
    `#/graph?n=${packIds([small.leaves[1]!])}`,
  );
  await holds(page, 1);
  await page.focus('.canvas');
  await press(page, 'ArrowRight');
  const action = (name: string) => page.click(`.inspector .actions button:text-is("${name}")`);
  // Its neighbours: the hub and the third leaf.
  await page.click('.degrees button:has-text("show") >> nth=0');
  await holds(page, 2);
  await page.click('.degrees button:text-is("show")');
  await holds(page, 3);
  await page.click('.tools >> text=undo');
  await holds(page, 2);
  await page.click('.tools >> text=undo');
  await holds(page, 1);
  await page.focus('.canvas');
  await press(page, 'Enter');
  await holds(page, 3);
  await action('collapse');
  await holds(page, 1);
  await page.click('.tools >> text=undo');
  await holds(page, 3);
  await action('pin');
  await page.waitForSelector('.inspector button[aria-pressed="true"]');
  await action('hide');
  await holds(page, 2);
  await page.focus('.canvas');
  await press(page, 'Control+z');
  await holds(page, 3);
  expect(faults).toEqual([]);
  await close();
});

test('E11: two elements, the way between them; a rectangle chooses what it holds', async () => {
  const ends = [small.leaves[0]!, small.leaves[2]!];
  const { page, faults, close } = await openPage(origin, `#/graph?n=${packIds(ends)}`);
  await holds(page, 2);
  // Shift and drag across the whole canvas.
  const box = (await page.locator('.canvas').boundingBox())!;
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 3, box.y + 3);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector('.marquee');
  await page.mouse.move(box.x + box.width - 3, box.y + box.height - 3);
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.waitForSelector('.inspector >> text=2 chosen');
  expect(await page.locator('.marquee').count()).toBe(0);
  await page.click('.inspector >> text=shortest path');
  // Leaf 0, the hub, leaf 1, leaf 2: edges lead both ways.
  await page.waitForSelector('.said:has-text("The shortest way has 3 edges")');
  await holds(page, 4);
  expect(faults).toEqual([]);
  await close();
});

/** Presses the first button of the degrees; milliseconds until more elements stand there. */
const expandOnce = `(async () => {
  const shown = document.querySelector('.tools [data-nodes]');
  const before = shown.getAttribute('data-nodes');
  const asked = performance.now();
  // While a piece is on its way the button takes no click.
  const until = async (isSo, what) => {
    while (!isSo()) {
      if (performance.now() - asked > 60_000) throw new Error('not ' + what);
      await new Promise(requestAnimationFrame);
    }
  };
  const button = () => document.querySelector('.degrees button:enabled');
  await until(() => button() !== null, 'enabled');
  const started = performance.now();
  button().click();
  await until(() => shown.getAttribute('data-nodes') !== before, 'expanded');
  return performance.now() - started;
})()`;

test('E12: a hub of very many edges expands within 500 ms, in bounded pieces', async () => {
  const { page, faults, close } = await openPage(origin, `#/graph?around=${large}`);
  await holds(page, 26);
  await page.click('.degrees button:has-text("show")');
  await page.waitForSelector(`text=+${(edges - 25).toLocaleString('en')} left`);
  await page.click('.degrees button:has-text("left")');
  await holds(page, 51);
  await page.click('.tools >> text=undo');
  await holds(page, 26);
  // One of some is quick enough: the processors are shared.
  const times: number[] = [];
  while (times.length < 5 || (Math.min(...times) >= 500 && times.length < 20)) {
    times.push((await page.evaluate(expandOnce)) as number);
    await expect.poll(() => page.isEnabled('.degrees button >> nth=0')).toBe(true);
  }
  process.stderr.write(
    `explorer: a hub of ${edges} edges expands in ${times.map(Math.round)} ms\n`,
  );
  expect(Math.min(...times)).toBeLessThan(500);
  expect(faults).toEqual([]);
  await close();
});

test(`E11: ${many} elements are the most, and move`, async () => {
  const { l } = await server.client.post('some', { count: many + 100 });
  const { page, faults, close } = await openPage(origin, '#/overview');
  await page.waitForSelector('.tiles');
  await goToView(page, `#/graph?n=${packIds([large, ...l.slice(0, many - 1)])}`);
  await holds(page, many);
  await page.evaluate(restNow);
  // The page's own work must leave room for 30 frames a second, whatever draws them: its processor time.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const scripted = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return 1_000 * metrics.find(({ name }) => name === 'ScriptDuration')!.value;
  };
  const rates: number[] = [];
  const works: number[] = [];
  const isEnough = (): boolean => Math.min(...works) < frameMs && Math.max(...rates) >= rateMin;
  while (works.length < 3 || (!isEnough() && works.length < 12)) {
    const before = await scripted();
    const { frames, rate } = await panForASecond(page);
    works.push(((await scripted()) - before) / frames);
    rates.push(rate);
  }
  process.stderr.write(
    `explorer: ${many} elements pan at ${rates.map(Math.round)} frames/s, ` +
      `${works.map(Math.round)} ms of script each\n`,
  );
  expect(Math.min(...works)).toBeLessThan(frameMs);
  expect(Math.max(...rates)).toBeGreaterThanOrEqual(rateMin);
  expect(faults).toEqual([]);
  await close();
});

const frameMs = 1_000 / 30;
/** Frames a second; drawn by this processor itself, so that only one that is free can be held to a rate. */
const rateMin = isLong ? 10 : 1;

/** The layout stops, if it has not come to rest by itself. */
const restNow = `for (const button of document.querySelectorAll('.tools button'))
  if (button.textContent === 'pause') button.click()`;

const framesOfASecond = `(async () => {
  const started = performance.now();
  let frames = 0;
  for (; performance.now() - started < 1000; frames++) await new Promise(requestAnimationFrame);
  return { frames, rate: (1000 * frames) / (performance.now() - started) };
})()`;

/** Frames while a hand moves the canvas. */
async function panForASecond(page: Page): Promise<{ frames: number; rate: number }> {
  const box = (await page.locator('.canvas').boundingBox())!;
  await page.mouse.move(box.x + 40, box.y + 40);
  await page.mouse.down();
  let isCounting = true;
  const counted = (
    page.evaluate(framesOfASecond) as Promise<{ frames: number; rate: number }>
  ).finally(() => {
    isCounting = false;
  });
  for (let at = 0; isCounting; at++) {
    await page.mouse.move(box.x + 40 + (at % 200), box.y + 40 + (at % 100));
  }
  await page.mouse.up();
  return counted;
}
