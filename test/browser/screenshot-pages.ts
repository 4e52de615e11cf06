// Screenshots of every page for a review: both themes, a screen and a phone; the demo, an empty project, one
// of very many types, one whose last change was refused, and one with keys. Made by `--shots DIR` only.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';
import { startDemo } from './demo.js';
import { closeBrowser, openPage } from './open-page.js';

const shots = process.env.TRELLIS_SHOTS ?? '';

const every = [
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
const walk = encodeURIComponent('[["n_from_type",{"node_type":"Person"}]]');

const wide = Array.from(
  { length: 200 },
  (_, no) => `N::Type${no} { name: String, count: I64 }
E::Leads${no} { From: Type${no}, To: Type${(no * 7 + 1) % 200} }
QUERY list${no}() => t <- N<Type${no}> RETURN t
`,
).join('');
const faulty = 'N::Doc { text: String }\nQUERY docs() => d <- N<Doc> RETURN d\n';

interface Scene {
  start: () => Promise<Server>;
  views: string[];
  key?: string;
}

const scenes: Record<string, Scene> = {
  demo: {
    start: startDemo,
    views: [
      ...every,
      'query/worksOf?person=newton&run=1',
      'query/worksOf?person=newton&run=1&view=graph',
      'query/passagesLike',
      'schema/Work',
      `session?walk=${walk}`,
      'source/queries.hx?line=34',
    ],
  },
  empty: { start: () => startServer({ sources: { 'main.hx': '' } }), views: every },
  wide: {
    start: () => startServer({ sources: { 'main.hx': wide } }),
    views: ['overview', 'schema', 'schema/Type7', 'query', 'session', 'source', 'api'],
  },
  refused: {
    start: async () => {
      const server = await startServer({ sources: { 'main.hx': faulty } });
      const path = join(server.project, 'main.hx');
      writeFileSync(path, `${faulty}QUERY lost() => d <- N<Dog>\n  RETURN e\n`);
      return server;
    },
    views: ['overview', 'source'],
  },
  keys: {
    start: () =>
      startServer({ sources: { 'main.hx': faulty }, env: { TRELLIS_API_KEY: 'k'.repeat(16) } }),
    views: ['overview'],
  },
};

const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

afterAll(closeBrowser);

const runMs = 900_000;

test.runIf(shots !== '').each(Object.entries(scenes))(
  'pictures: %s',
  async (scene, made) => {
    const server = await made.start();
    try {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const [size, viewport] of Object.entries(sizes)) {
          for (const [at, name] of made.views.entries()) {
            const origin = `http://127.0.0.1:${server.port}`;
            const { page, close } = await openPage(origin, `#/${name}`, { colorScheme, viewport });
            await page.waitForSelector('main');
            await page.waitForTimeout(/graph/.test(name) ? 3_000 : 1_200);
            const title = name
              .split(/[^\w]+/)
              .join('-')
              .slice(0, 16);
            const file = `${scene}-${at}-${title}-${size}-${colorScheme}.png`;
            await page.screenshot({ path: join(shots, file) });
            expect(await overflow(page)).toBe(0);
            await close();
          }
        }
      }
    } finally {
      await server.dispose();
    }
  },
  runMs,
);

/** Pixels by which the page is wider than the screen. */
const overflow = (page: Awaited<ReturnType<typeof openPage>>['page']): Promise<number> =>
  page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
