// What is counted of the reports of all runs, and who may try again (.ci/count.mjs).
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder, removeFolder, root } from './support/project.js';

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

type Files = Record<string, string[]>;

/** A report of files with tests, `!` before the name of one that failed, `?` as a file that did not run. */
function reportOf(files: Files): string {
  const all = Object.values(files).flat();
  const numPassedTests = all.filter((name) => !/^[!?]/.test(name)).length;
  const testResults = Object.entries(files).map(([name, tests]) => ({
    name: join(root, name),
    message: 'why',
    status: tests.some((one) => /^[!?]/.test(one)) ? 'failed' : 'passed',
    assertionResults: tests
      .filter((one) => one !== '?')
      .map((one) => ({
        fullName: one.replace('!', ''),
        status: one.startsWith('!') ? 'failed' : 'passed',
      })),
  }));
  const success = testResults.every(({ status }) => status === 'passed');
  return JSON.stringify({ numPassedTests, success, testResults });
}

function run(reports: Record<string, Files>, ...args: string[]) {
  const folder = makeFolder();
  folders.push(folder);
  for (const [name, files] of Object.entries(reports))
    writeFileSync(join(folder, `${name}.json`), reportOf(files));
  const argv = [
    join(root, '.ci/count.mjs'),
    ...args,
    args.length > 0 ? join(folder, 'test.json') : folder,
  ];
  const { status, stdout } = spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

const fine = { 'test/a.test.ts': ['one', 'two'] };
const failing = { ...fine, 'test/b.test.ts': ['three', '!four'] };

test('what passed, of all runs', () => {
  const counted = run({ test: fine, 'test:browser': fine, 'test:cluster': { 'test/c.ts': [] } });
  expect(counted).toEqual({ status: 0, lines: ['4 passed, 0 failed'] });
});

test('a run without a report of its tests fails', () => {
  expect(run({}).status).toBe(1);
  expect(run({}).lines.at(-1)).toBe('0 passed, 1 failed');
});

test('a file that fails and does not pass twice alone has failed', () => {
  const again = { 'test/b.test.ts': ['three', 'four'] };
  const told = ['failed: four', '3 passed, 1 failed'];
  const less: Record<string, Files>[] = [
    {},
    { 'again-1-b.test.ts': again },
    { 'again-1-b.test.ts': again, 'again-2-b.test.ts': failing },
    { 'again-1-b.test.ts': again, 'again-2-b.test.ts': {} },
    { 'again-1-a.test.ts': again, 'again-2-a.test.ts': again },
  ];
  for (const more of less)
    expect(run({ test: failing, ...more })).toEqual({ status: 1, lines: told });
  const both = { 'again-1-b.test.ts': again, 'again-2-b.test.ts': again };
  expect(run({ test: failing, ...both })).toEqual({
    status: 0,
    lines: [
      'unsteady, passed twice by itself: four',
      'unsteady: test/b.test.ts',
      '4 passed, 0 failed',
    ],
  });
});

test('a file that did not run is a failure', () => {
  const { status, lines } = run({ test: { ...fine, 'test/b.test.ts': ['?'] } });
  expect([status, lines.at(-1)]).toEqual([1, '2 passed, 1 failed']);
  expect(lines[0]).toMatch(/^failed: .*test\/b\.test\.ts did not run: why$/);
});

test('few files may try again, many not', () => {
  expect(run({ test: failing }, '--again').lines).toEqual(['test/b.test.ts']);
  expect(run({ test: fine }, '--again').lines).toEqual(['']);
  const many = Object.fromEntries(
    Array.from({ length: 5 }, (_, i) => [`test/${i}.test.ts`, ['!x']]),
  );
  expect(run({ test: many }, '--again').lines).toEqual(['']);
});
