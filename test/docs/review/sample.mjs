// Prints a random sample of the prose for a review by a person: sentences of the manual (README.md and the pages below
// server) and comments of engine, server and wasm, each with its file and line.
// Usage: node test/docs/review/sample.mjs SEED [SENTENCES] [COMMENTS]
// The same seed and the same sources print the same sample.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compiled = buildSync({
  entryPoints: [`${root}/test/docs/prose.ts`],
  bundle: true,
  format: 'esm',
  write: false,
});
const { commentsOf, paragraphsOf, sentencesOf } = await import(
  `data:text/javascript;base64,${Buffer.from(compiled.outputFiles[0].contents).toString('base64')}`
);

const [seed = '1', sentenceCount = '100', commentCount = '200'] = process.argv.slice(2);

/** Returns numbers from 0 up to 1 (mulberry32). */
function randomNumbers(start) {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomNumbers(Number(seed));

/** Returns `count` different items of a list, in the order of the list. */
function draw(items, count) {
  const left = items.map((item, at) => ({ item, at }));
  const drawn = [];
  while (drawn.length < count && left.length > 0)
    drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  return drawn.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

const tracked = (...patterns) =>
  execFileSync('git', ['ls-files', '--', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '')
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));

/** Returns the sentences of a paragraph with their code, which `sentencesOf` leaves out. */
function sentencesWithCode(text) {
  const codes = [];
  const marked = text.replace(/`[^`]*`/g, (code) => `X${codes.push(code) - 1}X`);
  return sentencesOf(marked).map((said) => said.replace(/X(\d+)X/g, (_, at) => codes[at]));
}

const wordsIn = (text) => text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

// A cell of a table with fewer than five words is a name, not a sentence.
const sentences = tracked('README.md', 'server/*.md')
  .filter(({ path }) => !path.startsWith('server/template/'))
  .flatMap(({ path, text }) =>
    paragraphsOf(text).flatMap((paragraph) =>
      sentencesWithCode(paragraph.text).map((said) => ({ ...paragraph, path, text: said })),
    ),
  )
  .filter(({ text }) => wordsIn(text) >= 5);
const comments = tracked('engine/*.ts', 'server/*.ts', 'server/*.tsx', 'wasm/*.ts')
  .flatMap(({ path, text }) => commentsOf(text).map((comment) => ({ ...comment, path })))
  .filter(({ text }) => wordsIn(text) >= 3);

for (const [title, items, count] of [
  ['sentences', sentences, Number(sentenceCount)],
  ['comments', comments, Number(commentCount)],
]) {
  const drawn = draw(items, count);
  console.log(`\n# ${drawn.length} of ${items.length} ${title}, seed ${seed}`);
  for (const { path, line, text } of drawn) console.log(`${path}:${line}  ${oneLine(text)}`);
}
