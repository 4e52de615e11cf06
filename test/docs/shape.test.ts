// The shape of the manual (server/docs): the index names every page, each page begins with its reader and
// its questions, shows an example soon, and a guide ends with three next steps.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOf, readManual } from '../support/page.js';
import { root } from '../support/project.js';

const folder = 'server/docs';
const index = `${folder}/README.md`;
const guideBytes = 12_000;

const pages = readManual().filter(({ path }) => path.startsWith(`${folder}/`));
const isGuide = (path: string): boolean => /^server\/docs\/(guides|start)\//.test(path);
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map((match) => match[1]!);

test('the index names every page', () => {
  const text = pages.find(({ path }) => path === index)?.text ?? '';
  const named = new Set(linksIn(text).map((link) => join(folder, link)));
  expect(
    pages.map(({ path }) => path).filter((path) => path !== index && !named.has(path)),
  ).toEqual([]);
});

test('a folder has at most 20 pages', () => {
  const folders = [...new Set(pages.map(({ path }) => dirname(path)))];
  const files = (path: string): number =>
    readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => entry.isFile()).length;
  expect(folders.filter((path) => files(path) > 20)).toEqual([]);
});

/** Pages of short sections, which have nothing to show. */
const withoutExample = new Set(['server/docs/operate/known-issues.md']);

describe.each(pages)('$path', ({ path, text: written }) => {
  /** Without the comment of a generated page. */
  const text = written.replace(/^(# .*\n\n)<!--[\s\S]*?-->\s*/, '$1');
  const lines = text.split('\n');

  test('begins with its reader and what it answers', () => {
    expect(lines[0]).toMatch(/^# \S/);
    const first = text.split('\n\n')[1] ?? '';
    expect(first).toMatch(/\b(for|you|your|explains?|answers?|lists?|shows?|describes?)\b/i);
    expect(first).not.toMatch(/[Ww]hoever/);
    expect(first.match(/[.!?](\s|$)/g)?.length ?? 0).toBeGreaterThanOrEqual(2);
  });

  test.skipIf(withoutExample.has(path))('shows something within 30 lines', () => {
    const example = lines.findIndex((line) => /^(```|\||1\. |- )/.test(line));
    expect(example).toBeGreaterThan(0);
    expect(example).toBeLessThan(30);
  });

  if (isGuide(path))
    test('is a guide: short, with an example that runs and next steps', () => {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(guideBytes);
      const next = text.split(/^## Next steps$/m)[1] ?? '';
      expect(linksIn(next).length).toBeGreaterThanOrEqual(3);
      expect(next).not.toMatch(/^## /m);
      if (path.includes('/guides/'))
        expect(
          blocksOf({ path, text }).filter(({ info }) => !info.startsWith('not-run')),
        ).not.toEqual([]);
    });
});
