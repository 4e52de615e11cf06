// What queries answer is of the JSON Schema that is printed from their types [P01]: every query of the projects
// here, on generated parameters and in several rounds, as `bench corpus FOLDER --run` does it with those of others;
// the short run takes two of them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, root, sourcesOf } from '../support/project.js';
import { built } from '../support/server/embedded-server.js';

const { compile } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');
const { loadConfig } =
  await built<typeof import('../../server/config/config.js')>('server/config/config.js');
const { runQueries } = await built<typeof import('../../bench/language/corpus-run.js')>(
  'bench/language/corpus-run.js',
);

/** Of a fixture of the cases: lines of a schema, and of queries. */
function fixture(name: string): { path: string; text: string }[] {
  const path = `test/corpus/fixture/${name}.json`;
  const { schema, queries } = JSON.parse(readFileSync(join(root, path), 'utf8'));
  return [{ path: 'main.hx', text: [...schema, ...queries].join('\n') }];
}

const projects: [string, { path: string; text: string }[]][] = [
  ...['demo', 'template/start', 'template/graphrag', 'template/memory'].map(
    (place): [string, { path: string; text: string }[]] => [place, sourcesOf(`server/${place}`)],
  ),
  ['a garden', sourcesOf('test/exec/support/garden.hx')],
  ['what is odd', sourcesOf('test/contract/odd.hx')],
  ['the garden of the cases', fixture('garden')],
  ['the library of the cases', fixture('library')],
];

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const shown = projects.filter(([name]) => isLong || name === 'demo' || name === 'what is odd');

test.each(shown)('P01 %s', async (_, sources) => {
  const folder = makeFolder();
  for (const [i, { text }] of sources.entries()) writeFileSync(join(folder, `${i}.hx`), text);
  const flags = new Map([['storage.data_dir', join(folder, 'data')]]);
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  const { program } = compile(sources, { compat: false });
  const { misfits, faults, worked } = await runQueries(config, sources, program!);
  expect([misfits, faults]).toEqual([[], []]);
  // Those that are never answered ask for what random ids and texts do not have.
  expect(worked.size).toBeGreaterThanOrEqual(Math.floor(program!.queries.length * 0.8));
});
