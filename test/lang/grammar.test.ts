// What may be written: lexical forms, names, declarations, every statement and step, bytes and
// several files.
import { expect, test } from 'vitest';
import type { Diagnostic } from '../../engine/lang/syntax/diagnostic.js';
import { compile } from '../../engine/lang/compile.js';
import { compileGarden, faultsOf, planLines } from './garden.js';

const g = 'g <- N<Gardener>';

/** Queries that compile without a single diagnostic. */
const accepted: string[] = [
  '// only a comment\nQUERY q() => /* here too */ RETURN 1 // and here',
  'QUERY q()=>RETURN"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
  'QUERY q() => RETURN "two\nlines"',
  'QUERY q() => RETURN [-3, 0, 7] ',
  'QUERY q() => RETURN [-0.5, 1e6, 2.5E-3, 1.0e+2,]',
  'QUERY q() => RETURN 340282366920938463463374607431768211455',
  'QUERY q() => RETURN {a: 1, b: [], c: {}, d: NONE,}',
  'QUERY q(count: U8, from: U8, type: U8, k: U8, N: U8, E: U8, INDEX: U8, query: U8,) => RETURN count, from, type, k, N, E, INDEX, query,',
  'QUERY q(trueName: U8, NOWHERE: U8) => INDEXED <- trueName RETURN INDEXED, NOWHERE',
  'QUERY q(N: ID) => g <- N<Gardener>(N) RETURN g::Out<Grows>::FIRST, N',
  'QUERY q() => N <- N<Bed> N::UPDATE({code: "x"}) RETURN N::{code}',
  `QUERY q() => ${g} RETURN g\n::\nOut<Grows>\n::{name,}`,
  'QUERY q() => DROP <- N<Bed> DROP DROP FOR FOR IN DROP { FOR::UPDATE({code: "x"}) } RETURN 1',
  'QUERY q(NOW: U8) => RETURN NOW',
  'QUERY q() => RETURN NOW',
  'QUERY q() => RETURN N<Gardener>::WHERE(true)',
  'QUERY q(flag: Boolean) => RETURN N<Gardener>::WHERE(!flag)',
  'QUERY q() => RETURN N<Bed>::WHERE(AND(EXISTS(_::Out<Lane>), OR(!EXISTS(_::In<Lane>), _::OutE<Lane>::{muddy})))',
  'QUERY q() => RETURN N<Gardener>({name: "Ana"})::name',
  'QUERY q() => RETURN E<Lane>({muddy: true})',
  'QUERY q() => RETURN V<Note>({lang: "en"})::{data}',
  'QUERY q() => RETURN N<Gardener>::{ID}',
  'QUERY q() => RETURN N<Plant>::{a: ::ID, b: ID, c: id, d: _::ID, ..}',
  'QUERY q() => RETURN N<Plant>::{.., name}',
  'QUERY q() => RETURN N<Plant>::{..}',
  'QUERY q() => RETURN N<Plant>::{a: 1, b: "x", c: [_::{name}], d: EXISTS(_::Out<Tells>), e: _::{stock}::GT(1)}',
  'QUERY q() => RETURN N<Plant>({tags: ["sun"]})',
  'QUERY q() => RETURN N<Gardener>::Out<Grows, Follows>::{name}',
  'QUERY q() => RETURN N<Gardener>::OutE<Grows, Follows>::ToN::ID',
  'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 3)::WHERE(_::{score}::GT(0.5))::ORDER<Asc>(_::{distance})',
  'QUERY q(t: String) => RETURN SearchBM25<Note>(t, 3)::PREFILTER(_::{lang}::EQ("en"))::In<Tells>',
  'QUERY q(t: String) => RETURN SearchV<Note>(Embed(t), 3)::RerankRRF::RerankRRF(k: 5)::RerankMMR(lambda: 1)',
  'QUERY q(v: [F64]) => x <- AddV<Note>(v, {text: "a"}, {lang: "b"}) RETURN x',
  'QUERY q() => x <- AddV<Note>([1, 0.5]) RETURN x',
  'QUERY q() => x <- AddN<Bed> y <- AddN<Bed>() z <- AddN<Bed>({}) RETURN x, y, z',
  'QUERY q(code: String) => x <- AddN<Bed>({ code }) RETURN x',
  'QUERY q(a: ID, b: ID) => x <- AddE<Follows>::To(b)::From(a) RETURN x',
  'QUERY q(a: [ID], b: ID) => x <- AddE<Follows>::To(a)::From(b) RETURN x',
  'QUERY q(b: ID) => N<Bed>::AddE<Lane>::From(b) RETURN "ok"',
  'QUERY q(b: ID) => x <- N<Bed>(b)::Update({code: "A", guess: ADD(_::{guess}, 1)}) RETURN x',
  'QUERY q(o: {a?: String, l: [{n: U8}]}) => FOR {n} IN o.l { AddN<Bed>({guess: n}) } RETURN o.a',
  'QUERY q() => FOR {code, guess} IN N<Bed> { AddN<Bed>({code, guess}) } RETURN 1',
  'QUERY q() => FOR x IN [1, 2] { AddN<Bed>({guess: x}) } FOR x IN ["a"] { AddN<Bed>({code: x}) } RETURN 1',
  'QUERY q() => FOR b IN N<Bed> { FOR c IN b::Out<Lane> { AddE<Lane>::From(c)::To(b) } } RETURN 1',
  'QUERY q() => RETURN [ADD(1, 2, 3), SUB(1, 2), MUL(2, 3), ABS(-1), MOD(7, 2), MIN(1, 2), MAX(1, 2)]',
  'QUERY q() => RETURN [DIV(7, 2), POW(2, 3), SQRT(2), LN(2), LOG10(2), LOG(8, 2), EXP(1), PI(), E()]',
  'QUERY q() => RETURN [SIN(1), COS(1), TAN(1), ASIN(1), ACOS(1), ATAN(1), ATAN2(1, 2), CEIL(1.5), FLOOR(1.5), ROUND(1.5)]',
  'QUERY q() => RETURN {a: SUM([1, 2]), b: AVG(N<Bed>::{guess}), c: MIN([1]), d: MAX([1]), e: COUNT(N<Bed>)}',
  'QUERY q() => RETURN N<Bed>::ORDER<Asc>(_::ID)::ORDER<Desc>(ADD(_::{guess}, 1))::DEDUP::RANGE(0, 3)',
  'QUERY q() => RETURN N<Gardener>::WHERE(_::{email}::EQ(_::{city}))',
  'QUERY q() => RETURN N<Plant>::WHERE(_::{height}::GTE(10))',
  'QUERY q() => RETURN N<Plant>::WHERE(_::{serial}::NEQ(NONE))',
  'QUERY q() => RETURN N<Gardener>::WHERE(_::EQ("0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21"))',
  'QUERY q(ids: [ID]) => RETURN N<Gardener>::WHERE(_::ID::IS_IN(ids))',
  'QUERY q() => RETURN N<Gardener>::WHERE(_::IS_IN(N<Gardener>::Out<Follows>))',
  'QUERY q() => x <- N<Plant>::{name}::ORDER<Asc>(_::{name}) RETURN x::|u|{a: u}, "b"',
  'QUERY q() => x <- N<Plant>::AGGREGATE_BY(species) RETURN x::{count, data}',
  'QUERY q(a: ID) => p <- N<Bed>(a)::ShortestPath::To(a) RETURN p.path::{code}',
  '// One.\n#[mcp] #[model("openai:text")] QUERY q() => RETURN 1',
  '#[model(gemini)] QUERY q() => RETURN 1',
  'QUERY q(p: Plant, ps: [Plant]) => FOR x IN ps { AddN<Plant>({name: x.name}) } RETURN p.name',
  'QUERY q() => RETURN UNION(N<Plant>, N<Gardener>::Out<Grows>,)::{name}',
  'QUERY q(a: ID) => x <- N<Gardener>(a)::Out<Grows> RETURN { a: EXCEPT(N<Plant>, x)::COUNT, b: INTERSECT(x, x)::ID }',
  'QUERY q(d: U32) => RETURN { a: N<Bed>::Out<Lane>{1, 3}::{hops}, b: N<Bed>::In<Lane>{2}::ID, c: N<Bed>::Both<Lane>(_::{muddy}){0,d}::COUNT }',
  'QUERY q() => RETURN N<Bed>::Out<Lane>{ 1 , * }::GROUP_BY(hops)',
  'QUERY q() => RETURN N<Gardener>::{city}::GROUP_BY(city)::{city, n: count, s: SUM(_::{level}), all: _.data::Out<Grows>::{name}}',
  'QUERY q() => RETURN N<Gardener>::AGGREGATE_BY(city)::WHERE(COUNT(_.data)::GT(1))::{city, best: _.data::ORDER<Desc>(_::{level})::FIRST::{name}}',
  'QUERY q(n?: I64) => RETURN { a: IF(n::GT(1), "x", "y"), b: IF(n::EQ(NONE), 1), c: COALESCE(n, 7), d: COALESCE(N<Bed>::FIRST)::{code} }',
  'QUERY q(s: String) => RETURN { a: LOWER(TRIM(s)), b: CONCAT(UPPER(s), "-", 1), c: SPLIT(REPLACE(s, "a", "b"), ","), d: SUBSTRING(s, 1), e: LENGTH(s) }',
  'QUERY q(s: String) => RETURN N<Gardener>::WHERE(OR(_::{name}::STARTS_WITH(s), !_::{email}::ENDS_WITH(".org")))::COUNT',
  'QUERY q(d: Date) => RETURN { a: YEAR(d), b: MONTH(d), c: TRUNC(d, "week"), e: DATE_ADD(d, -1, "month"), f: DATE_DIFF(d, NOW, "day"), g: [DAY(d), HOUR(d)] }',
  'QUERY q() => RETURN N<Plant>::ORDER<Asc, Desc NULLS FIRST>(_::{height}, _::{stock})::DEDUP(_::{height}, _::{stock})::RANGE(0, 3)',
  'QUERY q(after?: String, n: U32 = 20) => p <- N<Plant>::ORDER<Desc NULLS LAST>(_::{height})::{name}::PAGE(n, after) RETURN p',
  'QUERY q(v: [F64], t: String) => RETURN RerankRRF(SearchV<Note>(v, 9), SearchBM25<Note>(t, 9), k: 60, weights: [1, 2])::PREFILTER(_::{lang}::EQ("en"))::RANGE(0, 3)',
  'QUERY q() => RETURN N<Gardener>::{ n <- _::Out<Grows>::COUNT, name, more: n }::ORDER<Desc>(_::{n})',
];

