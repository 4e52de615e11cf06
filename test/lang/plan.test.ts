// What forms of the language become: printed plans of short queries.
import { expect, test } from 'vitest';
import { faultsOf, planLines, planOf, queryOf } from './garden.js';

/** Query bodies, their parameters if any, and the printed plan. */
const cases: [name: string, parameters: string, body: string, plan: string[]][] = [
  [
    'a union of types',
    '',
    'RETURN N<Bed, Plant>',
    ['return data: (scan N<Bed>, N<Plant> -> many)'],
  ],
  [
    'an indexed equality after a scan asks the index',
    'c: String',
    'RETURN N<Gardener>::WHERE(_::{city}::EQ(c))',
    ['return data: (find N<Gardener> by index city = @c -> many)'],
  ],
  [
    'the rest of a conjunction stays a condition',
    'c: String',
    'RETURN N<Gardener>::WHERE(AND(_::{level}::GT(1), _::{city}::EQ(c)))',
    ['return data: (find N<Gardener> by index city = @c | where $0: ($0.level GT 1) -> many)'],
  ],
  [
    'an optional parameter may be null: the path is left when the value is known',
    'c?: String',
    'RETURN N<Gardener>::WHERE(_::{city}::EQ(c))',
    ['return data: (find N<Gardener> by index city = @c -> many)'],
  ],
  [
    'an equality that another test might fail before stays a condition',
    'c: String',
    'RETURN N<Gardener>::WHERE(AND(DIV(1, _::{level})::GT(1), _::{city}::EQ(c)))',
    [
      'return data: (scan N<Gardener> | where $0: and((DIV(1, $0.level) GT 1), ($0.city EQ @c)) -> many)',
    ],
  ],
  [
    'a lookup inside a condition may miss',
    '',
    'RETURN N<Bed>::WHERE(_::EQ(N<Bed>({code: "A"})))',
    [
      'return data: (scan N<Bed> | where $0: ($0 EQ once(single((lookup N<Bed>.code = "A" or nothing -> many) or null))) -> many)',
    ],
  ],
  [
    'a lookup inside EXISTS may miss',
    'e: String',
    'RETURN EXISTS(N<Gardener>({email: e}))',
    ['return data: exists((lookup N<Gardener>.email = @e first or nothing -> opt))'],
  ],
  [
    'a bound lookup does not excuse an upsert, one in the chain does',
    'c: String',
    'b <- N<Bed>({code: c}) x <- b::UpsertN({code: c}) RETURN x',
    [
      '$0 = (lookup N<Bed>.code = @c -> many)',
      '$2 = ($0 | upsert N<Bed> $1: {code: @c} -> one)',
      'return x: $2',
    ],
  ],
  [
    'an id names an existing element, also before an upsert',
    'b: ID',
    'x <- N<Bed>(b)::UpsertN({code: "A"}) RETURN x',
    ['$1 = (byId N<Bed> @b | upsert N<Bed> $0: {code: "A"} -> one)', 'return x: $1'],
  ],
  [
    'literals become what the property holds',
    '',
    'x <- AddN<Gardener>({joined: "2026-03-01", level: 3, name: NONE}) RETURN x',
    [
      '$0 = addNode Gardener {joined: date 2026-03-01T00:00:00+00:00, level: 3, name: unset}',
      'return x: $0',
    ],
  ],
  [
    'ids are read in either letter case',
    '',
    'RETURN N<Bed>("0193E2F0-5D1C-7CC2-9D7E-0A4D7C1F3B21")',
    ['return data: (byId N<Bed> id 0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21 -> one)'],
  ],
  [
    'NOW is a value',
    '',
    'RETURN N<Gardener>::WHERE(_::{joined}::LT(NOW))',
    ['return data: (scan N<Gardener> | where $0: ($0.joined LT now) -> many)'],
  ],
  [
    'a literal beside a Date is a date',
    '',
    'RETURN N<Gardener>::WHERE(_::{joined}::IS_IN(["2026-03-01"]))',
    [
      'return data: (scan N<Gardener> | where $0: ($0.joined IS_IN [date 2026-03-01T00:00:00+00:00]) -> many)',
    ],
  ],
  [
    'any string of a stream contains',
    'g: ID',
    'RETURN EXISTS(N<Gardener>(g)::WHERE(_::Out<Grows>::{name}::CONTAINS("e")))',
    [
      'return data: exists((byId N<Gardener> @g or nothing | where $0: (($0 | out Grows | map $1: $1.name -> many) CONTAINS any "e") or, asked of many, back along in Grows from each of (scan N<Plant> | where $2: ($2.name CONTAINS "e") -> many) -> opt))',
    ],
  ],
  [
    'a Boolean property is a condition, a stream of them asks for any',
    '',
    'RETURN N<Bed>::WHERE(!_::OutE<Lane>::{muddy})',
    [
      'return data: (scan N<Bed> | where $0: not((($0 | out edges Lane | map $1: $1.muddy -> many) EQ any true)) -> many)',
    ],
  ],
  [
    'a shape is named by later steps: alias first, then property',
    '',
    'RETURN N<Plant>::{name: species, n: _::Out<Tells>::COUNT}::WHERE(AND(_::{n}::GT(0), _::{name}::EQ("x"), _::{stock}::GT(0)))',
    [
      'return data: project (find N<Plant> by index species = "x" | where $1: and(exists(($1 | out Tells -> many)) or, asked of many, at each of (scan E<Tells> | from end -> many), ($1.stock GT 0)) -> many) as $0 {name: $0.species, n: ($0 | out Tells | count -> one)}',
    ],
  ],
  [
    'a one-name projection is its value everywhere but in RETURN',
    'g: ID',
    'x <- N<Gardener>(g)::{name} y <- AddN<Bed>({code: x}) RETURN x, y, [x]',
    [
      '$1 = (byId N<Gardener> @g -> one)',
      '$2 = addNode Bed {code: $1.name}',
      'return x: project $1 as $0 {name: $0.name}',
      'return y: $2',
      'return data: [$1.name]',
    ],
  ],
  [
    'nested objects are over the same item',
    '',
    'RETURN N<Plant>::{a: {b: name, c: {d: stock}}}::{a, ..}',
    [
      'return data: project (scan N<Plant> -> many) as $3 {a: project $3 as $4 {b: $4.name, c: project $4 as $5 {d: $5.stock}}, .. except a}',
    ],
  ],
  [
    'a closure names the outer item inside',
    '',
    'RETURN N<Gardener>::|u|{me: u, plants: _::Out<Grows>::{title: name, owner: u::{name}}}',
    [
      'return data: project (scan N<Gardener> -> many) as $0 {me: $0, plants: project ($0 | out Grows -> many) as $1 {title: $1.name, owner: $0.name}}',
    ],
  ],
  [
    'a name in a projection is a member of the item, then a variable',
    'name: String, other: String',
    'RETURN N<Bed>::{code: code, x: other, y: name}',
    ['return data: project (scan N<Bed> -> many) as $0 {code: $0.code, x: @other, y: @name}'],
  ],
  [
    'groups are records with members',
    '',
    'RETURN N<Gardener>::COUNT::GROUP_BY(city, level)::WHERE(_::{count}::GT(1))::{city, count}',
    [
      'return data: project (scan N<Gardener> | group $0: city: $0.city, level: $0.level | where $1: ($1.count GT 1) -> many) as $3 {city: $3.city, count: $3.count}',
    ],
  ],
  [
    'groups keep the shape of their items',
    '',
    'RETURN N<Gardener>::{name, city}::AGGREGATE_BY(city)',
    [
      'return data: (scan N<Gardener> | aggregate $1: city: $1.city data project $1 as $0 {name: $0.name, city: $0.city} -> many)',
    ],
  ],
  [
    'the length of a list property',
    '',
    'RETURN N<Plant>::WHERE(_::{tags}::COUNT::GT(1))',
    ['return data: (scan N<Plant> | where $0: (($0.tags | count -> one) GT 1) -> many)'],
  ],
  [
    'arithmetic over integers is exact',
    'a: U8, b: F64',
    'RETURN [ADD(a, 1), ADD(a, b), MIN(a, 2), FLOOR(b)]',
    ['return data: [ADD(@a, 1) integer, ADD(@a, @b), MIN(@a, 2) integer, FLOOR(@b)]'],
  ],
  [
    'edges from every element of a stream, from the only one of a lookup',
    'c: String',
    'x <- AddE<Lane>::From(N<Bed>)::To(N<Bed>({code: c})) RETURN x',
    [
      '$0 = addEdge Lane {} from each (scan N<Bed> -> many) to single((lookup N<Bed>.code = @c -> many))',
      'return x: $0',
    ],
  ],
  [
    'an edge per item',
    'b: ID',
    'x <- N<Bed>::AddE<Lane>({metres: 1})::To(b) RETURN x',
    ['$1 = (scan N<Bed> | addEdge Lane {metres: 1} from row to @b -> many)', 'return x: $1'],
  ],
  [
    'paths along every edge type when none is named',
    'a: ID, b: ID',
    'RETURN N<Bed>(a)::ShortestPath::To(b)',
    [
      'return data: (byId N<Bed> @a | path bfs Grows, Follows, PlantedIn, Tells, Cites, Lane to @b -> one)',
    ],
  ],
  [
    'a lookup start is exactly one, many starts give the paths there are',
    'a: String, b: ID',
    'x <- N<Bed>({code: a})::ShortestPath<Lane>::To(b) y <- N<Bed>::ShortestPath<Lane>::To(b) RETURN x, y',
    [
      '$0 = (single((lookup N<Bed>.code = @a -> many)) | path bfs Lane to @b -> one)',
      '$1 = (scan N<Bed> | path bfs Lane to @b each -> many)',
      'return x: $0',
      'return y: $1',
    ],
  ],
  [
    'members of a path, and loops over them',
    'a: ID, b: ID',
    'p <- N<Bed>(a)::ShortestPath<Lane>::To(b) FOR n IN p.path { n::UPDATE({code: "on"}) } RETURN p.hop_count',
    [
      '$0 = (byId N<Bed> @a | path bfs Lane to @b -> one)',
      'for $1 in $0.path',
      'do ($1 | update $2: {code: "on"} -> one)',
      'return p: $0.hop_count',
    ],
  ],
  [
    'loops over values of a projection, and over members of a shape',
    '',
    'FOR n IN N<Plant>::{name} { AddN<Bed>({code: n}) } FOR {n} IN N<Plant>::{n: name} { AddN<Bed>({code: n}) } RETURN 1',
    [
      'for $1 in (scan N<Plant> | map $0: $0.name -> many)',
      'do addNode Bed {code: $1}',
      'for $3 in (scan N<Plant> -> many)',
      '$4 = $3.name',
      'do addNode Bed {code: $4}',
      'return data: 1',
    ],
  ],
  [
    'texts to embed are known with their loops and their type',
    'rows: [{text: String, tags: [String]}]',
    'FOR row IN rows { FOR t IN row.tags { AddV<Note>(Embed(t), {text: row.text}) } } RETURN 1',
    [
      'embed $1 as V<Note> for $0 in @rows for $1 in $0.tags',
      'for $0 in @rows',
      'for $1 in $0.tags',
      'do addVector Note embed($1) {text: $0.text}',
      'return data: 1',
    ],
  ],
  [
    'an upsert of an edge does not evaluate the chain',
    'a: ID, b: ID',
    'x <- E<Lane>::WHERE(_::{metres}::GT(1))::UpsertE({metres: ADD(_::{metres}, 1)})::To(b)::From(a) RETURN x',
    ['$4 = upsertEdge Lane as $2 {metres: ADD($2.metres, 1)} from @a to @b', 'return x: $4'],
  ],
  [
    'a filtered search, and one within a stream',
    'v: [F64], s: U8',
    'a <- SearchV<Note>(v, s)::PREFILTER(_::{lang}::EQ("en"))::FIRST b <- V<Note>::SearchV<Note>([1, 0.5], 3) RETURN a, b',
    [
      '$2 = (search V<Note> near @v k @s prefilter $0: ($0.lang EQ "en") | first -> opt)',
      '$3 = (scan V<Note> | search within V<Note> near [1, 0.5] k 3 -> many)',
      'return a: $2',
      'return b: $3',
    ],
  ],
  [
    'deletions find nothing quietly',
    'g: ID, e: String',
    'DROP N<Gardener>(g) DROP N<Gardener>({email: e})::OutE<Grows> RETURN NONE',
    [
      'drop (byId N<Gardener> @g or nothing -> opt)',
      'drop (lookup N<Gardener>.email = @e first or nothing | out edges Grows -> many)',
      'return {}',
    ],
  ],
  [
    'optional members, lists and whole objects of parameters',
    'o: {a?: String, l: [U8]}',
    'RETURN o, [1, NONE]',
    ['return o: @o', 'return data: [1, null]'],
  ],
];

