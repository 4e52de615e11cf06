// Every block of code in the manual is run: commands against one server of the demo, sources compiled, configuration
// loaded. What cannot run here says why, and is counted. tutorial.test.ts runs the tutorials.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Page, blocksOf, readManual } from '../support/page.js';
import { root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { checkBlock, reasonNotToRun, tasksOf } from './block.js';
import { isTutorial } from './journey.js';
import { PageDatabase } from './page-database.js';
import { Workplace } from './workplace.js';

const demo = join(root, 'server/demo');
const sources = Object.fromEntries(
  readdirSync(demo, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(demo, name), 'utf8')]),
);

let server: Server;
let run = 0;
const notRun: string[] = [];
beforeAll(async () => {
  const env = { TRELLIS_SERVER_AD_HOC_QUERIES: 'true' };
  server = await startServer({ sources, env, hasOwnData: true });
});
afterAll(async () => {
  process.stdout.write(`the manual: ${run} blocks run, ${notRun.length} not\n`);
  for (const line of notRun) process.stdout.write(`  ${line}\n`);
  await server?.dispose();
});

const pages = readManual().filter((page) => blocksOf(page).length > 0 && !isTutorial(page));

test('most of the manual is run', () => {
  const blocks = pages.flatMap(blocksOf);
  const kept = blocks.filter(({ info }) => info.startsWith('not-run'));
  expect(blocks.length).toBeGreaterThan(50);
  expect(kept.length).toBeLessThan(blocks.length / 4);
});

describe.each(pages)('$path', (page: Page) => {
  let place: Workplace | undefined;
  const blocks = blocksOf(page);
  const beside = pages.find(({ path }) => path === join(dirname(page.path), 'README.md'));
  const db = new PageDatabase(blocks, beside === undefined ? [] : blocksOf(beside));
  afterAll(() => db.dispose());
  for (const task of tasksOf(blocks)) {
    const { block } = task;
    test(`line ${block.line}: ${block.language} ${block.info}`, async () => {
      const reason = reasonNotToRun(block);
      if (reason === undefined) {
        await checkBlock(task, (place ??= new Workplace(server)), db);
        run++;
      } else notRun.push(`${page.path}:${block.line} ${reason}`);
    });
  }
});

// After the pages, whose calls have made the server count.
test('every metric is described, with its labels', async () => {
  const page = readFileSync(join(root, 'server/docs/reference/metrics-and-logs.md'), 'utf8');
  const labelsOf = new Map(
    [...page.matchAll(/^\| `(\w+)` \| \w+ \| (.*?) \|/gm)].map((row) => [row[1]!, row[2]!]),
  );
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  // Former names, which are printed until the next major version, stand in the changelog.
  const former = new Set([...text.matchAll(/^# HELP (\w+) Former name of /gm)].map((m) => m[1]!));
  const all = [...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map((match) => match[1]!);
  const families = all.filter((name) => !former.has(name));
  expect(families.length).toBeGreaterThan(50);
  expect(families.filter((name) => !labelsOf.has(name))).toEqual([]);
  const undescribed = [...text.matchAll(/^(\w+)\{(.*)\} /gm)].flatMap(([, name, labels]) => {
    const family = labelsOf.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, '');
    if (former.has(family) || former.has(name!)) return [];
    const names = [...labels!.matchAll(/(\w+)="/g)].map((label) => label[1]!);
    return names
      .filter((label) => label !== 'le' && label !== 'node')
      .filter((label) => !labelsOf.get(family)?.includes(`\`${label}\``))
      .map((label) => `${family}{${label}}`);
  });
  expect([...new Set(undescribed)]).toEqual([]);
});