for (const text of accepted) {
  test(text.slice(0, 110), () => {
    const { diagnostics } = compileGarden(text);
    expect(diagnostics.map((d) => `${d.code} ${d.line}:${d.column} ${d.message}`)).toEqual([]);
  });
}

const codes = (diagnostics: Diagnostic[]) => diagnostics.map((d) => d.code);
const compileText = (text: string | Uint8Array) =>
  compile([{ path: 'q.hx', text }], { compat: false });

test('byte-order mark and CRLF are accepted, invalid UTF-8 is placed', () => {
  expect(
    compileText('\uFEFFN::P { a: String }\r\nQUERY q() => RETURN "x"\r\n').diagnostics,
  ).toEqual([]);
  const bytes = Buffer.from('\uFEFFN::P {}\nN::Q, ');
  const bad = compileText(Buffer.concat([bytes, Buffer.from([0xc3, 0x28])])).diagnostics;
  expect(bad.map((d) => `${d.code} ${d.line}:${d.column}`)).toContain('E002 2:7');
  expect(codes(compileText('QUERY q\u202e() => RETURN 1').diagnostics)).toContain('E003');
});

test('files are compiled together, in path order', () => {
  const { program, diagnostics } = compile(
    [
      { path: 'b.hx', text: 'QUERY b() => RETURN N<B>\nN::B { a: A }' },
      { path: 'a.hx', text: 'QUERY a() => RETURN zzz' },
    ],
    { compat: false },
  );
  expect(program).toBeUndefined();
  expect(diagnostics.map((d) => `${d.file} ${d.code}`)).toEqual(['a.hx E301', 'b.hx E209']);
});

