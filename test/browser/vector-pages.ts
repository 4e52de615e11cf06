// Vectors and sessions in a real browser: the map with its search, and the walk of an agent (E13, E14).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, hashOf, openPage } from './open-page.js';

const groups = 6;
const pointCount = 600;

const clustered = `
V::Point { group: I64 }
QUERY grow(rows: [{group: I64, vector: [F64]}]) =>
  FOR {group, vector} IN rows { AddV<Point>(vector, {group: group}) }
  RETURN "ok"
`;

let demo: Server;
let points: Server;
beforeAll(async () => {
  demo = await startDemo();
  points = await startServer({ sources: { 'main.hx': clustered } });
  await points.client.post('grow', { rows: clusteredRows() });
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
  await points?.dispose();
});

function clusteredRows(): { group: number; vector: number[] }[] {
  let state = 11;
  const next = (): number => {
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += (state = (state * 16807) % 2147483647) / 2147483647;
    return sum - 6;
  };
  const centres = Array.from({ length: groups }, () => Array.from({ length: 24 }, next));
  return Array.from({ length: pointCount }, (_, at) => ({
    group: at % groups,
    vector: centres[at % groups]!.map((centre) => 3 * centre + next()),
  }));
}

type Place = [x: number, y: number];

/** How much nearer the points of a group are to each other than to those of the nearest other group. */
function silhouette(places: Place[], groupOf: number[]): number {
  const scores = places.map((place, at) => {
    const sums = new Map<number, { sum: number; count: number }>();
    for (const [other, [x, y]] of places.entries()) {
      if (other === at) continue;
      const entry = sums.get(groupOf[other]!) ?? { sum: 0, count: 0 };
      entry.sum += Math.hypot(x - place[0], y - place[1]);
      entry.count++;
      sums.set(groupOf[other]!, entry);
    }
    const own = sums.get(groupOf[at]!)!;
    sums.delete(groupOf[at]!);
    const far = Math.min(...[...sums.values()].map(({ sum, count }) => sum / count));
    return (far - own.sum / own.count) / Math.max(far, own.sum / own.count);
  });
  return scores.reduce((sum, one) => sum + one, 0) / scores.length;
}

/** Where the points lie, by the picture that the page saves. */
async function placesOnMap(page: Page): Promise<Place[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('.tools >> text=SVG'),
  ]);
  const svg = readFileSync((await download.path())!, 'utf8');
  return [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(
    ([, x, y]): Place => [Number(x), Number(y)],
  );
}

test('E13: clusters come to lie apart on the map, in the order that the server gave them', async () => {
  const at = `http://127.0.0.1:${points.port}`;
  const { page, faults, close } = await openPage(at, '#/vectors/Point');
  await page.waitForSelector(`[data-points="${pointCount}"]`);
  await page.selectOption('[aria-label="Color by"]', 'group');
  await expect.poll(() => page.locator('.legend li').count()).toBe(groups);
  const layout = page.locator('.tools button:text-is("layout")');
  let apart = 0;
  // A slow machine takes more than one round of the layout.
  for (let round = 0; round < 4 && apart < 0.5; round++) {
    if (round > 0) await layout.click();
    await layout.waitFor();
    const places = await placesOnMap(page);
    // Points stand in the order of their ids, which is that in which they were added.
    expect(places).toHaveLength(pointCount);
    const order = places.map((_, i) => i % groups);
    apart = silhouette(places, order);
  }
  expect(apart).toBeGreaterThanOrEqual(0.5);
  expect(faults).toEqual([]);
  await close();
});

test('E13: a search lights its hits, a point shows what is near it, an answer opens on the map', async () => {
  const at = `http://127.0.0.1:${demo.port}`;
  const { page, faults, close } = await openPage(at, '#/vectors');
  await page.waitForSelector('[data-points="129"]');
  expect(await page.textContent('.map-head')).toMatch(/129 of 129 × 256.*recall@10 (0\.\d|1\.0)/s);
  await page.fill('[aria-label="Search in Passage"]', 'light and colours');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.map-head >> text=/^\\d+ by meaning$/');
  const link = await hashOf(page);
  expect(link).toContain('hits=');
  await page.goto(`${at}/#/overview`);
  await page.waitForSelector('.tiles');
  await page.goto(`${at}/${link}`);
  await page.waitForSelector('.map-head >> text=/^\\d+ lit$/');
  await page.goto(`${at}/#/query/passagesLike?text=gravity&k=3&run=1`);
  await page.click('[role=tablist] >> text=Map');
  await page.waitForSelector('.map-head >> text=/^3 lit$/');
  await page.goto(`${at}/#/overview`);
  await page.waitForSelector('.tiles');
  const { passages } = await demo.client.post('passagesLike', { text: 'gravity', k: 1 });
  await page.goto(`${at}/#/vectors/Passage?at=${passages[0].id}`);
  await page.waitForSelector('.inspector .near li >> nth=7');
  const before = await page.textContent('.inspector dl');
  await page.click('.inspector .near button >> nth=0');
  await expect.poll(() => page.textContent('.inspector dl')).not.toBe(before);
  expect(await page.textContent('.inspector')).not.toMatch(/-?0\.\d{4,}/);
  expect(faults).toEqual([]);
  await close();
});

/** The project that the dialogues of sessions are about, filled. */
async function startLibrary(): Promise<Server> {
  const fixture = join(root, 'test/corpus/fixture/library.json');
  const { schema, queries } = JSON.parse(readFileSync(fixture, 'utf8')) as {
    schema: string[];
    queries: string[];
  };
  const server = await startServer({ sources: { 'main.hx': [...schema, ...queries].join('\n') } });
  await server.client.post('seedLibrary', {});
  return server;
}

