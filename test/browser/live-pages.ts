// Changes while a page is open: a source saved with an error turns it amber within a second (E15), and an
// open page costs the server almost nothing (E20). Both are measured, and said; on a machine that does other
// work, too, the bounds are those of `figure.ts`, which a page that waits for its next round, or asks all the
// time, goes beyond.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFigure } from '../support/run/figure.js';
import { Client } from '../support/server/http.js';
import { type Server, startServer } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, openPage } from './open-page.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const text = `N::Thing { name: String }
QUERY things() => t <- N<Thing> RETURN t
QUERY sized(rows: [{ no: U8, name: String }]) => RETURN rows
`;
const wrong = text.replace('RETURN rows', 'RETURN nothing_known');

let demo: Server;
let other: Server;
beforeAll(async () => {
  demo = await startDemo();
  other = await startServer({ sources: { 'main.hx': text } });
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
  await other?.dispose();
});

const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Notes when the rail turns amber, and when it does no more. */
const watchRail = `(() => {
  window.turns = [];
  const look = () => {
    const isAmber = document.querySelector('.rail a.amber') !== null;
    if (isAmber === (window.turns.at(-1)?.isAmber ?? false)) return;
    window.turns.push({ isAmber, at: Date.now() });
  };
  const all = { subtree: true, childList: true, attributes: true };
  new MutationObserver(look).observe(document.body, all);
})()`;

/** Where texts within the faulty line begin. */
const leftOf = (texts: string[]): string => `(() => {
  const lefts = ${JSON.stringify(texts)}.map((text) => {
    const walker = document.createTreeWalker(document.querySelector('.faulty.bad'), 4);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(text);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + text.length);
      return range.getBoundingClientRect().left;
    }
  });
  return lefts;
})()`;

/** Saves a text; milliseconds until the page has turned. */
async function turnAfter(page: Page, saved: string): Promise<number> {
  const turns = (): Promise<{ at: number }[]> => page.evaluate('window.turns');
  const { length } = await turns();
  writeFileSync(join(other.folder, 'project/main.hx'), saved);
  const written = Date.now();
  await expect.poll(async () => (await turns()).length).toBe(length + 1);
  return (await turns())[length]!.at - written;
}

test('E15: a faulty source turns the page amber within 1 s, its mending green again', async () => {
  const at = `http://127.0.0.1:${other.port}`;
  const { page, close } = await openPage(at, '#/source');
  await page.waitForSelector('.lines');
  await page.evaluate(watchRail);
  const [amber, green]: [number[], number[]] = [[], []];
  for (let round = 0; round < 7; round++) {
    // Not in step with the questions of the page.
    await page.waitForTimeout(137 * round);
    amber.push(await turnAfter(page, wrong));
    await page.waitForSelector('.faulty.bad .diagnostic.error');
    // The mark stands under the word.
    const [mark, word] = (await page.evaluate(leftOf(['^', 'nothing_known']))) as number[];
    expect(mark).toBeCloseTo(word!, 0);
    green.push(await turnAfter(page, text));
    await page.waitForSelector('.faulty.bad', { state: 'detached' });
  }
  process.stderr.write(`explorer: amber after ${amber} ms, green after ${green} ms\n`);
  expectFigure(median(amber), 1_000, 'ms until the page is amber');
  expectFigure(median(green), 1_000, 'ms until the page is green');
  await close();
});

const hide = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'))`);

test('E20: a hidden page asks for nothing, and goes on when it is seen again', async () => {
  const { page, faults, close } = await openPage(`http://127.0.0.1:${demo.port}`, '#/overview');
  await page.waitForSelector('.tiles');
  await hide(page, true);
  // What was under way when it was hidden is no new question.
  await page.waitForLoadState('networkidle');
  let asked = 0;
  page.on('request', () => asked++);
  await page.waitForTimeout(2_500);
  expect(asked).toBe(0);
  await hide(page, false);
  await expect.poll(() => asked).toBeGreaterThan(1);
  expect(faults).toEqual([]);
  await close();
});

/** Processor time that a process has had, all its threads, in nanoseconds. */
function cpuOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const times = readdirSync(tasks).map((task) => {
    // A thread may end meanwhile.
    try {
      return Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      return 0;
    }
  });
  return times.reduce((sum, one) => sum + one, 0);
}

const callers = 8;
const roundMs = 1_000;
const rounds = isLong ? 20 : 6;
/** What a page asks in a second is too little to stand out: it is asked so many times over. */
const pages = 50;

/** Asks for what open pages ask for, as often as they do, until it is told to stop. */
async function askAs(paths: string[], perSecond: number, signal: AbortSignal): Promise<number> {
  const client = new Client(demo.port);
  const began = performance.now();
  let asked = 0;
  for (; !signal.aborted; asked++) {
    const { status } = await client.request({ method: 'GET', path: paths[asked % paths.length]! });
    expect(status).toBe(200);
    await sleep(began + (1_000 * (asked + 1)) / perSecond - performance.now());
  }
  client.close();
  return asked;
}

/** Calls as they come for a while: how many, and the nanoseconds of the server. */
async function callForAWhile(): Promise<{ calls: number; cpu: number }> {
  const { pid, port } = demo;
  const clients = Array.from({ length: callers }, () => new Client(port));
  for (const client of clients) await client.open();
  const [until, before] = [performance.now() + roundMs, cpuOf(pid)];
  let calls = 0;
  const caller = async (client: Client): Promise<void> => {
    for (; performance.now() < until; calls++) await client.post('worksOf', { person: 'newton' });
    client.close();
  };
  await Promise.all(clients.map(caller));
  return { calls, cpu: cpuOf(pid) - before };
}

test('E20: calls beside an open page cost what they cost beside none, within 1 %', async () => {
  const { page, faults, close } = await openPage(`http://127.0.0.1:${demo.port}`, '#/overview');
  await page.waitForSelector('.tiles');
  await page.waitForLoadState('networkidle');
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname.slice(1)));
  const seconds = 5;
  await page.waitForTimeout(1_000 * seconds);
  await close();
  expect(faults).toEqual([]);
  // One question a second, and nothing but what tells how the server does.
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.length).toBeLessThanOrEqual(seconds + 1);
  expect(new Set(paths)).toEqual(new Set(['_explore/status']));
  const costs: number[] = [];
  await callForAWhile();
  for (let round = 0; round < rounds; round++) {
    const took = { beside: { calls: 0, cpu: 0 }, alone: { calls: 0, cpu: 0 } };
    let asked = 0;
    // In turn, each as often the first as the other: what drifts drifts for both.
    const inTurn = ['beside', 'alone'] as const;
    for (const which of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
      const stop = new AbortController();
      const others = which === 'beside' ? askAs(paths, pages, stop.signal) : 0;
      took[which] = await callForAWhile();
      stop.abort();
      asked += await others;
    }
    const { beside, alone } = took;
    costs.push((beside.cpu - beside.calls * (alone.cpu / alone.calls)) / asked);
  }
  // Of a server that is busy with calls a page takes the time that its questions of a second take.
  const ofPage = (100 * median(costs) * (paths.length / seconds)) / 1e9;
  process.stderr.write(
    `explorer: a question of a page takes ${(median(costs) / 1e6).toFixed(2)} ms beside calls, ` +
      `${(paths.length / seconds).toFixed(1)} of them a second ${ofPage.toFixed(3)} % of a processor\n`,
  );
  expectFigure(ofPage, 1, '% that calls have less of beside an open page');
});