test('every error of every query is reported, and only those', () => {
  const text = `QUERY a() => x <- N<Bed>( RETURN x
QUERY b() => y <- N<Plnt> z <- ] RETURN y
QUERY c() => RETURN N<Bed>`;
  expect(faultsOf(text).map((fault) => fault.slice(0, 6))).toEqual(['E001 1', 'E101 2', 'E001 2']);
});

test('limits of sources', () => {
  const many = Array.from({ length: 10_001 }, (_, i) => `QUERY q${i}() => RETURN 1`).join('\n');
  const [limit] = compileText(many).diagnostics;
  expect([limit!.code, limit!.hint]).toEqual(['E005', 'The limit is `limits.source_queries`.']);
  const long = compileText(`// ${'x'.repeat(1024 * 1024)}`).diagnostics;
  expect([long[0]!.code, long[0]!.hint]).toEqual(['E005', 'The limit is `limits.source_bytes`.']);
});

test('declarations become the schema', () => {
  const { program, diagnostics } = compileText(`
    N::A { UNIQUE INDEX a: String, INDEX b: [[U8]], c?: Date DEFAULT NOW,
      d: F32 DEFAULT 1, type_: ID, }
    V::A
    N::B
    E::L UNIQUE { To: A, From: B,
      Properties: { n: U128 DEFAULT 340282366920938463463374607431768211455 }, }
    E::M { From: A, To: B }
    QUERY q() => RETURN 1`);
  expect(codes(diagnostics)).toEqual(['W104']);
  const { nodes, edges, vectors, version } = program!.schema;
  expect(version).toBe(1);
  expect(vectors).toEqual([{ kind: 'vector', name: 'A', properties: [] }]);
  expect(nodes.map((node) => node.name)).toEqual(['A', 'B']);
  expect(nodes[0]!.properties).toEqual([
    { name: 'a', type: { kind: 'scalar', name: 'String' }, index: 'unique' },
    {
      name: 'b',
      type: { kind: 'list', of: { kind: 'list', of: { kind: 'scalar', name: 'U8' } } },
      index: 'index',
    },
    { name: 'c', type: { kind: 'scalar', name: 'Date' }, index: 'none', default: { kind: 'now' } },
    {
      name: 'd',
      type: { kind: 'scalar', name: 'F32' },
      index: 'none',
      default: { kind: 'literal', value: 1 },
    },
    { name: 'type_', type: { kind: 'scalar', name: 'ID' }, index: 'none' },
  ]);
  expect(edges.map((e) => [e.name, e.unique, e.from, e.to])).toEqual([
    ['L', true, { kind: 'node', name: 'B' }, { kind: 'node', name: 'A' }],
    ['M', false, { kind: 'node', name: 'A' }, { kind: 'node', name: 'B' }],
  ]);
  const [n] = edges[0]!.properties;
  expect(n!.default).toEqual({ kind: 'literal', value: 2n ** 128n - 1n });
});