const lastCount = (page: Page): Promise<string | null> =>
  page.getAttribute('.path tbody tr:last-child td[data-count]', 'data-count');

/** Waits until the walk has so many rows, and gives the count of the last. */
async function afterStep(page: Page, rows: number): Promise<string | null> {
  const count = (): Promise<number> => page.locator('.path tbody tr').count();
  await expect.poll(count).toBe(rows);
  return lastCount(page);
}

test('E14: the session page walks the dialogue D2, and shows its counts', async () => {
  const library = await startLibrary();
  try {
    const at = `http://127.0.0.1:${library.port}`;
    const { page, faults, close } = await openPage(at, '#/session');
    const press = (name: string): Promise<void> =>
      page.click(`.tools-of button:text-is("${name}")`);
    await page.selectOption('[aria-label="All of"]', 'Author');
    await press('all of it');
    expect(await afterStep(page, 1)).toBe('3');
    await press('→ Wrote → Book');
    expect(await afterStep(page, 2)).toBe('4');
    await press('collect');
    expect(await afterStep(page, 3)).toBe('4');
    await page.selectOption('[aria-label="Property"]', 'year');
    await page.selectOption('[aria-label="Operator"]', '>');
    await page.fill('[aria-label="Value"]', '1900');
    await press('filter');
    expect(await afterStep(page, 4)).toBe('3');
    expect(await page.textContent('.path tbody tr:last-child .first')).toBe('Rivers');
    await page.selectOption('[aria-label="Order by"]', 'title');
    await press('order');
    expect(await afterStep(page, 5)).toBe('3');
    expect(await page.textContent('.path tbody tr:last-child .first')).toBe('Loops');
    await page.selectOption('[aria-label="Group by"]', 'year');
    await press('count');
    expect(await afterStep(page, 6)).toBe('2');
    expect((await page.textContent('.json'))!.replace(/\s/g, '')).toContain('year:2001count:1');
    await press('with items');
    expect(await afterStep(page, 7)).toBe('2');
    await press('next');
    expect(await afterStep(page, 8)).toBe('3');
    await press('← Wrote ← Author');
    expect(await afterStep(page, 9)).toBe('5');
    expect(await page.textContent('.held')).toContain('5 Author');
    // What leads nowhere from authors is not offered.
    expect(await page.locator('.tools-of button', { hasText: 'Contains' }).count()).toBe(0);
    const link = await hashOf(page);
    expect(faults).toEqual([]);
    await close();
    // A link walks the same way in a fresh tab.
    const second = await openPage(at, link);
    expect(await afterStep(second.page, 9)).toBe('5');
    await second.close();
  } finally {
    await library.dispose();
  }
});

test('E14: a session that runs elsewhere is watched, and goes on as if it were not', async () => {
  const library = await startLibrary();
  try {
    const { client } = library;
    const id = (await client.post('mcp/init', {})) as unknown as string;
    const tool = (name: string, body: object) =>
      client.post(`mcp/${name}`, { connection_id: id, ...body });
    await tool('n_from_type', { data: { node_type: 'Author' } });
    await tool('next', {});
    const at = `http://127.0.0.1:${library.port}`;
    const { page, faults, close } = await openPage(at, '#/session');
    await page.fill('[aria-label="Connection id"]', id);
    await page.click('button:text-is("watch")');
    await page.waitForSelector('.watched h2:has-text("traversal: 3 Author")');
    await tool('out_step', { data: { edge_label: 'Wrote' } });
    await page.waitForSelector('.watched h2:has-text("traversal: 4 Book")');
    expect(await page.locator('.watched section:last-child tbody tr').count()).toBe(2);
    // The cursor is where the agent left it.
    expect(await tool('next', {})).toMatchObject({ title: 'Notes' });
    expect(faults).toEqual([]);
    await close();
  } finally {
    await library.dispose();
  }
});

test('E14: the walk is copied as commands that make the same walk', async () => {
  const at = `http://127.0.0.1:${demo.port}`;
  const walk = JSON.stringify([
    ['n_from_type', { node_type: 'Person' }],
    [
      'filter_items',
      { filter: { properties: [[{ key: 'name', operator: '==', value: "d'Alembert" }]] } },
    ],
    ['collect', { drop: false }],
  ]);
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, close } = await openPage(at, `#/session?walk=${encodeURIComponent(walk)}`, {
    permissions,
  });
  await afterStep(page, 3);
  const copied = async (name: string): Promise<string> => {
    await page.click(`.copies button:text-is("${name}")`);
    await page.waitForSelector('.copies >> text=copied');
    const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
    await page.waitForSelector('.copies >> text=copied', { state: 'detached' });
    return text;
  };
  const shell = spawnSync('bash', ['-c', await copied('curl')], { encoding: 'utf8' });
  expect(shell.stdout.trim().split('\n')).toHaveLength(3);
  expect(shell.stdout).toContain('"label":"Person"');
  expect(await copied('TypeScript')).toContain('await call("n_from_type"');
  const calls = JSON.parse(await copied('MCP')) as { name: string; arguments: object }[];
  expect(calls.map(({ name }) => name)).toEqual(['n_from_type', 'filter_items', 'collect']);
  expect(calls[0]!.arguments).toMatchObject({ node_type: 'Person' });
  await close();
});
