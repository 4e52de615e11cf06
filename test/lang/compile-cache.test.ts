// The cache of the analysis (engine/lang/compile-cache.ts) changes only its time. For any edit in a project,
// the analysis and the completions equal those of a compiler without a cache.
import { expect, test } from 'vitest';
import { type Analysis, analyze } from '../../engine/lang/analysis/analyze.js';
import { complete } from '../../engine/lang/analysis/complete.js';
import { CompileCache } from '../../engine/lang/compile-cache.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';
import { examplesText, gardenText } from './garden.js';

const edits = process.env.TRELLIS_TEST_LONG === '1' ? 1_500 : 16;
const options = { compat: false };

/** Everything that an analysis tells. */
const told = (analysis: Analysis) => ({
  diagnostics: analysis.diagnostics,
  files: analysis.paths.map((path) => [
    analysis.occurrences(path),
    analysis.outline(path).map((item) => [item, analysis.query(item.name)]),
  ]),
});

const parts = examplesText.split(/(?=^QUERY )/m);
const whole: Record<string, string> = {
  'a.hx': parts.slice(0, parts.length / 2).join(''),
  'b.hx': parts.slice(parts.length / 2).join(''),
  'schema.hx': gardenText,
};
const sourcesOf = (texts: Record<string, string>) =>
  Object.entries(texts).map(([path, text]) => ({ path, text }));

const pieces = [
  '{',
  '}',
  '(',
  ')',
  '::',
  '<-',
  '"',
  '/*',
  'QUERY ',
  'x',
  'RETURN ',
  '\n',
  'N<',
  '#',
];

/** One key, or a few: mostly at one end of what is there, as people type. */
function edited(text: string, random: Random): { text: string; at: number } {
  const at = random.chance(0.3) ? text.length : random.below(text.length + 1);
  const cut = random.chance(0.4) ? random.below(6) : 0;
  const typed = random.chance(0.7) ? random.pick(pieces) : '';
  return { text: text.slice(0, at) + typed + text.slice(at + cut), at: at + typed.length };
}

test('an analysis with a cache reports the same as one without', async () => {
  const random = new Random(17);
  const memo = new CompileCache();
  let texts = whole;
  for (let edit = 0; edit < edits; edit++) {
    if (edit % 100 === 99) await nextTurn();
    // Two or three edits away from sources without a fault, or back there.
    if (random.chance(0.4)) texts = whole;
    const path = random.pick(random.chance(0.85) ? ['a.hx', 'b.hx'] : ['schema.hx']);
    const { text, at } = edited(texts[path]!, random);
    texts = { ...texts, [path]: text };
    const sources = sourcesOf(texts);
    const where = `edit ${edit} of ${path} at ${at}`;
    const remembering = analyze(sources, { ...options, memo });
    expect(told(remembering), where).toEqual(told(analyze(sources, options)));
    const next = complete(sources, path, at, { ...options, memo });
    expect(next, where).toEqual(complete(sources, path, at, options));
  }
});

test('a query that is what it was is not checked again', () => {
  const memo = new CompileCache();
  const plansOf = (texts: Record<string, string>) => {
    const analysis = analyze(sourcesOf(texts), { ...options, memo });
    return analysis.paths.flatMap((path) =>
      analysis.outline(path).map(({ name }) => analysis.query(name)?.plan),
    );
  };
  const before = plansOf(whole);
  const after = plansOf({ ...whole, 'b.hx': `${whole['b.hx']}\n\nQUERY another() => RETURN 1` });
  const kept = new Set(before);
  expect(after.filter((plan) => !kept.has(plan))).toHaveLength(1);
  // With another schema nothing is what it was.
  const types = `${gardenText}\nN::Stranger { name: String }`;
  expect(
    plansOf({ ...whole, 'schema.hx': types }).filter((plan) => plan && kept.has(plan)),
  ).toEqual([]);
});
