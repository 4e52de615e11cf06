// The generated TypeScript: it compiles under the strictest rules, says what is wrong at its place,
// and is the same in every run.
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { printSplitTypeScript, printTypeScript } from '../../engine/contract/typescript.js';
import { compile } from '../../engine/lang/compile.js';
import type { Program } from '../../engine/plan/program.js';
import { sourcesOf } from '../support/project.js';
import { clientModules } from './client-modules.js';

function programOf(...paths: string[]): Program {
  const sources = paths.flatMap(sourcesOf);
  const { program, diagnostics } = compile(sources, { compat: false });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return program!;
}

const demo = (): Program =>
  programOf('server/demo/schema.hx', 'server/demo/queries.hx', 'server/demo/load.hx');
const garden = (): Program => programOf('test/exec/support/garden.hx');
const standard = { version: '1.0.0', files: 3, int64: 'number', dates: 'string' } as const;

const calls = fileURLToPath(
  new URL('../../dist/engine/database/attach/query-caller.d.ts', import.meta.url),
);
/** What the import of the generated module means to the compiler, without the disk. */
const client = clientModules();

/** Errors of modules that see each other and the client, by message and line. */
function faultsOf(modules: Record<string, string>): string[] {
  const files = new Map([...Object.entries(modules), ...client]);
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    isolatedModules: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.esnext.disposable.d.ts'],
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.getSourceFile = (name, version) => {
    const text = files.get(name);
    return text === undefined
      ? getSourceFile(name, version)
      : ts.createSourceFile(name, text, version);
  };
  host.resolveModuleNameLiterals = (names, within) =>
    names.map(({ text }) => {
      if (text === 'trellisdb')
        return { resolvedModule: { resolvedFileName: calls, extension: '.d.ts' } };
      if (within.includes('/engine/')) return ts.resolveModuleName(text, within, options, host);
      const place = join(dirname(relative(process.cwd(), within)), text.replace(/\.js$/, ''));
      const file = text === 'trellisdb/client' ? 'client.ts' : `${place}.ts`;
      return { resolvedModule: { resolvedFileName: file, extension: '.ts' } };
    });
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start!).line + 1;
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const use = `import { queries } from './demo-number-string';
declare const db: ReturnType<typeof queries>;
export async function run() {
  const { works } = await db.worksOf({ person: 'newton' });
  const years: (number | null)[] = works.map(({ year }) => year);
  await db.worksOf({ persn: 'newton' });
  await db.worksOf({});
  await db.worksOf({ person: 7 });
  works[0]!.colour;
  await db.worksof({ person: 'newton' });
  return years;
}`;

/** An embedded database of which the compiler knows the queries. */
const useEmbedded = `import type { Calls } from 'trellisdb';
import { type Queries, queries } from './demo-number-string';
declare const db: Calls<Queries>;
declare const plain: Calls;
export async function run() {
  const { works } = await db.call('worksOf', { person: 'newton' });
  const years: (number | null)[] = works.map(({ year }) => year);
  const again: typeof works = (await queries(db).worksOf({ person: 'newton' })).works;
  const counts: object = await db.call('counts');
  await db.call('counts', {}, { int64: 'bigint' });
  const { x } = await plain.call<{ x: number }>('whatever', { a: 1n });
  await queries(plain).worksOf({ person: 'newton' });
  await db.call('worksOf', { persn: 'newton' });
  await db.call('worksOf');
  await db.call('worksOf', { person: 7 });
  await db.call('worksof', { person: 'newton' });
  works[0]!.colour;
  return [years, again, counts, x];
}`;

const documented = `N::A { x: String }
// Finds */ everything.
//   word: what to look for
QUERY find(word: String, most: U32 = 20, deep?: {n: I64 = 3, s: String}) =>
  a <- N<A>::WHERE(_::{x}::EQ(word))::RANGE(0, most) RETURN a::{x}`;

/** A module in several files is for its callers the one in one. */
const same = `import * as one from './demo-number-string';
import * as several from './several';
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const queries: Same<one.Queries, several.Queries> = true;
export const clients: Same<one.Client, several.Client> = true;
export const walks: Same<one.Walk, several.Walk> = true;
export const made: Same<typeof one.queries, typeof several.queries> = true;
export const types: Same<one.Work, several.Work> = true;
export const sent: Same<one.WorksOfParams, several.WorksOfParams> = true;
`;

