// The formatter over every source there is, with layouts and comments at random: the
// same tokens, the same comments, the same program, and nothing left to do the second time.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { compile } from '../../engine/lang/compile.js';
import { formatSource } from '../../engine/lang/format/format.js';
import { type Token, tokenise } from '../../engine/lang/syntax/lexer.js';
import { readSource } from '../../engine/lang/syntax/source-file.js';
import { blocksOf, readManual } from '../support/page.js';
import { root } from '../support/project.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';
import { trackedFiles } from '../support/source-tree.js';
import { corpusProjects, Mutator } from '../support/source-mutation.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const files = trackedFiles().filter((path) => path.endsWith('.hx'));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const projects = corpusProjects();
const sources: string[] = [
  ...files.map(read),
  ...readManual()
    .flatMap(blocksOf)
    .filter(({ language }) => language === 'hx')
    .map(({ text }) => text),
  ...new Set(projects.flatMap(({ schema, queries }) => [schema, queries])),
];

const tokensIn = (text: string): Token[] =>
  tokenise(readSource('a.hx', text), defaultLimits.source_name, () => undefined);
const written = (text: string): string[] =>
  tokensIn(text).map(({ kind, start, end }) => (kind === 'end' ? 'end' : text.slice(start, end)));

/** What stands between tokens, without its white space. */
function commentsIn(text: string): string[] {
  let at = 0;
  return tokensIn(text).flatMap(({ start, end }) => {
    const gap = text.slice(at, start);
    at = end;
    return (gap.match(/\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g) ?? []).map((each) =>
      each.trimEnd().replaceAll(/\s+/g, ' '),
    );
  });
}

function formatted(text: string): string | undefined {
  const done = formatSource('a.hx', text);
  return 'text' in done ? done.text : undefined;
}

/** Everything that must hold of a text; gives it formatted, or undefined where it cannot be read. */
function check(text: string): string | undefined {
  const once = formatted(text);
  if (once === undefined) return undefined;
  expect(written(once)).toEqual(written(text));
  expect(commentsIn(once)).toEqual(commentsIn(text));
  expect(formatted(once)).toBe(once);
  // What stands inside of a comment of several lines is its writer's.
  const bare = once.replace(/\/\*[\s\S]*?\*\//g, '/**/');
  for (const line of bare.split('\n')) expect(line).toBe(line.trimEnd());
  return once;
}

/** The runner hears nothing of a test that never waits, and gives it up after a minute. */

describe('W10 trellis fmt', () => {
  test('is idempotent, and keeps every token and comment of all corpora', () => {
    const some = isLong ? sources : sources.filter((_, at) => at % 8 === 0);
    const done = some.filter((text) => check(text) !== undefined);
    expect(done.length).toBeGreaterThan(some.length / 2);
  });

  test('gives the same plans', () => {
    const folders = [...new Set(files.map((path) => dirname(path)))];
    const corpora = [
      ...folders.map((folder) => files.filter((path) => dirname(path) === folder).map(read)),
      ...(isLong ? projects : projects.slice(0, 40)).map(({ schema, queries }) => [
        schema,
        queries,
      ]),
    ];
    for (const given of corpora) {
      const after = given.map((text) => formatted(text) ?? text);
      const programs = [given, after].map((texts) => {
        const named = texts.map((text, at) => ({ path: `${at}.hx`, text }));
        const { program } = compile(named, { compat: false });
        // Their text is what has changed.
        return program?.queries.map((query) => ({ ...query, written: '' }));
      });
      expect(programs[1]).toEqual(programs[0]);
    }
  });

  test('formats any source, with comments anywhere', async () => {
    const random = new Random(7);
    const gaps = [
      '',
      ' ',
      '\n',
      '\n\n\n',
      '\t',
      ' // a  ',
      ' /* b */ ',
      '\n  // c\n',
      '\n/* d\n e */',
      '\r\n',
    ];
    let tried = 0;
    for (let round = 0; round < (isLong ? 10_000 : 60); round++) {
      if (round % 500 === 499) await nextTurn();
      const text = random.pick(sources);
      if (text.length > 20_000) continue;
      const rate = random.pick([0.02, 0.1, 0.5]);
      const parts = written(text)
        .slice(0, -1)
        .map((token) => {
          if (!random.chance(rate)) return `${token} `;
          const gap = random.pick(gaps);
          return `${token}${gap}${gap.includes('//') && !gap.includes('\n') ? '\n' : ' '}`;
        });
      if (check(parts.join('')) !== undefined) tried++;
    }
    expect(tried).toBeGreaterThan(30);
  });

  test('never fails on mutated sources', async () => {
    const mutator = new Mutator(projects);
    let read = 0;
    for (let seed = 0; seed < (isLong ? 15_000 : 40); seed++) {
      if (seed % 500 === 499) await nextTurn();
      for (const { text } of mutator.sources(seed).sources)
        if (check(new TextDecoder().decode(new TextEncoder().encode(text as string))) !== undefined)
          read++;
    }
    expect(read).toBeGreaterThan(3);
  });

  test('has one style', () => {
    const text = `
N::Person{UNIQUE INDEX name:String,tags:[String],age:U8 DEFAULT 3}   // who
E::Knows UNIQUE{From:Person,To:Person,Properties:{
since:Date DEFAULT NOW}}
// The friends.
#[mcp] QUERY friends(name:String,most:U8=5)=>p<-N<Person>({name:name})
  FOR {a,b} IN rows{ AddE<Knows>::From(a)::To(b) }   RETURN p::Out<Knows>{1,3}
::WHERE(AND(!EXISTS(_::In<Knows>),_::{age}::GT(18)))::ORDER<Desc NULLS LAST>(_::{age})
  ::RANGE(0,most)::{name,age,..},p::!{age}
`;
    expect(
      formatted(text),
    ).toBe(`N::Person { UNIQUE INDEX name: String, tags: [String], age: U8 DEFAULT 3 } // who
E::Knows UNIQUE {
    From: Person,
    To: Person,
    Properties: {
        since: Date DEFAULT NOW
    }
}

// The friends.
#[mcp]
QUERY friends(name: String, most: U8 = 5) =>
    p <- N<Person>({name: name})
    FOR {a, b} IN rows {
        AddE<Knows>::From(a)::To(b)
    }
    RETURN p
            ::Out<Knows>{1, 3}
            ::WHERE(AND(!EXISTS(_::In<Knows>), _::{age}::GT(18)))
            ::ORDER<Desc NULLS LAST>(_::{age})
            ::RANGE(0, most)
            ::{name, age, ..},
        p::!{age}
`);
  });

  test('leaves the demo and the templates as they are, and refuses what cannot be read', () => {
    for (const path of files.filter((path) => /^server\/(demo|template)\//.test(path)))
      expect([path, formatted(read(path))]).toEqual([path, read(path)]);
    expect(formatSource('a.hx', 'QUERY (')).toMatchObject({ diagnostics: [{ code: 'E001' }] });
  });
});
