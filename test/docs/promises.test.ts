// The table of promises and tests in server/security.md: every file that it names is a test of this project, and
// holds tests.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';

test('every promise has a test that is there', () => {
  const page = readFileSync(join(root, 'server/security.md'), 'utf8');
  const [, table = ''] = page.split('\n## Promise and test\n');
  const rows = table.split('\n').filter((line) => /^\| (?!Promise|-)/.test(line));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const files = [...row.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path!);
    expect(files, row).not.toEqual([]);
    for (const path of files) {
      expect(existsSync(join(root, path)), path).toBe(true);
      expect(readFileSync(join(root, path), 'utf8'), path).toMatch(/\b(test|it)\b/);
    }
  }
});
