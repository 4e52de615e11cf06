// How readers start the program. `trellis` is a command of the package `trellisdb`, and `npx trellis` would
// run another package with that name. No page, hint, setting or source uses it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';
import { trackedFiles } from '../support/source-tree.js';

/** `npx trellis`, `["npx", "trellis"]`, and the same of other package managers. */
const alone = /\b(npx|bunx|dlx|npm exec)\b(?:[\s"',[\]]|--?[\w=-]+)*\btrellis(?![\w-])/g;
/** The package, asked for without a word against fetching it. */
const fetched = /\b(npx|bunx|dlx)\b\s+trellisdb\b/g;

const isText = (path: string): boolean =>
  /\.(md|m?[jt]sx?|cts|json|hx|ya?ml|toml|sh|html|txt|service)$/.test(path) ||
  /(^|\/)(Dockerfile|run)$/.test(path);

test.each([
  ['npx trellis dev', true],
  ['npx --yes trellis dev', true],
  ['"default": ["npx", "trellis"]', true],
  ['pnpm dlx trellis', true],
  ['npx --no-install trellisdb dev', false],
  ['node_modules/.bin/trellis', false],
])('%s', (text, isAlone) => {
  expect([...text.matchAll(alone)].length > 0).toBe(isAlone);
});

test('nothing says `npx trellis`', () => {
  const files = trackedFiles().filter((path) => isText(path) && path !== 'test/docs/npx.test.ts');
  expect(files.length).toBeGreaterThan(1_000);
  const found = files.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    // Tests may name what they refuse.
    return (path.startsWith('test/') ? [alone] : [alone, fetched]).flatMap((form) =>
      [...text.matchAll(form)].map(([match]) => `${path}: ${match}`),
    );
  });
  expect(found).toEqual([]);
});