for (const [name, parameters, body, plan] of cases) {
  test(name, () => {
    expect(unfold(planLinesLoose(`QUERY q(${parameters}) => ${body}`))).toEqual(plan);
  });
}

/** Pipelines of several lines as they are printed inside others: on one line, in parentheses. */
function unfold(lines: string[]): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const [head, result] = (whole.at(-1) ?? '').split(/ (?=-> (?:one|opt|many)$)/);
    if (!line.startsWith('| ')) whole.push(line);
    else whole[whole.length - 1] = `${head} ${line} ${result}`;
  }
  return whole.map((line) => {
    const isOpen = / -> (one|opt|many)$/.test(line);
    return isOpen ? `${line.replace(/^(return \w+: |\$\d+ = |drop |do )/, '$1(')})` : line;
  });
}

/** As `planLines`; unused parameters and the like may be warned about. */
function planLinesLoose(text: string): string[] {
  const errors = faultsOf(text).filter((fault) => fault.startsWith('E'));
  expect(errors).toEqual([]);
  return planLines(text, false, true);
}

test('NOW is a literal wherever nothing is called so', () => {
  expect(planLines('QUERY q() => RETURN NOW')).toEqual(['return data: now']);
  expect(planLines('QUERY q(NOW: U8) => RETURN NOW')).toEqual(['return NOW: @NOW']);
  expect(planLines('QUERY q() => RETURN N<Bed>::{code, at: NOW}')[0]).toContain('at: now');
});

