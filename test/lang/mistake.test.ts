// Mistakes of newcomers, from the habits of other languages, each with the first diagnostic. Also the error
// that a single wrong token causes, which must be reported at its position, one time.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import type { Diagnostic } from '../../engine/lang/syntax/diagnostic.js';
import { Random } from '../support/random.js';
import { compileGarden, examplesText, gardenText } from './garden.js';

/**
 * Habit, source added to the garden schema, `code line:column`, hint (or message), number of diagnostics.
 */
type Mistake = [habit: string, source: string, first: string, hint: string, count: number];

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const mistakes = JSON.parse(read('./mistakes.json')) as Mistake[];

const compiled = new Map<string, Diagnostic[]>();

/** Diagnostics of a source added to the garden schema. Each source is compiled one time. */
function told(source: string): Diagnostic[] {
  const known =
    compiled.get(source) ?? compileGarden(source).diagnostics.filter(({ file }) => file === 'q.hx');
  compiled.set(source, known);
  return known;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

describe('mistakes out of other habits', () => {
  test.each(mistakes)('%s: %s', (_, source, first, hint, count) => {
    const faults = told(source);
    const [fault] = faults;
    expect(`${fault?.code} ${fault?.line}:${fault?.column}`).toBe(first);
    expect(fault?.hint ?? fault?.message).toBe(hint);
    expect(faults).toHaveLength(count);
  });

  test('are reported one time, and with what to write instead', () => {
    const counts = mistakes.map(([, , , , count]) => count);
    console.info(`${mistakes.length} mistakes, ${mean(counts).toFixed(2)} diagnostics each`);
    expect(mistakes.length).toBeGreaterThan(400);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    const withHint = mistakes.filter(([, source]) => told(source).at(-1)?.hint);
    expect(withHint.length / mistakes.length).toBeGreaterThan(0.95);
  });
});

/** A project: its declarations, and its queries one by one. */
interface Corpus {
  schema: string;
  queries: string[];
}

const split = (text: string): string[] =>
  text.split(/(?=^QUERY )/m).filter((part) => /QUERY/.test(part));
const demo = (name: string) => read(`../../server/demo/${name}.hx`);
const corpora: Corpus[] = [
  { schema: gardenText, queries: split(examplesText) },
  { schema: demo('schema'), queries: [...split(demo('queries')), ...split(demo('load'))] },
];

const token = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|[A-Za-z]\w*|\d+(?:\.\d+)?|::|<-|=>|\.\.|[^\s\w]/g;

interface Mutant {
  what: string;
  text: string;
  /** Line of the token that was touched. */
  line: number;
}

/** One token less, twice, or replaced by another of the same text. */
function mutate(text: string, random: Random): Mutant {
  const tokens = [...text.matchAll(token)].filter(([word]) => !word.startsWith('//'));
  const at = random.pick(tokens);
  const [word] = at;
  const before = text.slice(0, at.index);
  const after = text.slice(at.index + word.length);
  const line = before.split('\n').length;
  const [other] = random.pick(tokens);
  const made = random.pick([
    ['without', ''],
    ['twice', `${word} ${word}`],
    [`${other} for`, ` ${other} `],
  ] as const);
  return { what: `${made[0]} ${word}`, text: before + made[1] + after, line };
}

/** Diagnostics of one mutated file of a project whose other files are valid. */
function faultsOf(mutant: Mutant, others: readonly string[]) {
  const sources = [{ path: 'own.hx', text: mutant.text }];
  for (const [at, text] of others.entries()) sources.push({ path: `z${at}.hx`, text });
  return compile(sources, { compat: false }).diagnostics.filter((d) => d.severity === 'error');
}

/** Lines between the mutated token and the first fault; another file is far away. */
const distance = ({ line }: Mutant, faults: ReturnType<typeof faultsOf>): number =>
  faults[0]!.file === 'own.hx' ? Math.abs(faults[0]!.line - line) : Number.POSITIVE_INFINITY;

describe('the error that one wrong token causes', () => {
  const long = process.env.TRELLIS_TEST_LONG === '1';

  function measure(name: string, runs: number, pick: (random: Random) => [Mutant, string[]]) {
    const distances: number[] = [];
    const counts: number[] = [];
    let worst = '';
    for (let seed = 1; seed <= runs; seed++) {
      const [mutant, others] = pick(new Random(seed));
      const faults = faultsOf(mutant, others);
      if (faults.length === 0) continue;
      distances.push(distance(mutant, faults));
      if (faults.length > Math.max(0, ...counts)) worst = `seed ${seed}, ${mutant.what}`;
      counts.push(faults.length);
    }
    const near = distances.filter((lines) => lines <= 1).length / distances.length;
    const few = counts.filter((count) => count <= 3).length / counts.length;
    console.info(
      `${name}: ${distances.length} faults; ${(100 * near).toFixed(1)} % told within a line, ` +
        `${mean(counts).toFixed(2)} errors each, ${(100 * few).toFixed(1)} % at most 3, ` +
        `most ${Math.max(...counts)} (${worst})`,
    );
    return { near, few, mean: mean(counts) };
  }

  test('in a query is reported near it and one time', () => {
    const found = measure('queries', long ? 20_000 : 500, (random) => {
      const { schema, queries } = random.pick(corpora);
      return [mutate(random.pick(queries), random), [schema]];
    });
    expect(found.near).toBeGreaterThan(0.9);
    expect(found.mean).toBeLessThan(2);
    expect(found.few).toBeGreaterThan(0.9);
  });

  test('in a schema is reported there, and not again by every query', () => {
    const found = measure('schemas', long ? 2_000 : 30, (random) => {
      const { schema, queries } = random.pick(corpora);
      return [mutate(schema, random), [queries.join('\n')]];
    });
    expect(found.near).toBeGreaterThan(0.9);
  });
});
