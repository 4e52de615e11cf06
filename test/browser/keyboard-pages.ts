// The explorer without a mouse (E18), and the first steps of a new user, with a mouse and without.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, openPage } from './open-page.js';

let demo: Server;
let origin: string;
beforeAll(async () => {
  // Every request is slow: the slow log has entries.
  demo = await startDemo({ config: { 'embedding.model': 'hash', 'log.slow_after': 0 } });
  origin = `http://127.0.0.1:${demo.port}`;
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
});

const tabsMax = 300;

/** Goes on with Tab until what has the focus is what is wanted; fails when it is never reached. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  // What is not there yet, or cannot be used yet, is passed over by Tab.
  await page.locator(wanted).first().waitFor();
  await expect.poll(() => page.locator(wanted).first().isEnabled()).toBe(true);
  for (let count = 0; count < tabsMax; count++) {
    const isThere = await page.evaluate(
      `document.activeElement?.matches(${JSON.stringify(wanted)}) === true`,
    );
    if (isThere) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no Tab leads to ${wanted}`);
}

async function enter(page: Page, wanted: string): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press('Enter');
}

/** From the top, through the rail, to a page. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.evaluate('document.activeElement?.blur()');
  await enter(page, `.rail a[href="#/${name}"]`);
  await page.waitForSelector(`main.page-${name}`);
}

test('E18: by keyboard alone: a query is run and its answer read', async () => {
  const { page, faults, close } = await openPage(origin, '');
  await page.waitForSelector('.tiles');
  await goTo(page, 'query');
  await page.waitForSelector('.list input');
  await tabTo(page, '.list input');
  await page.keyboard.type('worksOf');
  await enter(page, '.list a[href="#/query/worksOf?filter=worksOf"]');
  await page.waitForSelector('[id="field/person"]');
  await tabTo(page, '[id="field/person"]');
  await page.keyboard.type('newton');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('td:has-text("Opticks")');
  await tabTo(page, '[role=tab][aria-selected="true"]');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('.json');
  await tabTo(page, '.json');
  expect(faults).toEqual([]);
  await close();
});

test('E18: by keyboard alone: every other page does what it is for', async () => {
  const { page, faults, close } = await openPage(origin, '');
  await page.waitForSelector('.tiles');
  // Schema: a type, its elements.
  await goTo(page, 'schema');
  await page.waitForSelector('.diagram');
  await enter(page, '.diagram a[href="#/schema/Person"]');
  await page.waitForSelector('.type-panel td');
  // Graph: search, choose, expand, take back.
  await page.evaluate('document.activeElement?.blur()');
  await page.keyboard.press('/');
  await page.keyboard.type('newton');
  await page.waitForSelector('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
  while ((await page.textContent('#hits li[aria-selected="true"] small')) !== 'Person') {
    const before = await page.getAttribute('.finder input', 'aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    const now = () => page.getAttribute('.finder input', 'aria-activedescendant');
    await expect.poll(now).not.toBe(before);
  }
  await page.keyboard.press('Enter');
  await page.waitForSelector('.inspector .degrees button');
  const count = (): Promise<number> =>
    page.getAttribute('.tools [data-nodes]', 'data-nodes').then(Number);
  const before = await count();
  await tabTo(page, '.canvas');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('.inspector .degrees button');
  await page.keyboard.press('Delete');
  await expect.poll(count).toBe(before - 1);
  await page.keyboard.press('Control+z');
  await expect.poll(count).toBe(before);
  // Vectors: a search.
  await goTo(page, 'vectors');
  await page.waitForSelector('[data-points="129"]');
  await tabTo(page, '[aria-label="Search in Passage"]');
  await page.keyboard.type('light');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.map-head >> text=/^\\d+ by /');
  // Session: two calls.
  await goTo(page, 'session');
  await page.waitForSelector('.tools-of button');
  await enter(page, '.tools-of .step > button');
  await page.waitForSelector('.path tbody tr');
  await enter(page, '.tools-of .steps button');
  await expect.poll(() => page.locator('.path tbody tr').count()).toBe(2);
  // Source: the types come first; the queries, and a plan in their margin.
  await goTo(page, 'source');
  await enter(page, '.list a[href="#/source/queries.hx"]');
  await page.waitForSelector('.margin button');
  await enter(page, '.margin button');
  await page.waitForSelector('.inline-plan .plan');
  // Api: the query's own page.
  await goTo(page, 'api');
  await page.waitForSelector('.contracts');
  await enter(page, '.contracts a');
  await page.waitForSelector('.runner');
  expect(faults).toEqual([]);
  await close();
});

test('paths of somebody new: three clicks at most', async () => {
  const { page, close } = await openPage(origin, '');
  // Run a query with arguments, and copy it as code.
  await page.click('.figures a:text-is("worksOf")');
  await page.fill('[id="field/person"]', 'newton');
  await page.click('button.primary');
  await page.waitForSelector('text=Opticks');
  await page.click('.copies button:text-is("curl")');
  // Why it was slow: its plan with rows and times.
  await page.click('button:text-is("Profile")');
  await page.waitForSelector('.plan meter');
  // Follow an edge: search, which opens the element with its edges.
  await page.keyboard.press('Escape');
  await page.fill('.finder input', 'newton');
  await page.click('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
  await page.click('.degrees button >> nth=0');
  await page.waitForSelector('.said:has-text("element"), .said:has-text("No new elements")');
  await close();
});

/** Presses Enter on what Tab has led to, and counts: a path has three such steps at most. */
const steps = { count: 0 };
async function step(page: Page, wanted: string): Promise<void> {
  steps.count++;
  await enter(page, wanted);
}

