// What others say of what is generated and published: two validators of OpenAPI, three versions of
// TypeScript, publint and others. Their packages are installed by long tests only.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printTypeScript } from '../../engine/contract/typescript.js';
import { compile } from '../../engine/lang/compile.js';
import type { Program } from '../../engine/plan/program.js';
import { documentOf } from '../../server/openapi/document.js';
import { makeProject } from '../../server/project/new-project.js';
import { type Packages, packages } from '../support/packages.js';
import { makeFolder, root, sourcesOf } from '../support/project.js';
import { clientModules } from './client-modules.js';
import { expectFigure } from '../support/run/figure.js';

const found = await packages(
  '@seriousme/openapi-schema-validator@2.11.0',
  '@redocly/openapi-core@2.64.0',
  'publint@0.3.25',
  '@arethetypeswrong/cli@0.18.5',
  'openapi-typescript@7.13.0',
  'typescript@5.9.3',
  'typescript6@npm:typescript@6.0.3',
  'typescript7@npm:typescript@7.0.2',
);
if (typeof found === 'string') console.log(`others are not asked about contracts: ${found}`);
const nothing: Packages = { folder: '', load: async () => undefined };
const { folder, load } = typeof found === 'string' ? nothing : found;

/** Of sources, or of a fixture of the cases, which is lines of a schema, and of queries. */
function programOf(place: string): Program {
  if (!place.endsWith('.json')) return compiled(...place.split(' ').flatMap(sourcesOf));
  const { schema, queries } = JSON.parse(readFileSync(join(root, place), 'utf8'));
  return compiled({ path: 'main.hx', text: [...schema, ...queries].join('\n') });
}

function compiled(...sources: { path: string; text: string }[]): Program {
  const { program, diagnostics } = compile(sources, { compat: false });
  if (program === undefined) throw new Error(JSON.stringify(diagnostics));
  return program;
}

const places = [
  'server/demo',
  'server/template/graphrag',
  'server/template/memory',
  'test/exec/support/garden.hx',
  'test/contract/odd.hx',
  // The examples of the specification, and what the cases run.
  'test/lang/garden.hx test/lang/examples.hx',
  'test/corpus/fixture/garden.json',
  'test/corpus/fixture/library.json',
];
/** As it is served, and as one of many queries is. */
const documents = places.flatMap((place) =>
  [false, true].map((shared) => [place, shared] as const),
);

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2023', 'dom', 'esnext.disposable'],
  types: [],
};

/** What one takes the other takes, and what one gives the other gives; wide integers in more ways. */
const sameTypes = `import type { Queries } from './ours.js';
import type { operations } from './theirs.js';
type Json<T> = { content: { 'application/json': T } };
type Body<O> = O extends { requestBody?: Json<infer B> } ? B : never;
type Reply<O> = O extends { responses: { 200: Json<infer R> } } ? R : never;
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Vector = Float32Array | Float64Array;
type Sent<T> = T extends readonly (infer I)[] ? Sent<I>[]
  : T extends Vector ? number[]
  : T extends Date ? string
  : T extends object ? { [K in keyof T]: Sent<T[K]> }
  : T extends number | bigint | string ? number | string : T;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : 'wider theirs') : 'wider ours';
type Differs = { [N in keyof Queries & keyof operations]: [
  Same<Flat<Queries[N]['result']>, Flat<Reply<operations[N]>>>,
  Same<Sent<Queries[N]['params']>, Sent<Body<operations[N]>>>,
] };
type Wrong = { [N in keyof Differs as Differs[N] extends [true, true] ? never : N]: Differs[N] };
export const none: Record<string, never> extends Wrong ? true : Wrong = true;
export const all: keyof Queries extends keyof operations ? true : false = true;
`;

/** A folder of modules next to the client. */
function projectWith(files: Record<string, string>): string {
  const project = makeFolder();
  const all = {
    ...files,
    ...Object.fromEntries(clientModules()),
    'package.json': '{"type":"module"}',
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(project, name), text);
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  return project;
}

