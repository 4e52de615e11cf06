// Figures have one source: bench/results. `-u` writes the tables of README.md, of the page of benchmarks and of
// bench/vector.md.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../support/project.js';
import { handWritten, results, shownOn, withBeside, withFigures, withResults } from './figures.js';

const pages = ['README.md', 'server/docs/about/benchmarks.md'];
const oldestDays = 60;
const dayMs = 86_400_000;

/** The day of the newest commit: a checkout of it always gives the same result. */
function today(): number {
  try {
    const format = ['log', '-1', '--format=%cI'];
    return Date.parse(execFileSync('git', format, { cwd: root, encoding: 'utf8' }).trim());
  } catch {
    return Math.max(...[...results.values()].map(({ date }) => Date.parse(date)));
  }
}

describe.each(pages)('%s', (page) => {
  test('shows the figures of the result files', async () => {
    await expect(withFigures(page).text).toMatchFileSnapshot(join(root, page));
  });

  test('has no measured rate or ratio outside of the generated tables', () => {
    const words = withFigures(page).rest.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '');
    expect(words.match(/\b[\d,.]+ ?(?:\/s|us|µs)(?!\w)|\b\d[\d.]*x\b/g) ?? []).toEqual([]);
  });
});

test('bench/vector.md shows the result of the strongest peers', async () => {
  await expect(withBeside()).toMatchFileSnapshot(join(root, 'bench/vector.md'));
});

test.each(['bench/peers.md', 'bench/cluster.md'])(
  '%s shows the results of its files',
  async (page) => {
    await expect(withResults(page)).toMatchFileSnapshot(join(root, page));
  },
);

/** Tables of measurements from before results were kept in files. A new table comes from a result file. */
const handWrittenMax: Record<string, number> = {
  'bench/graph.md': 11,
  'bench/scale.md': 11,
  'bench/server.md': 18,
  'bench/text.md': 4,
  'bench/vector.md': 5,
  'bench/peers.md': 0,
  'bench/cluster.md': 0,
};

test.each(Object.entries(handWrittenMax))('%s has no new table that is typed', (page, most) => {
  expect(handWritten(page)).toBeLessThanOrEqual(most);
});

test('README.md shows no result that is older than 60 days', () => {
  const names = shownOn('README.md').flatMap(([, list]) => list.map(({ result }) => result));
  const old = [...new Set(names)].filter(
    (name) => today() - Date.parse(results.get(name)!.date) > oldestDays * dayMs,
  );
  expect(old).toEqual([]);
});

test('README.md shows where others are better', () => {
  const losses = withFigures('README.md').text.match(/\*\*0\.\d+x /g) ?? [];
  expect(losses.length).toBeGreaterThanOrEqual(3);
});

test.each([...results])('the result %s has its date, machine, load and commit', (_, it) => {
  expect(it.date).toMatch(/^20\d\d-\d\d-\d\d$/);
  for (const text of [it.bench, it.machine, it.load, it.commit]) expect(text).toBeTruthy();
  for (const { columns, rows } of it.tables)
    for (const row of rows) expect(row).toHaveLength(columns.length);
});