/** From the start page without a mouse: what somebody does who has never seen the project. */
const paths: Record<string, (page: Page) => Promise<unknown>> = {
  'what is in here': async (page) => {
    await step(page, '.tiles a[href="#/schema/Person"]');
    await page.waitForSelector('.type-panel td:has-text("Newton")');
    await step(page, '.type-panel a[href="#/query/worksOf"]');
    await page.waitForSelector('[id="field/person"]');
  },
  'a query with arguments': async (page) => {
    await step(page, '.figures a[href="#/query/worksOf"]');
    await page.waitForSelector('[id="field/person"]');
    await tabTo(page, '[id="field/person"]');
    await page.keyboard.type('newton');
    await step(page, 'form button.primary');
    await page.waitForSelector('td:has-text("Opticks")');
  },
  'follow an edge': async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('newton');
    await page.waitForSelector('#hits[aria-busy="false"] li:has-text("Isaac Newton")');
    steps.count++;
    await page.keyboard.press('Enter');
    await page.waitForSelector('.degrees li');
    // To an edge, and over it to its other end.
    await tabTo(page, '.canvas');
    await page.keyboard.press('e');
    await page.waitForSelector('.inspector .kind:text-is("edge")');
    const title = await page.textContent('.inspector .ends li:last-child bdi');
    await step(page, '.inspector .ends li:last-child button');
    await page.waitForSelector(`.inspector h2:has-text(${JSON.stringify(title)})`);
    await step(page, '.degrees button:enabled');
    await page.waitForSelector('.said:has-text("element"), .said:has-text("No new elements")');
  },
  'why it was slow': async (page) => {
    await step(page, '.rail a[href="#/slow"]');
    await step(page, 'table.slow a[href^="#/query/beginnings"]');
    await step(page, 'form button:nth-of-type(3)');
    await page.waitForSelector('.plan meter');
  },
  'copy as code': async (page) => {
    await step(page, '.figures a[href="#/query/worksOf"]');
    await page.waitForSelector('[id="field/person"]');
    await tabTo(page, '[id="field/person"]');
    await page.keyboard.type('newton');
    await step(page, '.copies button');
    await page.waitForSelector('.copies >> text=copied');
    const curl = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(curl).toContain("/worksOf' ");
    expect(curl).toContain(`-d '{"person":"newton"}'`);
  },
};

test.each(Object.entries(paths))(
  'E18: by keyboard alone, in three steps: %s',
  async (_name, walk) => {
    await demo.client.post('beginnings', {});
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, faults, close } = await openPage(origin, '', { permissions });
    await page.waitForSelector('.tiles');
    steps.count = 0;
    await walk(page);
    expect(steps.count).toBeLessThanOrEqual(3);
    expect(faults).toEqual([]);
    await close();
  },
);

test('E18: by keyboard alone: two elements, and the way between them', async () => {
  const { page, faults, close } = await openPage(origin, '#/graph');
  await page.waitForSelector('.tools [data-nodes="400"]');
  await tabTo(page, '.canvas');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('.inspector .degrees');
  await page.keyboard.press('Shift+ArrowRight');
  await page.waitForSelector('.inspector >> text=2 chosen');
  await enter(page, '.inspector .actions button');
  await page.waitForSelector('.said:has-text("The shortest path has"), .said:has-text("no path")');
  expect(faults.filter((fault) => !fault.includes('status of 4'))).toEqual([]);
  await close();
});
