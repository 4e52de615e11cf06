// New projects (tooling.md 2, W02): each template compiles without a word, fills its data, and answers
// the calls of its README; nothing that is there is written over.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../../server/command/cli.js';
import { keySchemas } from '../../../server/config/config-schema.js';
import { loadConfig } from '../../../server/config/config.js';
import { databaseOptions } from '../../../server/config/database-options.js';
import { loadProgram, programOptions } from '../../../server/project/program.js';
import { playSeed } from '../../../server/project/seed.js';
import { root } from '../../support/project.js';

// Built, for threads start from files.
const { openDatabase } = (await import(
  join(root, 'dist/engine/internal.js')
)) as typeof import('../../../engine/internal.js');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trellis-init-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function trellis(...argv: string[]): Promise<[number, string]> {
  const lines: string[] = [];
  const spies = (['log', 'error'] as const).map((name) =>
    vi
      .spyOn(console, name)
      .mockImplementation((...line: unknown[]) => void lines.push(line.join(' '))),
  );
  const code = await runCommand(argv).finally(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return [code, lines.join('\n')];
}

const configOf = (projectDir: string) =>
  loadConfig({ projectDir, flags: new Map(), environment: {} });

describe('W02: trellis init', () => {
  it.each(['start', 'graphrag', 'memory'])('--template %s answers', async (template) => {
    const project = join(folder, 'app');
    expect((await trellis('init', project, '--template', template))[0]).toBe(0);
    const config = configOf(project);
    const { program, diagnostics } = loadProgram(programOptions(config));
    expect(diagnostics).toEqual([]);
    expect(await trellis('check', project)).toEqual([0, '2 files: 0 errors, 0 warnings']);
    const database = await openDatabase(databaseOptions(config, program!, () => undefined));
    try {
      expect(await playSeed(project, database)).toBeGreaterThan(4);
      const readme = readFileSync(join(project, 'README.md'), 'utf8');
      // `-d` alone says that it sends a form, which the server refuses.
      const form =
        /^curl .*localhost:6969\/(\w+)(?: -H 'Content-Type: application\/json' -d '(.*)')?$/gm;
      const calls = [...readme.matchAll(form)];
      expect(calls).toHaveLength(5);
      for (const [, query, body = '{}'] of calls) {
        const answer = JSON.parse(
          Buffer.from(await database.call(query!, Buffer.from(body))).toString(),
        );
        // Something was found, not merely answered.
        expect(JSON.stringify(answer), query).toMatch(/"\w+":"[^"]+"/);
      }
    } finally {
      await database.close({ snapshot: false });
    }
  });

  it('hello is start', async () => {
    await trellis('init', join(folder, 'a'), '--template', 'hello');
    await trellis('init', join(folder, 'b'));
    for (const name of readdirSync(join(folder, 'a')).filter((each) => each !== 'package.json'))
      expect(readFileSync(join(folder, 'a', name))).toEqual(readFileSync(join(folder, 'b', name)));
  });

  it('writes a configuration in which every key has its default', async () => {
    const project = join(folder, 'app');
    await trellis('init', project);
    const path = join(project, 'trellis.toml');
    const text = readFileSync(path, 'utf8');
    for (const key of keySchemas.keys())
      expect(text).toMatch(new RegExp(`^(# )?${key.split('.').at(-1)} = `, 'm'));
    const before = configOf(project);
    // Where 0 stands for what the machine has, 0 itself cannot be asked for.
    const computed = /^# (workers|memory_bytes) = 0.*$/gm;
    // What is named has a value: where none is the default, the line is there to be filled.
    const doors = [...keySchemas].filter(([, schema]) => 'filled' in schema);
    const names = doors.map(([key]) => key.split('.').at(-1));
    const empty = new RegExp(`^# (${names.join('|')}) = ""`, 'gm');
    const given = text.replaceAll(computed, '').replaceAll(empty, '#');
    const whole = given.replaceAll(/^# (\w+ = )/gm, '$1');
    writeFileSync(path, whole);
    const after = configOf(project);
    const values = ({ settings }: typeof before) =>
      [...settings].map(([key, { value }]) => [key, value]);
    expect(values(after)).toEqual(values(before));
  });

  it('keeps what is there, and refuses sources', async () => {
    writeFileSync(join(folder, 'package.json'), '{"name":"mine"}');
    expect((await trellis('init', folder))[1]).toMatch(/^kept .*package\.json$/m);
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
    writeFileSync(join(folder, 'schema.hx'), 'N::Mine { x: U8 }\n');
    const [code, text] = await trellis('init', folder);
    expect([code, text]).toEqual([
      78,
      expect.stringMatching(/holds \.hx files already\. .*--force\.$/),
    ]);
    expect((await trellis('init', folder, '--force'))[0]).toBe(0);
    expect(readFileSync(join(folder, 'schema.hx'), 'utf8')).toBe('N::Mine { x: U8 }\n');
    expect((await trellis('init', join(folder, 'x'), '--template', 'graphrga'))[1]).toMatch(
      /no template graphrga\. Did you mean graphrag\?$/,
    );
  });

  it('prints the next steps, also for a name with a space', async () => {
    const project = join(folder, 'my app');
    const next = async () => (await trellis('init', project, '--force'))[1];
    expect(await next()).toMatch(/^Next: cd ".*my app" && npm install && npm run dev$/m);
    const installed = join(folder, 'node_modules/trellisdb');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'package.json'), '{}');
    expect(await next()).toMatch(/^Next: cd ".*my app" && npm run dev$/m);
    writeFileSync(join(project, 'package.json'), '{"scripts":{"dev":"vite"}}');
    expect(await next()).toMatch(/^Next: cd ".*my app" && npx --no-install trellisdb dev$/m);
  });
});

/** `P` is a project without data, `F` a file. */
const wrong: [line: string, code: number, said: RegExp][] = [
  ['init F', 78, /^CONFIG_INVALID: A project cannot be written to .*F: EEXIST\. Name a folder/],
  ['init F/app', 78, /^CONFIG_INVALID: A project cannot be written to .*app: ENOTDIR\. Name/],
  ['check F', 1, /^SOURCE_INVALID: .*F: is a file, not a folder\. Name the folder of a project\.$/],
  ['check F/app', 1, /^SOURCE_INVALID: .*app: is a file, not a folder\./],
  ['check P/none', 1, /^SOURCE_INVALID: .*none: does not exist\./],
  [
    'explain P',
    78,
    /^CONFIG_INVALID: trellis explain needs QUERY\. Usage: .* \[PROJECT_DIR\] QUERY$/,
  ],
  [
    'query P',
    78,
    /^CONFIG_INVALID: trellis query needs QUERY\. Usage: .* QUERY \[NAME=VALUE\.\.\.\]$/,
  ],
  [
    'query P people',
    74,
    /^DATA_DIR_BAD: .* holds no data\. A first start of the server makes them\./,
  ],
  ['query P personn', 65, /QUERY_INVALID: There is no query personn\.$/],
  ['recall Note --project P', 74, /^DATA_DIR_BAD: .* holds no data\./],
];

it.each(wrong)('trellis %s: %d, and says why', async (line, code, said) => {
  await trellis('init', join(folder, 'P'));
  writeFileSync(join(folder, 'F'), '');
  const place = (word: string) => (/^[PF]\b/.test(word) ? join(folder, word) : word);
  expect(await trellis(...line.split(' ').map(place))).toEqual([code, expect.stringMatching(said)]);
  expect(readdirSync(join(folder, 'P'))).not.toContain('.trellis');
});