const isLong = process.env.TRELLIS_TEST_LONG === '1';

describe('generated modules', () => {
  const modules: Record<string, string> = { 'use.ts': use, 'embedded.ts': useEmbedded };
  let faults: string[];
  beforeAll(() => {
    // One run of the compiler for all of them: it reads the library each time.
    for (const [name, program] of [
      ['demo', demo()],
      ['garden', garden()],
    ] as const) {
      for (const int64 of ['number', 'bigint', 'string'] as const) {
        for (const dates of ['string', 'date'] as const) {
          const isChosen = isLong || (int64 === 'number') === (dates === 'string');
          const text = printTypeScript(program, { ...standard, int64, dates });
          if (isChosen) modules[`${name}-${int64}-${dates}.ts`] = text;
        }
      }
    }
    const { program } = compile([{ path: 'a.hx', text: documented }], { compat: false });
    modules['documented.ts'] = printTypeScript(program!, standard);
    for (const { name, text } of printSplitTypeScript(demo(), standard, 'several')) {
      modules[name === '' ? 'several.ts' : `several/${name}`] = text;
    }
    modules['same.ts'] = same;
    faults = faultsOf(modules);
  });

  test('compile, in every mode [P02]', () => {
    expect(faults.filter((fault) => !/^(use|embedded)\.ts/.test(fault))).toEqual([]);
  });

  test.each([
    ['use.ts', [6, 7, 8, 9, 10]],
    ['embedded.ts', [13, 14, 15, 16, 17]],
  ])('report errors at their position in %s [P03]', (file, lines) => {
    const found = faults.map((fault) => fault.split(' ')[0]).filter((at) => at!.startsWith(file));
    expect(found).toEqual(lines.map((line) => `${file}:${line}`));
  });

  test('are the same in every run [P05]', () => {
    expect(printTypeScript(demo(), standard)).toBe(modules['demo-number-string.ts']);
  });

  test('in several files say what the one says, and each what its source does', () => {
    const parts = Object.entries(modules).filter(([name]) => name.startsWith('several'));
    expect(parts.map(([name]) => name)).toEqual([
      'several.ts',
      'several/elements.ts',
      'several/server.demo.load.ts',
      'several/server.demo.queries.ts',
    ]);
    const lines = (text: string): Set<string> => new Set(text.split('\n'));
    const one = lines(modules['demo-number-string.ts']!);
    const several = lines(parts.map(([, text]) => text).join('\n'));
    const isOfFrame = (line: string): boolean => /^(\/\/|import|const shapes)/.test(line);
    expect([...one].filter((line) => !several.has(line) && !isOfFrame(line))).toEqual([]);
    // Of two files whose parts would be called alike, or like the part of the elements.
    const paths = ['b/elements.hx', 'elements.hx', 'Elements.hx', 'b.elements.hx'];
    const sources = paths.map((path, i) => ({ path, text: `QUERY q${i}() => RETURN ${i}` }));
    const { program } = compile(sources, { compat: false });
    const names = printSplitTypeScript(program!, standard, 'x').map(({ name }) => name);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(6);
  });

  test("describe HelixDB's groups, with any names", () => {
    const text = [
      'N::Mill { town: String, at?: Date, n: I64 }',
      'QUERY a() => g <- N<Mill>::GROUP_BY(town, at) RETURN g',
      'QUERY b() => g <- N<Mill>::{n, town}::AGGREGATE_BY(town) RETURN g',
    ].join('\n');
    const { program } = compile([{ path: 'a.hx', text }], { compat: true });
    const printed = printTypeScript(program!, { ...standard, int64: 'bigint' });
    const group = (values: string) =>
      `g: { Group: Record<string, { count: bigint; values: ${values} }> };`;
    expect(printed).toContain(group('{ town?: string; at?: string }'));
    expect(printed).toContain(group('{ n: bigint | null; town: string | null }[]'));
  });

  test('give a score to whole vectors only where HelixDB does, and none to their neighbors', () => {
    const text = [
      'N::Mill { town: String }\nV::Sack { town: String }\nE::Has { From: Mill, To: Sack }',
      'QUERY a() => RETURN N<Mill>::Both<Has>{0, 2}',
      'QUERY b() => RETURN N<Mill>::Both<Has>{0, 2}::AGGREGATE_BY(town)',
    ].join('\n');
    const { program } = compile([{ path: 'a.hx', text }], { compat: true });
    const printed = printTypeScript(program!, standard);
    const member = (name: string) => printed.match(new RegExp(`interface ${name} {[^}]*}`))?.[0];
    expect(member('SackMatchReachedData')).toContain('score: number;');
    expect(member('MillReached')).not.toContain('score');
    expect(printed).not.toContain('MillMatch');
  });

  test('say that what an upsert makes has no score, although what it finds has one', () => {
    const text = [
      'N::Mill { town: String }\nV::Sack { town: String }',
      'QUERY a() => hit <- SearchBM25<Mill>("x", 1)::UpsertN({ town: "y" }) RETURN hit',
      'QUERY b() => hit <- SearchV<Sack>([1.0], 1)::UpsertV([1.0], { town: "y" }) RETURN hit',
    ].join('\n');
    const { program } = compile([{ path: 'a.hx', text }], { compat: false });
    const printed = printTypeScript(program!, standard);
    expect(printed.match(/score\S* number[^;]*;/g)).toEqual(['score?: number;', 'score?: number;']);
  });

  test('make a variable nullable once the query has dropped something', () => {
    const text = [
      'N::Mill { n: I64 }\nE::Has { From: Mill, To: Mill }',
      'QUERY a(id: ID) => v <- N<Mill>(id) DROP N<Mill>(id) w <- v::UPDATE({n: 7}) RETURN v, w',
      'QUERY b(id: ID) => v <- E<Has>(id) DROP N<Mill>::WHERE(_::{n}::EQ(1)) RETURN v::ToN',
      'QUERY c(id: ID) => v <- N<Mill>(id) w <- v::UPDATE({n: 7}) RETURN w',
    ].join('\n');
    const { program } = compile([{ path: 'a.hx', text }], { compat: false });
    const printed = printTypeScript(program!, standard);
    const result = (name: string) =>
      printed.match(new RegExp(`interface ${name}Result {([^}]*)}`))![1]!;
    expect(result('A').split(/\s+/)).toEqual(['', 'v:', 'Mill;', 'w:', 'Mill', '|', 'null;', '']);
    expect(result('B')).toContain('v: Mill | null;');
    expect(result('C')).toContain('w: Mill;');
  });

  test('mark items that can be null, also after further steps', () => {
    const lists: [query: string, type: string][] = [
      ['x <- N<B>({id: ids}, nulls: true) RETURN {x}', '(B | null)[]'],
      ['x <- UNION(N<B>, N<B>({id: ids}, nulls: true)) RETURN {x}', '(B | null)[]'],
      ['x <- INTERSECT(N<B>({id: ids}, nulls: true))::DEDUP RETURN {x}', '(B | null)[]'],
      [
        'y <- N<B>({id: ids}, nulls: true)::{a: _::{id}, id} RETURN {x: y}',
        '({ a: string | null; id: string | null } | null)[]',
      ],
      ['v <- N<B>::FIRST RETURN {x: [v]}', '(B | null)[]'],
      ['v <- N<B>(id) RETURN {x: [v, NONE]}', '(B | null)[]'],
      ['v <- AddN<B>({n: 1}) RETURN {x: [v]}', 'B[]'],
      ['v <- AddN<B>({n: 1}) DROP N<B> w <- v::UPDATE({n: 2}) RETURN {x: [w]}', '(B | null)[]'],
    ];
    for (const [query, type] of lists) {
      const text = `N::B { n: I64 }\nQUERY q(ids: [ID], id: ID) => ${query}`;
      const { program, diagnostics } = compile([{ path: 'a.hx', text }], { compat: false });
      expect(program, JSON.stringify(diagnostics)).toBeDefined();
      expect(printTypeScript(program!, standard), query).toContain(`data: { x: ${type} };`);
    }
  });

  test('carry doc comments over', () => {
    expect(modules['documented.ts']).toContain('Finds * / everything.');
    expect(modules['documented.ts']).toContain('most?: number | null;');
    const deep = 'deep?: { n?: number | bigint | string | null; s: string } | null;';
    expect(modules['documented.ts']).toContain(deep);
  });
});
