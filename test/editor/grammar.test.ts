// The TextMate grammar against the lexer: on all sources there are, what is a string, a number, a comment, a
// keyword or a type for the one is so for the other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Token, tokenise } from '../../engine/lang/syntax/lexer.js';
import { readSource } from '../../engine/lang/syntax/source.js';
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
