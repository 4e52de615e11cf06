// `SEARCH` in schemas: what is searched, weights, languages, beginnings of words, the modes of a search, and
// the rebuild of an index when a mark changes.
import { afterEach, expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { formatSource } from '../../engine/lang/format/format.js';
import { LoneDatabase } from '../schema/lone-database.js';

let database: LoneDatabase;
afterEach(() => database.dispose());

const queries = `
QUERY add(no: I64, title: String, body: String) =>
  d <- AddN<Doc>({ no, title, body, tag: "zebra" })
  RETURN d::ID
QUERY change(no: I64, body: String) => d <- N<Doc>({ no: no })::UPDATE({ body }) RETURN d::ID
QUERY drop(no: I64) => DROP N<Doc>({ no: no }) RETURN NONE
QUERY find(text: String, mode: String) =>
  d <- SearchBM25<Doc>(text, 20, mode: mode)
  RETURN d::{ no }
`;
const withPrefix = `${queries}
QUERY starts(text: String, is: Boolean) =>
  d <- SearchBM25<Doc>(text, 20, prefix: is)
  RETURN d::{ no }
`;
const schema = (title: string, body = 'body', tag = 'tag') =>
  `N::Doc { INDEX no: I64, ${title}: String, ${body}: String, ${tag}: String }\n`;

const numbers = (reply: unknown): number[] =>
  (reply as { d: { no: number }[] }).d.map(({ no }) => no);
const find = (text: string, mode = 'any'): number[] =>
  numbers(database.call('find', { text, mode }));
const add = (no: number, title: string, body = ''): void =>
  void database.call('add', { no, title, body });

test('TX08: with SEARCH, only the properties that bear it are searched', () => {
  database = new LoneDatabase().open(schema('SEARCH title') + queries);
  add(1, 'heron', 'stork');
  expect([find('heron'), find('stork'), find('zebra')]).toEqual([[1], [], []]);
  database.call('change', { no: 1, body: 'crane' });
  expect(find('heron')).toEqual([1]);
  database.call('drop', { no: 1 });
  expect(find('heron')).toEqual([]);
  expect(database.verify()).toEqual([]);
});

test('TX08: a weight ranks a property higher, and a property has its language', () => {
  const marks = schema('SEARCH(weight: 5) title', 'SEARCH(language: "german") body');
  database = new LoneDatabase().open(marks + queries);
  add(1, 'cats and dogs', 'Wald Wald Wald');
  add(2, 'Wald', 'die Häuser');
  expect(find('Wald')).toEqual([2, 1]);
  expect(find('Haus')).toEqual([2]);
  expect(find('cat')).toEqual([1]);
  expect(find('cats Häusern')).toHaveLength(2);
  expect(database.verify()).toEqual([]);
});

test('TX09: a mark that comes, changes or goes rebuilds the index of its type', () => {
  database = new LoneDatabase().open(schema('title') + queries);
  for (let no = 1; no <= 300; no++) add(no, `heron ${no}`, 'die Häuser');
  const steps: [source: string, tag: number, haus: number][] = [
    [schema('SEARCH title'), 0, 0],
    [schema('SEARCH title', 'SEARCH(language: "german") body'), 0, 20],
    [schema('SEARCH(weight: 9) title', 'SEARCH(language: "german", prefix: true) body'), 0, 20],
    [schema('title'), 20, 0],
  ];
  for (const [source, tag, haus] of steps) {
    database.reload(source + queries);
    expect(database.verify(), source).toEqual([]);
    expect([find('zebra').length, find('Haus').length], source).toEqual([tag, haus]);
  }
});

test('TX10: modes ask for any word, all words or a phrase', () => {
  database = new LoneDatabase().open(schema('SEARCH title') + queries);
  add(1, 'The old man and the sea');
  add(2, 'The sea, and an old man in it');
  add(3, 'Old houses');
  add(4, 'We go to 北京大学 today');
  add(5, '京大 北京 and 大学');
  expect(find('old man').sort()).toEqual([1, 2, 3]);
  expect(find('old man', 'all').sort()).toEqual([1, 2]);
  expect(find('men old', 'all')).toEqual([]);
  expect(find('the old man', 'phrase')).toEqual([1]);
  expect(find('man and the sea', 'phrase')).toEqual([1]);
  expect(find('sea and the man', 'phrase')).toEqual([]);
  expect(find('北京大学', 'phrase')).toEqual([4]);
  expect(find('北京大学', 'all').sort()).toEqual([4, 5]);
  expect(() => find('x', 'fuzzy')).toThrow(/mode/);
});

test('TX10: a query as people type it never fails', () => {
  database = new LoneDatabase().open(schema('SEARCH title') + queries);
  add(1, 'red apples and green pears');
  add(2, 'green apples');
  add(3, 'red roses');
  const cases: [text: string, found: number[]][] = [
    ['apples roses', [1, 2, 3]],
    ['"green apples"', [2]],
    ['apples -green', []],
    ['red -apples', [3]],
    ['+red apples', [1, 3]],
    ['-"green apples" green', [1]],
    ['"red apples" -roses', [1]],
    ['-red', []],
    ['"', []],
    ['"unclosed apples', [1, 2]],
    ['+ - " *', []],
    ['-- ++apples', [1, 2]],
    ['red-apples', [1, 2, 3]],
    ['', []],
  ];
  for (const [text, found] of cases) expect(find(text, 'query').sort(), text).toEqual(found);
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: random(12) }, () => '"+-* ab()\\/:~^é京'[random(16)]).join(
      '',
    );
    for (const mode of ['any', 'all', 'phrase', 'query'])
      expect(() => find(text, mode)).not.toThrow();
  }
});

test('TX11: the beginning of a word finds it where the schema keeps beginnings', () => {
  database = new LoneDatabase().open(schema('SEARCH(prefix: true) title') + withPrefix);
  add(1, 'Running shoes');
  add(2, 'a runner');
  add(3, 'Rundfunkgebühr');
  add(4, 'walking');
  const starts = (text: string, is = true): number[] =>
    numbers(database.call('starts', { text, is })).sort();
  expect(starts('runn')).toEqual([1, 2]);
  expect(starts('RUND')).toEqual([3]);
  expect(starts('rundfunkgebu')).toEqual([3]);
  expect(starts('run')).toEqual([1, 2, 3]);
  expect(starts('runn', false)).toEqual([]);
  expect(starts('walking run')).toEqual([1, 2, 3, 4]);
  expect(find('runn*', 'query').sort()).toEqual([1, 2]);
  expect(database.verify()).toEqual([]);
});

test('a property may be called SEARCH, and the formatter keeps marks', () => {
  const source =
    'N::A { SEARCH: String, INDEX SEARCH(weight: 2, language: "french") t: [String] }\n\nQUERY q() =>\n    RETURN 1\n';
  const { program, diagnostics } = compile([{ path: 'a.hx', text: source }], { compat: false });
  expect(diagnostics).toEqual([]);
  expect(program?.schema.nodes[0]?.properties).toMatchObject([
    { name: 'SEARCH' },
    { name: 't', index: 'index', search: { weight: 2, language: 'french' } },
  ]);
  expect(formatSource('a.hx', source)).toEqual({ text: source });
  database = new LoneDatabase().open(source);
  expect(database.verify()).toEqual([]);
});
