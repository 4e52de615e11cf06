// The prose of comments and pages as a ratchet: how many offences each folder has left (prose-left.json). The
// numbers may only become smaller. `TRELLIS_PROSE=engine/text npx vitest run --config test/vitest.config.ts
// test/docs/prose.test.ts` prints those of a folder or page, and TRELLIS_PROSE=write notes the numbers of today.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readManual } from '../support/page.js';
import { root } from '../support/project.js';
import { commentsOf, judge, type Offence, paragraphsOf, sentencesOf } from './prose.js';
import { readSources } from '../support/source-tree.js';

const wanted = process.env.TRELLIS_PROSE;
const file = join(root, 'test/docs/prose-left.json');

const ofComments = readSources('engine', 'server', 'wasm').flatMap(({ path, text }) =>
  commentsOf(text).flatMap((passage) => judge(path, passage, 30)),
);
const ofPages = readManual().flatMap(({ path, text }) =>
  paragraphsOf(text).flatMap((passage) => judge(path, passage, 30)),
);

/** Comments by folder, pages by page. */
function count(): Record<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, list: Offence[]): void => {
    for (const { path } of list) {
      const key = name === 'page' ? path : dirname(path);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  };
  add('comment', ofComments);
  add('page', ofPages);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('the prose of comments and pages becomes plainer, and never less plain', () => {
  const now = count();
  if (wanted === 'write') writeFileSync(file, `${JSON.stringify(now, undefined, 1)}\n`);
  else if (wanted)
    for (const { path, line, rule, text } of [...ofComments, ...ofPages])
      if (path.startsWith(wanted)) process.stderr.write(`${path}:${line} ${rule}\n    ${text}\n`);
  const left = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  const worse = Object.entries(now).filter(([name, n]) => n > (left[name] ?? 0));
  expect(worse.map(([name, n]) => `${name}: ${n} offences, ${left[name] ?? 0} were left`)).toEqual(
    [],
  );
});

test('the rules find what they are for, and let plain sentences pass', () => {
  const rulesOf = (text: string) => judge('x', { line: 1, text }, 30).map(({ rule }) => rule);
  expect(rulesOf('Of all labels.')).toEqual(['a sentence without a subject']);
  expect(rulesOf('Whoever asks is told anew.')).toHaveLength(3);
  expect(rulesOf('The writer appends the ids that each commit changed.')).toEqual([]);
  expect(rulesOf(`The server ${'really '.repeat(30)}reads.`)).toEqual(['33 words in a sentence']);
  expect(rulesOf('Run `told anew` to see it.')).toEqual([]);
  expect(sentencesOf('One idea. Two ideas: `a. B` is code. Three?')).toHaveLength(4);
});