test('cost classes', () => {
  const cost = (text: string) => planOf(text, false, true).cost;
  expect(cost('QUERY q() => RETURN 1')).toBe('A');
  expect(cost('QUERY q(g: ID) => RETURN N<Gardener>(g)')).toBe('A');
  expect(cost('QUERY q(g: ID) => x <- N<Gardener>(g) RETURN x::Out<Grows>::{name}')).toBe('A');
  expect(cost('QUERY q(c: String) => RETURN N<Gardener>({city: c})')).toBe('A');
  expect(cost('QUERY q() => RETURN N<Gardener>')).toBe('B');
  expect(cost('QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 10)')).toBe('B');
  expect(cost('QUERY q() => RETURN N<Gardener>::RANGE(0, 9)')).toBe('B');
  expect(cost('QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 2000)')).toBe('C');
  expect(cost('QUERY q(c: String) => RETURN N<Plant>({name: c})')).toBe('C');
  expect(cost('QUERY q() => RETURN N<Plant>::WHERE(_::{stock}::GT(1))')).toBe('C');
  expect(cost('QUERY q() => RETURN N<Plant>::{n: _::Out<Tells>::COUNT, name}')).toBe('C');
  expect(cost('QUERY q(g: ID) => RETURN N<Gardener>(g)::Out<Grows>::Out<Tells>')).toBe('C');
  expect(cost('QUERY q(b: ID) => RETURN N<Bed>(b)::ShortestPath<Lane>::To(b)')).toBe('C');
  expect(cost('QUERY q(g: ID) => DROP N<Gardener>(g) RETURN NONE')).toBe('W');
});

