// No serious fault of access by axe (E18): every page in both themes, and what opens on it: lists, questions, faults,
// what is chosen, plans, the login.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { packIds } from '../../server/explorer/model/packed-ids.js';
import { type Server, startServer } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, goToView, openPage } from './open-page.js';

const text = 'N::Doc { text: String }\nQUERY docs() => d <- N<Doc> RETURN d\n';

let demo: Server;
let closed: Server;
let people: string[] = [];
beforeAll(async () => {
  // Every request is slow: the slow log has entries.
  demo = await startDemo({ config: { 'embedding.model': 'hash', 'log.slow_after': 0 } });
  closed = await startServer({
    sources: { 'main.hx': text },
    env: { TRELLIS_API_KEY: 'k'.repeat(16) },
  });
  const found = await demo.client.post('people', { start: 0, end: 2 });
  people = (found.people as { personId: string }[]).map(({ personId }) => personId);
});
afterAll(async () => {
  await closeBrowser();
  await demo?.dispose();
  await closed?.dispose();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

async function seriousFaults(page: Page, name: string): Promise<string[]> {
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${name}: ${id} ${nodes[0]!.html.slice(0, 120)}`);
}

/** What stands on the page when it is looked at. */
type Look = [view: string, act: (page: Page) => Promise<unknown>];

const seen =
  (selector: string) =>
  (page: Page): Promise<unknown> =>
    page.waitForSelector(selector);

const looks: Record<string, Look> = {
  overview: ['overview', seen('.caption a[data-nodes="400"]')],
  schema: ['schema', seen('.diagram')],
  'a type': ['schema/Work', seen('.type-panel td')],
  'no type': ['schema/Gone', seen('text=no longer exists')],
  queries: ['query', seen('.list a')],
  answer: ['query/worksOf?person=newton&run=1', seen('td')],
  json: ['query/worksOf?person=newton&run=1&view=json', seen('.json')],
  'answer as a graph': [
    'query/person?key=newton&run=1&view=graph',
    seen('.tools [data-nodes="1"]'),
  ],
  'fault at a field': [
    'query/worksOf',
    async (page) => {
      await page.click('button.primary');
      await page.waitForSelector('.fault');
    },
  ],
  'question before a write': [
    'query/createReadingList?name=a',
    async (page) => {
      await page.click('button.primary');
      await page.waitForSelector('button.danger');
    },
  ],
  'calls of this tab': ['query', seen('.history a')],
  profile: [
    'query/worksOf?person=newton',
    async (page) => {
      await page.click('button:text-is("Profile")');
      await page.waitForSelector('.plan meter');
    },
  ],
  graph: ['graph', seen('.tools [data-nodes="400"]')],
  'search list': [
    'slow',
    async (page) => {
      await page.fill('.finder input', 'newton');
      await page.waitForSelector('#hits[aria-busy="false"] li');
    },
  ],
  'search list without a hit': [
    'api',
    async (page) => {
      await page.fill('.finder input', 'qqqqqqq');
      await page.waitForSelector('#hits li.none');
    },
  ],
  vectors: ['vectors', seen('[data-points="129"]')],
  session: ['session', seen('.tools-of button')],
  walk: [
    `session?walk=${encodeURIComponent('[["n_from_type",{"node_type":"Person"}]]')}`,
    seen('.path tbody tr'),
  ],
  'watched session': ['session?watch=gone', seen('.note.bad')],
  'plan in the margin': [
    'source/queries.hx',
    async (page) => {
      await page.click('.margin button >> nth=0');
      await page.waitForSelector('.inline-plan .plan');
    },
  ],
  'slow log': ['slow', seen('table.slow td')],
  api: ['api', seen('.contracts')],
  'no page': ['nowhere', seen('.empty')],
};

test.each(['light', 'dark'] as const)(
  'E18: no serious fault of access: %s',
  async (colorScheme) => {
    const origin = `http://127.0.0.1:${demo.port}`;
    const options = { colorScheme, bypassCSP: true };
    const { page, close } = await openPage(origin, '#/overview', options);
    await page.waitForSelector('.tiles');
    await page.evaluate(axe);
    const faults: string[] = [];
    const lookAt = async (name: string, [view, act]: Look): Promise<void> => {
      await goToView(page, '#/nowhere');
      await goToView(page, `#/${view}`);
      await act(page);
      faults.push(...(await seriousFaults(page, name)));
    };
    for (const [name, look] of Object.entries(looks)) await lookAt(name, look);
    const chosen: Look = [`graph?around=${people[0]}`, seen('.degrees li')];
    await lookAt('a chosen element', chosen);
    const both = packIds(people);
    await lookAt('two chosen', [`graph?n=${both}&at=${both}`, seen('.inspector .chosen li')]);
    const path = join(demo.project, 'schema.hx');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, `${before}\nN::Broken { of: Nothing }\n`);
    await lookAt('sources refused', ['source', seen('.faulty.bad')]);
    writeFileSync(path, before);
    await page.waitForSelector('.rail a.amber', { state: 'detached' });
    await page.context().setOffline(true);
    await page.waitForSelector('.chip.bad');
    faults.push(...(await seriousFaults(page, 'no answer')));
    await close();
    const login = await openPage(`http://127.0.0.1:${closed.port}`, '', options);
    await login.page.fill('input[type=password]', 'wrong');
    await login.page.click('button.primary');
    await login.page.waitForSelector('text=The API key is not valid');
    await login.page.evaluate(axe);
    faults.push(...(await seriousFaults(login.page, 'login')));
    await login.close();
    expect(faults).toEqual([]);
  },
);

test.each(
  Object.entries({
    nothing: '',
    'a type': 'N::Doc { text: String }',
    'vectors alone': 'V::At { of: String }',
  }),
)('what an empty page says is to be written can be, beside %s', async (_, there) => {
  const server = await startServer({ sources: { 'main.hx': there } });
  try {
    for (const view of ['overview', 'query', 'api']) {
      const { page, close } = await openPage(`http://127.0.0.1:${server.port}`, `#/${view}`);
      await page.waitForSelector('.empty :text("QUERY all")');
      const codes = await page.locator('.empty code').allTextContents();
      const written = codes.filter((code) => /^(N::|QUERY .)/.test(code));
      const sources = [there, ...written].map((code, at) => ({ path: `${at}.hx`, text: code }));
      const { diagnostics } = compile(sources, { compat: false });
      expect([view, written.length > 0, diagnostics]).toEqual([view, true, []]);
      await close();
    }
  } finally {
    await server.dispose();
  }
});

test('a page calls nothing empty before the schema has come', async () => {
  const server = await startServer({ sources: { 'main.hx': 'N::Doc { text: String }' } });
  const { page, close } = await openPage(`http://127.0.0.1:${server.port}`, '');
  for (const view of ['overview', 'query', 'api', 'schema']) {
    let load = (): void => undefined;
    const held = new Promise<void>((resolve) => (load = resolve));
    await page.route('**/introspect', async (route) => {
      await held;
      await route.continue();
    });
    await goToView(page, `#/${view}`);
    const asked = page.waitForRequest('**/introspect');
    await page.reload();
    await asked;
    await page.waitForSelector('main .waiting:has-text("Loading")');
    expect([view, await page.locator('main .empty').count()]).toEqual([view, 0]);
    load();
    await page.waitForSelector(view === 'schema' ? 'main .schema' : '.empty :text("N<Doc>")');
    await page.unroute('**/introspect');
  }
  await close();
  await server.dispose();
});