/** What a program says; the runner hears of this process meanwhile. */
function ran(program: string, ...argv: string[]): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, argv, options, (error, stdout) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === 'number') resolve([status, stdout]);
      else reject(error);
    });
  });
}

/** What a compiler says of a project. */
const checked = (compiler: string, project: string, ...more: string[]) =>
  ran(process.execPath, compiler, '-p', project, ...more);

describe.skipIf(typeof found === 'string')('official', () => {
  const settings = { title: 'x', version: '1.0.0', keys: true, admin: true };

  test.each(documents)(
    'P07 two validators take the OpenAPI document of %s, shared: %s',
    async (place, shared) => {
      const document = documentOf(programOf(place), { ...settings, shared });
      const { Validator } = await load('@seriousme/openapi-schema-validator/index.js');
      expect(await new Validator().validate(structuredClone(document))).toMatchObject({
        valid: true,
      });
      const { createConfig, lintFromString } = await load('@redocly/openapi-core/lib/index.js');
      const rules = {
        struct: 'error',
        'no-unresolved-refs': 'error',
        'operation-operationId-unique': 'error',
      };
      const config = await createConfig({ rules });
      const source = JSON.stringify(document);
      const faults = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
      expect(
        faults.map(({ ruleId, message }: Record<string, string>) => [ruleId, message]),
      ).toEqual([]);
      // A document that is none is refused, so that their consent means something.
      const broken = { ...document, paths: 5 };
      expect((await new Validator().validate(broken)).valid).toBe(false);
    },
  );

  const compilers: [string, string][] = [
    ['5.9', join(root, 'node_modules/typescript/bin/tsc')],
    ['6.0', join(folder, 'node_modules/typescript6/bin/tsc')],
    ['7.0', join(folder, 'node_modules/typescript7/bin/tsc')],
  ];
  test.each(compilers)('P02 TypeScript %s takes what is generated', async (_, compiler) => {
    const files = places.flatMap((place, at) =>
      (['number', 'bigint'] as const).map((int64): [string, string] => {
        const options = { version: '1.0.0', files: 1, int64, dates: 'date' } as const;
        const text = printTypeScript(programOf(place), options);
        return [`types-${at}-${int64}.ts`, text.replace("'trellisdb/client'", "'./client.js'")];
      }),
    );
    expect(await checked(compiler, projectWith(Object.fromEntries(files)))).toEqual([0, '']);
  });

  test.each(compilers)(
    'W01 TypeScript %s takes a new project as its page says',
    async (_, compiler) => {
      const folder = makeFolder();
      const about = { folder, templates: join(root, 'server/template'), template: 'start' };
      makeProject({ ...about, version: '1.0.0', hasClient: true });
      const program = programOf('server/template/start');
      const types = { version: '1.0.0', files: 1, int64: 'number', dates: 'string' } as const;
      writeFileSync(join(folder, 'trellis.gen.ts'), printTypeScript(program, types));
      const page = readFileSync(join(folder, 'README.md'), 'utf8');
      const [, example] = /```ts\n(.*?)```/s.exec(page)!;
      writeFileSync(
        join(folder, 'http-server.ts'),
        `${example}export const all = await db.people();\n`,
      );
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(root, join(folder, 'node_modules/trellisdb'), 'junction');
      // Nothing but what the page names: other libraries of the language, and checks left out, would hide faults.
      const files = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, types: [] };
      const config = { compilerOptions: files, files: ['http-server.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      expect(await checked(compiler, folder)).toEqual([0, '']);
    },
  );

  test.each(places)('P07 types made from the document of %s agree with ours', async (place) => {
    const { default: openapiTS, astToString } = await load('openapi-typescript/dist/index.mjs');
    const program = programOf(place);
    const shared = places.indexOf(place) % 2 === 1;
    const theirs = astToString(await openapiTS(documentOf(program, { ...settings, shared })));
    const options = { version: '1.0.0', files: 1, int64: 'number', dates: 'string' } as const;
    const ours = printTypeScript(program, options).replace("'trellisdb/client'", "'./client.js'");
    const project = projectWith({
      'ours.ts': ours,
      'theirs.ts': theirs,
      // What one takes the other takes, and what one gives the other gives.
      'same.ts': sameTypes,
    });
    expect(await checked(compilers[0]![1], project)).toEqual([0, '']);
  });

  test('P04 500 queries over 100 types are checked in a moment', async () => {
    const types = Array.from({ length: 100 }, (_, i) => {
      return `N::T${i} { UNIQUE INDEX key: String, a: I64, b: F64, c: Date, d: [String], e: Boolean }`;
    });
    const queries = Array.from({ length: 500 }, (_, i) => {
      const [one, other] = [`T${i % 100}`, `T${(i * 7 + 3) % 100}`];
      return `QUERY q${i}(key: String, from?: I64, tags: [String]) =>
  x <- N<${one}>({key: key})
  y <- N<${other}>::WHERE(_::{a}::GT(from))::RANGE(0, 10)
  RETURN x, y::{key, a, named: {c, d}}`;
    });
    const { program } = compile([{ path: 'a.hx', text: [...types, ...queries].join('\n') }], {
      compat: false,
    });
    const options = { version: '1.0.0', files: 1, int64: 'bigint', dates: 'date' } as const;
    const text = printTypeScript(program!, options).replace("'trellisdb/client'", "'./client.js'");
    const calls = Array.from({ length: 500 }, (_, i) => `await db.q${i}({ key: 'a', tags: [] });`);
    const use = `import { queries } from './types.js';
declare const db: ReturnType<typeof queries>;
export async function run() { ${calls.join('\n')} }`;
    const project = projectWith({ 'types.ts': text, 'use.ts': use });
    const measured = async (files: object): Promise<Record<string, number>> => {
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, ...files }));
      const [, stdout] = await checked(compilers[0]![1], project, '--extendedDiagnostics');
      const figure = (name: string): number =>
        Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(stdout)?.[1]);
      return { instantiations: figure('Instantiations'), seconds: figure('Check time') };
    };
    const bare = await measured({ files: ['client.ts'] });
    const seconds: number[] = [];
    // Other work of this machine may be in the way of one of them, not of all.
    for (let i = 0; i < 4 && Math.min(...seconds) > 1; i++) {
      const whole = await measured({ files: ['client.ts', 'types.ts', 'use.ts'] });
      console.log(`500 queries over 100 types: ${JSON.stringify({ whole, bare })}`);
      expect(whole.instantiations).toBeLessThanOrEqual(60_000);
      // What the library of the language takes is not ours.
      seconds.push(whole.seconds! - bare.seconds!);
    }
    expectFigure(Math.min(...seconds), 1, 's of checking types');
  });

  test('P15 the types of the package are right for every importer', async () => {
    const packed = makeFolder();
    const options = ['--silent', '--ignore-scripts', '--pack-destination', packed];
    const [, name] = await ran('npm', 'pack', ...options);
    const cli = join(folder, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const asked = [join(packed, name.trim()), '--profile', 'esm-only', '--format', 'json'];
    const [, stdout] = await ran(process.execPath, cli, ...asked);
    const { problems, analysis } = JSON.parse(stdout);
    // The package is one of modules: what CommonJS and the resolution of old Node make of it is no fault.
    const others = ['node10', 'node16-cjs'];
    const left = Object.values(problems as Record<string, { resolutionKind: string }[]>)
      .flat()
      .filter(({ resolutionKind }) => !others.includes(resolutionKind));
    expect(left).toEqual([]);
    expect(Object.keys(analysis.entrypoints).sort()).toEqual([
      '.',
      './client',
      './langchain',
      './mastra',
      './package.json',
    ]);
  });

  test('P15 publint finds nothing wrong with the package', async () => {
    const { publint } = await load('publint/src/index-node.js');
    const { messages } = await publint({ pkgDir: root, level: 'warning', pack: false });
    expect(messages).toEqual([]);
  });
});