test('migrations spell out what becomes of every property', () => {
  const { program, diagnostics } = compileText(`
    schema::1 {
      N::Tool { name: String, price: I32, code: String } N::Old { a: U8 }
      N::Same { x: U8 } N::Part { y: U8, z: U8 }
    }
    schema::2 {
      N::Tool { INDEX name: String, price: F64, code: U64, checked: Boolean, made: Date }
      N::New { b: U8 } N::Same { x: U8 } N::Part { y: U8, z: String }
    }
    MIGRATION schema::1 => schema::2 {
      N::Tool => _:: { price: price AS F64, code: code AS U64, checked: false, made: NOW },
      N::Old => N::New { Properties: { b: a } }
    }
    QUERY q() => RETURN 1`);
  expect(diagnostics).toEqual([]);
  expect(program!.schema.version).toBe(2);
  expect(program!.olderSchemas.map((schema) => schema.version)).toEqual([1]);
  expect(program!.migrations).toEqual([
    {
      fromVersion: 1,
      toVersion: 2,
      types: [
        {
          kind: 'node',
          from: 'Tool',
          to: 'Tool',
          fields: [
            { name: 'price', rule: { kind: 'copy', from: 'price', as: 'F64' } },
            { name: 'code', rule: { kind: 'copy', from: 'code', as: 'U64' } },
            { name: 'checked', rule: { kind: 'literal', value: false } },
            { name: 'made', rule: { kind: 'now' } },
            { name: 'name', rule: { kind: 'copy', from: 'name' } },
          ],
        },
        {
          kind: 'node',
          from: 'Old',
          to: 'New',
          fields: [{ name: 'b', rule: { kind: 'copy', from: 'a' } }],
        },
        {
          kind: 'node',
          from: 'Part',
          to: 'Part',
          fields: [{ name: 'y', rule: { kind: 'copy', from: 'y' } }],
        },
      ],
    },
  ]);
});

test('inside arithmetic, what can never match is only warned about, as HelixDB loads it', () => {
  const text = 'QUERY q() => RETURN N<Bed>::{a: ADD(_::Out<Grows>::COUNT, _::{gues}), code}';
  expect(faultsOf(text)).toEqual(['W109 1:44', 'W109 1:63']);
  expect(planLines(text, false, true)[0]).toContain('ADD(($0 | out Grows | count -> one), null)');
});
