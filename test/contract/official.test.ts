// What others say of what is generated and published: two validators of OpenAPI, three versions of
// TypeScript, publint (client.md 9: P02, P07, P15). Their packages are installed by long tests only.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openApiOf } from '../../engine/contract/openapi.js';
import { printTypeScript } from '../../engine/contract/typescript.js';
import { compile } from '../../engine/lang/compile.js';
import type { Program } from '../../engine/plan/program.js';
import { type Packages, packages } from '../support/packages.js';
import { makeFolder, root } from '../support/project.js';

const found = packages(
  '@seriousme/openapi-schema-validator@2.11.0',
  '@redocly/openapi-core@2.64.0',
  'publint@0.3.25',
  'typescript6@npm:typescript@6.0.3',
  'typescript7@npm:typescript@7.0.2',
);
if (typeof found === 'string') console.log(`others are not asked about contracts: ${found}`);
const nothing: Packages = { folder: '', load: async () => undefined };
const { folder, load } = typeof found === 'string' ? nothing : found;

function programOf(place: string): Program {
  const names = place.endsWith('.hx')
    ? [place]
    : readdirSync(join(root, place))
        .filter((name) => name.endsWith('.hx'))
        .map((name) => `${place}/${name}`);
  const sources = names.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return compile(sources, { compat: false }).program!;
}

const places = [
  'server/demo',
  'server/template/graphrag',
  'server/template/memory',
  'test/exec/kit/garden.hx',
];

describe.skipIf(typeof found === 'string')('official', () => {
  const settings = { title: 'x', version: '1.0.0', keys: true, sees: () => true };

  test.each(places)('P07 two validators take the OpenAPI document of %s', async (place) => {
    const document = openApiOf(programOf(place), settings);
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
    expect(faults.map(({ ruleId, message }: Record<string, string>) => [ruleId, message])).toEqual(
      [],
    );
    // A document that is none is refused, so that their consent means something.
    const broken = { ...document, paths: 5 };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  const compilers: [string, string][] = [
    ['5.9', join(root, 'node_modules/typescript/bin/tsc')],
    ['6.0', join(folder, 'node_modules/typescript6/bin/tsc')],
    ['7.0', join(folder, 'node_modules/typescript7/bin/tsc')],
  ];
  test.each(compilers)('P02 TypeScript %s takes what is generated', (_, compiler) => {
    const project = makeFolder();
    const client = readFileSync(join(root, 'server/client/client.ts'), 'utf8');
    writeFileSync(join(project, 'client.ts'), client);
    for (const [at, place] of places.entries()) {
      for (const int64 of ['number', 'bigint'] as const) {
        const options = { version: '1.0.0', files: 1, int64, dates: 'date' } as const;
        const text = printTypeScript(programOf(place), options);
        const local = text.replace("'trellisdb/client'", "'./client.js'");
        writeFileSync(join(project, `types-${at}-${int64}.ts`), local);
      }
    }
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
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  });

  test('P15 publint finds nothing wrong with the package', async () => {
    const { publint } = await load('publint/src/index-node.js');
    const { messages } = await publint({ pkgDir: root, level: 'warning', pack: false });
    expect(messages).toEqual([]);
  });
});
