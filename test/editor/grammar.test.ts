// The TextMate grammar against the lexer: on all sources there are, what is a string, a number, a comment, a
// keyword or a type for the one is so for the other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Analysis, collectFindings } from '../../engine/lang/analysis/analyze.js';
import type { Occurrence } from '../../engine/lang/analysis/occurrence.js';
import { type Token, tokenise } from '../../engine/lang/syntax/lexer.js';
import { readSource } from '../../engine/lang/syntax/source-file.js';
import { root } from '../support/project.js';
import { corpusProjects } from '../support/source-mutation.js';
import { trackedFiles } from '../support/source-tree.js';
import { type Grammar, scopesOf } from './textmate.js';

const path = join(root, 'server/editor/helixql.tmLanguage.json');
const grammar = JSON.parse(readFileSync(path, 'utf8')) as Grammar;
const files = trackedFiles().filter((file) => file.endsWith('.hx'));
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const projects = corpusProjects().filter((_, at) => isLong || at % 6 === 0);
const sources = [
  ...files.map((file) => readFileSync(join(root, file), 'utf8')),
  ...projects.flatMap(({ schema, queries }) => [schema, queries]),
];

/** The last scope that each place was given: the innermost. */
function scopeAt(text: string): (string | undefined)[] {
  const at = new Array<string | undefined>(text.length).fill(undefined);
  for (const { start, end, scope } of scopesOf(grammar, text)) at.fill(scope, start, end);
  return at;
}

const wanted = ({ kind }: Token): RegExp | undefined => {
  if (kind === 'string') return /^(string|constant\.character)/;
  if (kind === 'integer' || kind === 'float') return /^constant\.numeric/;
  if (kind === 'symbol') return /^(?!string|comment|constant)/;
  return kind === 'name' ? /^(?!string|comment|constant\.numeric)/ : undefined;
};

test('W11 strings, numbers, comments and names are those of the lexer', () => {
  let told = 0;
  for (const text of sources) {
    const faults: string[] = [];
    const file = readSource('a.hx', text);
    const tokens = tokenise(file, 1_000, (code) => faults.push(code));
    if (faults.length > 0) continue;
    const scopes = scopeAt(file.text);
    let end = 0;
    for (const token of tokens) {
      for (let at = end; at < token.start; at++) {
        const isComment = scopes[at]?.startsWith('comment') ?? false;
        if (/\S/.test(file.text[at]!) !== isComment && /\S/.test(file.text[at]!))
          expect.fail(`no comment: ${file.text.slice(at, at + 20)}`);
      }
      const form = wanted(token);
      for (let at = token.start; at < token.end; at++)
        if (form !== undefined && !form.test(scopes[at] ?? ''))
          expect.fail(
            `${token.kind} ${token.text} is ${scopes[at]} in ${text.slice(Math.max(0, at - 80), at + 40)}`,
          );
      end = token.end;
      told++;
    }
  }
  expect(told).toBeGreaterThan(5_000);
});

test('W11 what the compiler takes for a type, a step or a value is so for the grammar', () => {
  const forms: Partial<Record<Occurrence['role'], RegExp>> = {
    type: /^(entity\.name\.type|support\.type)/,
    step: /^entity\.name\.function\.step/,
    // What somebody chose a name for is no keyword.
    variable: /^(?!keyword|storage|string|comment|constant)/,
    parameter: /^(?!keyword|storage|string|comment|constant)/,
    query: /^(?!keyword|storage|string|comment|constant)/,
  };
  // Where a name is one of the language's own words, only a compiler can tell.
  const own =
    'QUERY RETURN FOR IN DROP MIGRATION schema UNIQUE INDEX DEFAULT From To Properties AS ' +
    'NONE NOW true false';
  const words = new Set(own.split(' '));
  let told = 0;
  for (const given of projects) {
    const { schema, queries } = given;
    const texts = [schema, queries].map((text, at) => ({ path: `${at}.hx`, text }));
    const analysis = new Analysis(collectFindings(texts, { compat: false }));
    if (analysis.diagnostics.some(({ severity }) => severity === 'error')) continue;
    for (const { path, text } of texts) {
      const scopes = scopeAt(readSource(path, text).text);
      for (const { role, span, name } of analysis.occurrences(path)) {
        const form = forms[role];
        // W103 warns of a type in small letters.
        const isOdd = role === 'type' && /^[a-z]/.test(name);
        // A grammar reads line by line: what stands on a line of its own might be anything.
        const isAlone = !/\S/.test(text.slice(text.lastIndexOf('\n', span.start - 1), span.start));
        if (form === undefined || words.has(name) || isOdd || isAlone) continue;
        told++;
        const scope = scopes[span.start] ?? '';
        if (!form.test(scope))
          expect.fail(
            `${role} ${name} is ${scope} in ${text.slice(span.start - 60, span.end + 20)}`,
          );
      }
    }
  }
  expect(told).toBeGreaterThan(1_000);
});

test('W11 keywords and types are named', () => {
  const scopes = (text: string, word: string): string | undefined =>
    scopeAt(text)[text.indexOf(word)];
  const text = `#[mcp] QUERY all(ids: [ID], n: U8 = 5) =>
    FOR id IN ids { DROP N<Work>(id) }
    x <- N<Person>({name: "A"})::Out<Wrote>::ORDER<Asc>(_::{year}) // c
    RETURN NONE, COALESCE(x, 1.5)
E::Wrote UNIQUE { From: Person, To: Work }`;
  for (const word of ['QUERY', 'FOR', 'IN ids', 'DROP', 'RETURN', 'Asc'])
    expect([word, scopes(text, word)]).toEqual([word, 'keyword.control.helixql']);
  for (const word of ['Person>', 'Wrote>', 'Work>', 'Wrote UNIQUE'])
    expect([word, scopes(text, word)]).toEqual([word, 'entity.name.type.helixql']);
  for (const word of ['ID]', 'U8']) expect(scopes(text, word)).toBe('support.type.helixql');
  expect(scopes(text, 'Out<')).toBe('entity.name.function.step.helixql');
  expect(scopes(text, 'COALESCE')).toBe('support.function.helixql');
  expect(scopes(text, '_::')).toBe('variable.language.helixql');
  expect(scopes(text, 'NONE')).toBe('constant.language.helixql');
  expect(scopes(text, 'UNIQUE')).toBe('storage.modifier.helixql');
});
