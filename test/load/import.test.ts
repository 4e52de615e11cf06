// `trellis import` on files as they come: what each set of files, flags and mapping leaves in the data,
// and which rows are refused where. All cases go through the command, into one server.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { importFiles } from '../../server/command/data/import.js';
import { parseCommandLine } from '../../server/terminal/parse-flags.js';
import { makeFolder, writeProject } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';
import { type ImportCase, cases, refusals, source } from './import-cases.js';

let server: Server;
beforeAll(async () => {
  server = await startServer({
    sources: { 'main.hx': source },
    config: { 'storage.min_free': '1MiB' },
  });
});
afterAll(async () => {
  await server.stop();
  const path = join(server.data, 'graph');
  const storage = openStorage(path, { limits: defaultLimits, mode: 'create' });
  expect(verifyStorage(storage)).toEqual([]);
  storage.close();
});

async function ask(name: string, body: object = {}): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json' };
  const url = `http://127.0.0.1:${server.port}/${name}`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

interface Done {
  code: number;
  out: string;
  rejects: string[];
}

/** Runs the command in this process, in the folder that holds the files. */
async function run(folder: string, argv: readonly string[]): Promise<Done> {
  const written: string[] = [];
  const spy = vi.spyOn(console, 'log').mockImplementation((text) => {
    written.push(`${String(text)}\n`);
  });
  const rejects = join(folder, 'refused');
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const known = ['--project', folder, '--url', url, '--rejects', rejects];
    const words = argv.map((word) => word.replaceAll('./', `${folder}/`));
    const code = await importFiles.run(parseCommandLine([...words, ...known], importFiles));
    const lines = existsSync(rejects) ? readFileSync(rejects, 'utf8').trim().split('\n') : [];
    return {
      code,
      out: written.join(''),
      rejects: lines.map((line) => {
        const row = JSON.parse(line) as { file: string; line: number; code: string };
        return `${row.file.slice(folder.length + 1)}:${row.line} ${row.code}`;
      }),
    };
  } finally {
    spy.mockRestore();
  }
}

function write(files: Record<string, string>): string {
  const folder = makeFolder();
  writeProject(folder, { sources: { 'main.hx': source } });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The values that are set. */
const textOf = (row: unknown): string =>
  Object.values(row as object)
    .filter((value) => value !== null)
    .join(' ');

async function found(): Promise<Record<string, unknown>> {
  const all = (await ask('all')) as Record<string, unknown[]>;
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, rows]) => rows.length > 0)
      .map(([name, rows]) => [name, rows.map(textOf)]),
  );
}

describe('import', () => {
  it.each(Object.keys(cases))('%s', async (name) => {
    const { before, files, runs, data, rejects = [], out }: ImportCase = cases[name]!;
    await ask('clear');
    const folder = write({ ...before, ...files });
    if (before)
      await run(
        folder,
        Object.keys(before).map((file) => `./${file}`),
      );
    const texts: string[] = [];
    let refused: string[] = [];
    for (const argv of runs) {
      try {
        const done = await run(folder, argv);
        texts.push(done.out);
        refused = done.rejects;
        expect(done.code).toBe(done.rejects.length === 0 ? 0 : 1);
      } catch (error) {
        texts.push((error as Error).message);
      }
    }
    const text = texts.join('').replaceAll(`${folder}/`, '');
    expect({ data: await found(), rejects: refused }, text).toEqual({ data, rejects });
    for (const part of out ?? []) expect(text).toMatch(part);
  });

  it.each(Object.keys(refusals))('refuses %s', async (name) => {
    const [files, argv, message] = refusals[name]!;
    const folder = write(files);
    const said = await run(folder, argv).then(
      () => 'nothing',
      ({ message: text, data }: Error & { data?: { hint?: string } }) =>
        `${text} ${data?.hint ?? ''}`.replaceAll(`${folder}/`, ''),
    );
    expect(said).toMatch(message);
  });

  it('keeps the keyword and vector indexes of what a row changes', async () => {
    await ask('clear');
    const row = (kind: string, name: string, rest: object) =>
      `${JSON.stringify({ [kind]: name, ...rest })}\n`;
    const note = (values: number[]) =>
      row('vector', 'Note', { values, properties: { key: 'k', text: 't' } });
    const person = (name: string) => row('node', 'Person', { properties: { email: 'e', name } });
    const folder = write({
      'n1.ndjson': note([1, 0]) + note([2, 0]),
      'n2.ndjson': note([0, 5]),
      'p1.ndjson': person('Red Fox') + person('Blue Fox') + person('Grey Wolf'),
      'p2.ndjson': person('Grey Owl'),
    });
    for (const name of ['n1', 'n2']) await run(folder, [`./${name}.ndjson`, '--upsert', 'key']);
    for (const name of ['p1', 'p2']) await run(folder, [`./${name}.ndjson`, '--upsert', 'email']);
    expect(await found()).toEqual({ notes: ['k t'], people: ['Grey Owl e'] });
    const hits = async (words: string) => (await ask('find', { words })).p;
    expect(await hits('owl')).toEqual([{ name: 'Grey Owl' }]);
    for (const word of ['red', 'blue', 'fox', 'wolf']) expect(await hits(word)).toEqual([]);
    expect(await ask('near', { vec: [0, 1] })).toEqual({ v: [{ key: 'k' }] });
  });
});