test('options of a request for a query', () => {
  const whole = queryOf('// A bed.\n#[mcp] QUERY q(id: ID) => x <- N<Bed>(id) RETURN x');
  expect([whole.mcp, whole.elements, whole.returns]).toEqual([true, true, ['x']]);
  const shaped = queryOf('QUERY q(id: ID) => x <- N<Bed>(id) RETURN x::{code}, 1');
  expect([shaped.mcp, shaped.elements, shaped.returns]).toEqual([false, false, ['x', 'data']]);
  const model = planOf(
    '// Notes.\n#[model("openai:small")] #[mcp] QUERY q(t: String) => RETURN SearchV<Note>(Embed(t), 3)',
  );
  expect(model.model).toBe('openai:small');
  expect(model.embeds).toEqual([
    { loops: [], text: { kind: 'parameter', index: 0 }, type: 'Note', isQuery: true },
  ]);
});

test('parameters: vectors are marked, declared types become objects', () => {
  const { parameters } = planOf(
    'QUERY q(v: [F64], other: [F64], b: Bed) => x <- AddV<Photo>(v) RETURN x, other, b',
  );
  expect(parameters.map((p) => p.vector)).toEqual([true, false, false]);
  expect(parameters[2]!.type).toEqual({
    kind: 'object',
    members: [
      { name: 'code', type: { kind: 'scalar', name: 'String' }, optional: true },
      { name: 'guess', type: { kind: 'scalar', name: 'F64' }, optional: true },
    ],
  });
});
