// Every diagnostic code: a source that provokes it, and the place it is reported at, marked by « in
// the source.
import { expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { printDiagnostic } from '../../engine/lang/syntax/diagnostic.js';
import { compileGarden } from './garden.js';

/** Sources added to the garden schema. The first « marks where the code must be reported. */
const inQueries: [code: string, source: string][] = [
  ['E001', 'QUERY q() => x <- N«<Bed RETURN x'],
  ['E001', 'QUERY q() => x <- «nothing() RETURN x'],
  ['E001', 'QUERY q() => FOR b IN N<Bed> { «RETURN 1 }'],
  ['E001', '«query q() => RETURN 1'],
  ['E002', 'QUERY q() => RETURN "a«\\q"'],
  ['E002', 'QUERY q() => RETURN «"abc'],
  ['E002', 'QUERY q() => RETURN «"\\ud800"'],
  ['E003', 'QUERY q() => a <- N<Bed> «@ RETURN a'],
  ['E003', 'QUERY q() => RETURN 1 «/* open'],
  ['E003', 'QUERY q«\0() => RETURN 1'],
  ['E004', 'QUERY q() => RETURN «1.2.3'],
  ['E004', 'QUERY q() => RETURN «12abc'],
  ['E004', 'QUERY q() => RETURN «340282366920938463463374607431768211456'],
  ['E005', `QUERY q() => RETURN N<Bed>::«GROUP_BY(${'code, '.repeat(17)})`],
  ['E005', `QUERY «${'q'.repeat(129)}() => RETURN 1`],
  ['E101', 'QUERY q() => RETURN N<«Plnt>'],
  ['E101', 'QUERY q() => RETURN SearchBM25<«Plnt>("a", 3)'],
  ['E102', 'QUERY q() => RETURN N<Gardener>::Out<«Grow>'],
  ['E102', 'QUERY q() => RETURN N<Gardener>::InE<«Grows>'],
  ['E102', 'QUERY q() => RETURN E<«Bed>'],
  ['E103', 'QUERY q(v: [F64]) => RETURN SearchV<«Plant>(v, 3)'],
  ['E104', 'QUERY q(level: U8) => RETURN level.«x'],
  ['E104', 'QUERY q() => b <- N<Bed> RETURN b.«code'],
  ['E105', 'QUERY q(«Date: String) => RETURN 1'],
  ['E105', 'QUERY q() => «String <- N<Bed> RETURN 1'],
  ['E202', 'QUERY q() => RETURN N<Plant>::{«hight}'],
  ['E202', 'QUERY q() => RETURN N<Plant>::WHERE(_::{«hight}::GT(1))'],
  ['E202', 'QUERY q() => RETURN N<Plant>({«hight: 1.5})'],
  ['E202', 'QUERY q() => RETURN N<Plant>::!{«hight}'],
  ['E202', 'QUERY q() => RETURN N<Plant>::GROUP_BY(«hight)'],
  ['E202', 'QUERY q() => x <- AddN<Plant>({«hight: 1}) RETURN x'],
  ['E202', 'QUERY q() => x <- N<Plant>::UPDATE({«hight: 1}) RETURN x'],
  [
    'E202',
    'QUERY q(b: ID) => RETURN N<Bed>(b)::ShortestPathAStar<Lane>(_::{metres}, «"gues")::To(b)',
  ],
  ['E203', 'QUERY q() => n <- N<Bed>::COUNT RETURN n::«{a}'],
  ['E205', 'QUERY q() => x <- AddN<Plant>({stock: «"3"}) RETURN x'],
  ['E205', 'QUERY q(s: String) => x <- AddN<Plant>({height: «s}) RETURN x'],
  ['E205', 'QUERY q() => x <- AddN<Plant>({stock: «10.0}) RETURN x'],
  ['E205', 'QUERY q(d: String) => x <- AddN<Gardener>({joined: «d}) RETURN x'],
  ['E205', 'QUERY q(t: String) => x <- AddV<Note>(«t) RETURN x'],
  ['E205', 'QUERY q() => RETURN N<Plant>({stock: «"3"})'],
  ['E205', 'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, «"3")'],
  ['E205', 'QUERY q(s: String) => RETURN ADD(1, «s)'],
  [
    'E206',
    'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 3)::RerankMMR(lambda: 0.5, distance: «"l1")',
  ],
  ['E206', 'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 3)::RerankRRF(«n: 3)'],
  ['E206', 'QUERY q() => x <- AddN<Bed>(«3) RETURN x'],
  ['E207', 'QUERY q() => RETURN N<Bed>::Out<«Grows>'],
  ['E209', 'QUERY q(p: «Plnt) => RETURN p'],
  ['E210', 'QUERY q(name: String) => RETURN N<Bed>(«name)'],
  ['E210', 'QUERY q() => RETURN N<Bed>(«"b1")'],
  ['E210', 'QUERY q(b: ID) => x <- AddE<Lane>::From(b)::To(«3) RETURN x'],
  ['E301', 'QUERY q() => RETURN «zzz'],
  ['E302', 'QUERY q() => a <- N<Bed> «a <- N<Plant> RETURN a'],
  ['E302', 'QUERY q(a: ID) => «a <- N<Bed>(a) RETURN 1'],
  ['E302', 'QUERY q(a: ID, «a: ID) => RETURN a'],
  ['E303', 'QUERY q() => x <- AddN<Gardener>({level: «300}) RETURN x'],
  ['E303', 'QUERY q() => RETURN «[1, "a"]'],
  ['E303', 'QUERY q() => RETURN «1e999'],
  ['E304', 'QUERY q() => x <- «N RETURN x'],
  ['E304', 'QUERY q() => x <- «AddN({code: "A"}) RETURN x'],
  ['E304', 'QUERY q(id: ID) => x <- «E(id) RETURN x'],
  ['E305', 'QUERY q() => RETURN N<Bed>::«Out'],
  ['E305', 'QUERY q() => RETURN «POW(2)'],
  ['E305', 'QUERY q(a: ID, b: ID) => RETURN «N<Bed>(a, b)'],
  ['E305', 'QUERY q() => RETURN N<Bed>::«WHERE'],
  ['E306', 'QUERY q() => RETURN AND(«1, true)'],
  ['E306', 'QUERY q() => x <- !«"a" RETURN x'],
  ['E401', '#[mcp] QUERY q() => a <- N<Bed> b <- N<Plant> RETURN «a, b'],
  ['E401', '#[mcp] QUERY q() => RETURN «NONE'],
  ['E501', 'QUERY q() => x <- AddN<Gardener>({joined: «"2026-02-30"}) RETURN x'],
  ['E501', 'QUERY q() => RETURN N<Gardener>::WHERE(_::{joined}::GT(«"soon"))'],
  ['E601', 'QUERY q() => n <- N<Gardener>::COUNT RETURN n::«Out<Grows>'],
  ['E601', 'QUERY q() => RETURN «_::{p}'],
  ['E601', 'QUERY q() => x <- N<Bed, Plant>::«UpsertN({}) RETURN x'],
  ['E602', 'QUERY q() => RETURN N<Bed>::«LIMIT(5)'],
  ['E603', 'QUERY q(v: [F64]) => RETURN N<Plant>::«SearchV<Note>(v, 3)'],
  ['E603', 'QUERY q() => RETURN N<Plant>::«RerankMMR(lambda: 0.5)'],
  ['E604', 'QUERY q() => x <- E<Grows>::«UpsertN({}) RETURN x'],
  ['E604', 'QUERY q() => x <- N<Bed>::COUNT::«UPDATE({a: 1}) RETURN x'],
  ['E611', 'QUERY q(a: ID) => x <- «AddE<Grows>::From(a) RETURN x'],
  ['E612', 'QUERY q(a: ID) => x <- «AddE<Grows>::To(a) RETURN x'],
  ['E621', 'QUERY q() => RETURN N<Plant>::WHERE(_::{stock}::«CONTAINS("1"))'],
  ['E622', 'QUERY q() => RETURN N<Plant>::WHERE(_::{name}::EQ(«5))'],
  ['E622', 'QUERY q(d: String) => RETURN N<Gardener>::WHERE(_::{joined}::GT(«d))'],
  ['E623', 'QUERY q() => RETURN E<Cites>::«FromN'],
  ['E624', 'QUERY q() => RETURN E<Tells>::«ToN'],
  ['E625', 'QUERY q() => RETURN E<Grows>::«FromV'],
  ['E626', 'QUERY q() => RETURN E<Grows>::«ToV'],
  ['E627', 'QUERY q(a: ID) => RETURN N<Bed>(a)::«ShortestPath<Lane>'],
  ['E628', 'QUERY q() => n <- N<Bed>::COUNT DROP «n RETURN 1'],
  ['E631', 'QUERY q() => RETURN N<Bed>::«RANGE(20)'],
  ['E633', 'QUERY q() => RETURN N<Bed>::RANGE(0, «1.5)'],
  ['E633', 'QUERY q() => RETURN N<Bed>::RANGE(«-1, 3)'],
  ['E641', 'QUERY q() => RETURN N<Bed>::|u|{code: u::{code}}::«Out<Lane>'],
  ['E643', 'QUERY q() => RETURN N<Bed>::!{code, «code}'],
  ['E644', 'QUERY q() => RETURN N<Bed>::!{code}::«Out<Lane>'],
  ['E645', 'QUERY q() => RETURN N<Bed>::«{}'],
  ['E646', 'QUERY q() => RETURN N<Bed>::{ «a: }'],
  ['E651', 'QUERY q(name: String) => FOR a IN «name { AddN<Bed>({code: a}) } RETURN 1'],
  ['E652', 'QUERY q(rows: [{a: String}]) => FOR {«z} IN rows { AddN<Bed>({code: z}) } RETURN 1'],
  ['E653', 'QUERY q(names: [String]) => FOR {«a} IN names { AddN<Bed>({code: a}) } RETURN 1'],
  ['E654', 'QUERY q(x: [{b: String}]) => FOR a«.b IN x { AddN<Bed>() } RETURN 1'],
  ['E657', 'QUERY q() => RETURN N<Bed>::WHERE(_::«EQ(1))'],
  ['E657', 'QUERY q() => RETURN N<Bed>::WHERE(«EQ(1))'],
  ['E658', 'QUERY q(o: {customer: String}) => RETURN o.«custmer'],
  ['E659', 'QUERY q() => RETURN N<Gardener>::WHERE(«_::Out<Grows>)'],
  ['E660', 'QUERY q(k: I64) => x <- AddV<Note>(Embed(«k)) RETURN x'],
  ['E701', 'QUERY q() => RETURN 1 QUERY «q() => RETURN 2'],
  ['E702', 'QUERY q() => u <- N<Bed> RETURN u::{code}, «u::ID'],
  ['E702', 'QUERY q() => RETURN N<Bed>::{code, «code}'],
  ['E702', 'QUERY q() => RETURN {a: 1, «a: 2}'],
  ['E702', 'QUERY q() => RETURN N<Bed>::{count: code}::GROUP_BY(«count)'],
  ['E703', 'QUERY q() => RETURN "a", «1'],
  ['E704', 'QUERY q() => a <- N<Bed> RETURN a, «NONE'],
  ['E705', 'QUERY «mcp() => RETURN 1'],
  ['E705', 'QUERY «livez() => RETURN 1'],
  ['E705', 'QUERY «readyz() => RETURN 1'],
  ['E705', 'QUERY «healthz() => RETURN 1'],
  ['E706', 'QUERY q() => RETURN N<Bed>::«PREFILTER(_::{code}::EQ("A"))'],
  ['E706', 'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 3)::FIRST::«PREFILTER(true)'],
  ['E707', 'QUERY q() => x <- V<Note>::UpsertV(Embed(«_::{text}), {}) RETURN x'],
  ['E708', '#[«fast] QUERY q() => RETURN 1'],
  ['E708', '#[mcp] #[«mcp] QUERY q() => RETURN 1'],
  ['E710', 'QUERY q(c: Boolean) => RETURN «IF(c, 1, "a")'],
  ['E710', 'QUERY q(c: Boolean) => RETURN «IF(c, N<Bed>, 1)'],
  ['E711', 'QUERY q(c: Boolean) => x <- IF(c, «AddN<Bed>(), NONE) RETURN x'],
  [
    'E711',
    'QUERY q(c: Boolean) => x <- COALESCE(N<Bed>::FIRST, «N<Bed>::FIRST::UPDATE({code: "A"})) RETURN x',
  ],
  ['E714', 'QUERY q(v: [F64]) => RETURN SearchV<Note>(v, 9)::«PAGE(5)'],
  ['E714', 'QUERY q() => RETURN N<Gardener>::GROUP_BY(city)::«PAGE(5)'],
  ['E714', 'QUERY q() => RETURN N<Bed>::ID::«PAGE(5)'],
  ['E714', 'QUERY q() => RETURN N<Bed>::PAGE(5)::«COUNT'],
  ['E717', 'QUERY q(vs: [String]) => RETURN N<Plant>({name: vs}, nulls: «true)'],
  ['E712', 'QUERY q(«n?: U8 = 1) => RETURN n'],
  ['E712', 'QUERY q(n: U8 = «NONE) => RETURN n'],
  ['E303', 'QUERY q(n: U8 = «300) => RETURN n'],
  ['E305', 'QUERY q() => RETURN N<Bed>::«ORDER<Asc, Desc>(_::{code})'],
  ['E205', 'QUERY q(n: I64) => RETURN LOWER(«n)'],
  ['E206', 'QUERY q(d: Date) => RETURN TRUNC(d, «"moon")'],
  ['E633', 'QUERY q(s: String) => RETURN SUBSTRING(s, «-1)'],
  ['W101', 'QUERY «q() => x <- AddN<Bed>()'],
  ['W102', 'QUERY q(«a: ID) => RETURN 1'],
  ['W103', 'QUERY q(v: [«f64]) => RETURN v'],
  ['W106', 'QUERY q() => RETURN N<Bed>::«RANGE(9, 3)'],
  [
    'W107',
    'QUERY q(name: String, rows: [{name: String}]) => FOR {«name} IN rows { AddN<Bed>({code: name}) } RETURN name',
  ],
  ['W107', 'QUERY q(u: String) => RETURN N<Bed>::|«u|{code, own: u::{code}}, u'],
  ['W108', 'QUERY q() => x <- N<Gardener>::{name}::«Out<Grows> RETURN x'],
  ['W109', 'QUERY q() => RETURN N<Gardener>::WHERE(_::{level}::«GT(300))'],
  [
    'W110',
    'QUERY q(e: String) => u <- N<Gardener>({email: e}) y <- u::«UpsertN({email: e}) RETURN y',
  ],
  ['W111', 'QUERY q(p: {INDEX «a: String}) => RETURN p'],
  [
    'W112',
    'QUERY q(a: ID) => b <- N<Bed>(a) p <- N<Plant>(a) x <- AddE<Grows>::«From(b)::To(p) RETURN x',
  ],
  ['W115', 'QUERY q() => «N<Bed>::COUNT RETURN 1'],
  ['W116', 'QUERY q(a: ID) => RETURN N<Bed>(a)::ShortestPath<Lane>::To(a)::«From(a)'],
  ['W117', 'QUERY q(data: I64) => RETURN N<Bed>::GROUP_BY(code)::{code, d: «data}'],
  ['W118', 'QUERY q(n: I64) => RETURN COALESCE(1, «n)'],
  ['W118', 'QUERY q() => RETURN IF(«true, 1, 2)'],
  ['W121', '#[mcp] QUERY «q() => RETURN N<Bed>'],
  ['W122', `// Beds.\n#[mcp] QUERY «${'q'.repeat(65)}() => RETURN N<Bed>`],
];

/** Whole projects of one file. */
const alone: [code: string, source: string][] = [
  ['E106', 'E::X { From: «Plnt, To: Bed } N::Bed {}'],
  ['E107', 'N::Bed {} N::«Bed {}'],
  ['E108', 'N::Bed {} MIGRATION «schema::7 => schema::1 {}'],
  [
    'E108',
    `schema::1 {} schema::2 {} schema::3 {} MIGRATION schema::1 => schema::2 {}
MIGRATION «schema::1 => schema::3 {} MIGRATION schema::2 => schema::3 {}`,
  ],
  ['E109', 'N::X { name: String, «Name: String }'],
  ['E733', 'N::X { «SEARCH n: I64 }'],
  ['E733', 'N::X { SEARCH «SEARCH n: String }'],
  ['E733', 'N::X { INDEX «INDEX n: String }'],
  ['E733', 'N::A {} E::X { From: A, To: A, Properties: { «SEARCH t: String } }'],
  ['E744', 'N::X { SEARCH(«wait: 3) t: String }'],
  ['E744', 'N::X { SEARCH(weight: 2, «weight: 3) t: String }'],
  ['E744', 'N::X { SEARCH(weight: «0) t: String }'],
  ['E744', 'N::X { SEARCH(language: «"klingon") t: String }'],
  ['E744', 'N::X { SEARCH(prefix: «1) t: String }'],
  ['E745', 'N::X { SEARCH t: String } QUERY q() => RETURN SearchBM25<X>("a", 5, prefix: «true)'],
  [
    'E201',
    'schema::1 { N::Tool {} } schema::2 {} MIGRATION schema::1 => schema::2 { N::«Tol => _:: {} }',
  ],
  [
    'E202',
    'schema::1 { N::T {} } schema::2 { N::T {} } MIGRATION schema::1 => schema::2 { N::T => _:: { «a: 1 } }',
  ],
  [
    'E205',
    'schema::1 { N::T {} } schema::2 { V::T {} } MIGRATION schema::1 => schema::2 { N::T => V::«T {} }',
  ],
  ['E204', 'N::X { «id: ID }'],
  ['E204', 'E::X { From: A, To: A, Properties: { «From_Node: ID } } N::A {}'],
  ['E205', 'N::X { a: I32 DEFAULT «"3" }'],
  ['E205', 'N::X { a: I32 DEFAULT «NOW }'],
  ['E209', 'N::X { o: «{a: String} }'],
  ['E209', 'N::Y {} N::X { o: «Y }'],
  ['E210', 'N::X { a: ID DEFAULT «"abc" }'],
  ['E303', 'N::X { a: U8 DEFAULT «256 }'],
  ['E501', 'N::X { a: Date DEFAULT «"soon" }'],
  [
    'E656',
    `schema::1 { N::T { joined: Date } } schema::2 { N::T { joined: Boolean } }
MIGRATION schema::1 => schema::2 { N::T => _:: { joined: joined AS «Boolean } }`,
  ],
  ['W104', 'N::Note {} V::«Note {}'],
  ['W105', 'V::X { «distance: F64 }'],
  ['W105', 'N::X { «score: F64 }'],
  ['W113', 'schema::1 { N::X {} } «schema::3 { N::X {} }'],
  ['W114', '«N::Bed {}'],
];

function check(
  code: string,
  marked: string,
  compileText: (text: string) => ReturnType<typeof compile>,
) {
  const at = marked.indexOf('«');
  const text = marked.replace('«', '');
  const before = text.slice(0, at).split('\n');
  const place = `${code} ${before.length}:${before.at(-1)!.length + 1}`;
  const { diagnostics, program } = compileText(text);
  const own = diagnostics.filter((d) => d.file === 'q.hx');
  const found = own.map((d) => `${d.code} ${d.line}:${d.column}`);
  expect(found, marked).toContain(place);
  const errors = own.filter((d) => d.severity === 'error').map((d) => d.code);
  expect(program === undefined).toBe(errors.length > 0);
  // One fault is reported once: nothing else is wrong with these sources.
  expect(new Set(errors)).toEqual(new Set(code.startsWith('E') ? [code] : []));
  for (const d of own) {
    const printed = printDiagnostic(d, text).split('\n');
    expect(printed[0]).toBe(`q.hx:${d.line}:${d.column} ${d.code} ${d.message}`);
    expect(printed[2]).toMatch(/^ +\| +\^+$|^ +\| \^+$/);
  }
}

for (const [code, source] of inQueries) {
  test(`${code} ${source.slice(0, 90).replace('\0', '')}`, () =>
    check(code, source, compileGarden));
}

for (const [code, source] of alone) {
  test(`${code} ${source.slice(0, 90)}`, () => {
    check(code, source, (text) => compile([{ path: 'q.hx', text }], { compat: false }));
  });
}

test('every code of the catalogue has a case', () => {
  const catalogue = `
    E001 E002 E003 E004 E005 E101 E102 E103 E104 E105 E106 E107 E108 E109 E201 E202
    E203 E204 E205 E206 E207 E209 E210 E301 E302 E303 E304 E305 E306 E401 E501 E601
    E602 E603 E604 E611 E612 E621 E622 E623 E624 E625 E626 E627 E628 E631 E633 E641
    E643 E644 E645 E646 E651 E652 E653 E654 E656 E657 E658 E659 E660 E701 E702 E703
    E704 E705 E706 E707 E708 E710 E711 E712 E714 E717 E733 E744 E745
    W101 W102 W103 W104 W105 W106 W107 W108 W109 W110 W111 W112 W113 W114 W115 W116 W117 W118
    W121 W122`;
  const covered = new Set([...inQueries, ...alone].map(([code]) => code));
  expect(covered).toEqual(new Set(catalogue.trim().split(/\s+/)));
});

test('a diagnostic is printed with its line, its position and its hint', () => {
  const text = 'N::P { hight: F64 }\r\n\tQUERY q() => RETURN N<P>::{height}\r\n';
  const [diagnostic] = compile([{ path: 'db/q.hx', text }], { compat: false }).diagnostics;
  expect(printDiagnostic(diagnostic!, text)).toBe(
    [
      'db/q.hx:2:29 E202 N<P> has no member `height`.',
      '  2 |  QUERY q() => RETURN N<P>::{height}',
      `    | ${' '.repeat(28)}^^^^^^`,
      '  hint: Did you mean `hight`?',
    ].join('\n'),
  );
});

test('lines end with LF, CR LF or CR alone', () => {
  const lines = [
    '// a comment ends with its line',
    'N::P { hight: F64 }',
    '/* two',
    'lines */ QUERY a() => RETURN N<P>::{height}',
    'QUERY b() => RETURN "open',
    'QUERY c() => RETURN zz',
  ];
  const pictures = ['\n', '\r\n', '\r'].map((end) => {
    const text = lines.join(end) + end;
    const { diagnostics } = compile([{ path: 'q.hx', text }], { compat: false });
    return diagnostics.map((each) => printDiagnostic(each, text));
  });
  expect(pictures[0]!.map((picture) => picture.split(' ')[0])).toEqual([
    'q.hx:4:37',
    'q.hx:5:21',
    'q.hx:6:21',
  ]);
  expect(pictures[1]).toEqual(pictures[0]);
  expect(pictures[2]).toEqual(pictures[0]);
});

test('a diagnostic names the query it lies in, also where the lexer gave up', () => {
  const text = [
    'N::X { é: I64 }',
    'QUERY a() => RETURN "\\q"',
    'QUERY b() => x <- 1.2.3 @ RETURN zz',
    '~ QUERY c() => RETURN 1 /* open',
  ].join('\n');
  const { diagnostics } = compile([{ path: 'q.hx', text }], { compat: false });
  const found = diagnostics.map(({ code, query }) => `${code} ${query ?? '-'}`);
  expect(found).toEqual([
    ...['E003 -', 'E002 a'],
    ...['E004 b', 'E003 b', 'E301 b', 'E003 b', 'E003 c'],
  ]);
});

test('an error is not followed by errors that it causes', () => {
  const codes = (text: string) =>
    compile([{ path: 'q.hx', text }], { compat: false }).diagnostics.map(({ code }) => code);
  expect(codes('N::B {} QUERY q(Date: I64) => RETURN Date')).toEqual(['E105']);
  expect(codes('N::B {} QUERY q() => U8 <- N<B> x <- U8::COUNT RETURN x')).toEqual(['E105']);
  expect(codes('QUERY 1q() => RETURN 1')).toEqual(['E004']);
  expect(codes('QUERY q(a I64) => RETURN a')).toEqual(['E001']);
});

test('a query without RETURN gets a warning that names its result', () => {
  const [trellis, helix] = [false, true].map((compat) =>
    compile([{ path: 'q.hx', text: 'N::B {} QUERY q() => AddN<B>' }], { compat }),
  );
  expect(trellis!.diagnostics[0]!.message).toContain('`{}`');
  expect(helix!.diagnostics[0]!.message).toContain('`null`');
});

test('a hint lists every member one time', () => {
  const text = 'N::B { c: I64 } QUERY q() => RETURN N<B>::{c}::{nothing}';
  const [diagnostic] = compile([{ path: 'q.hx', text }], { compat: false }).diagnostics;
  expect(diagnostic!.hint).toBe('There are c, id, label, score, distance.');
});
