// The demo project compiles without a diagnostic. Its seed fits its queries and uses only names that it has
// loaded before. The start prints its address first.
import { spawn } from 'node:child_process';
import { cpSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { decodeParameters } from '../../engine/json/decode.js';
import { compile } from '../../engine/lang/compile.js';
import { makeFolder, root } from '../support/project.js';

const folder = new URL('../../server/demo/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.hx'))
  .map((name) => ({ path: name, text: read(name) }));
const { program, diagnostics } = compile(sources, { compat: false });

interface Line {
  query: string;
  body: { rows?: Record<string, string & string[]>[] };
  save?: Record<string, string>;
}
const lines = read('seed.ndjson')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

it('compiles without diagnostics', () => {
  expect(diagnostics).toEqual([]);
  expect(program!.queries.filter((query) => query.mcp).length).toBeGreaterThan(0);
});

it('has a seed whose bodies its queries accept', () => {
  const anyId = '"00000000-0000-7000-8000-000000000000"';
  for (const { query: name, body } of lines) {
    const { plan } = program!.queries.find((query) => query.name === name)!;
    const text = JSON.stringify(body).replace(/"\$\w+"/g, anyId);
    const args = decodeParameters(Buffer.from(text), plan.parameters, name, defaultLimits, true);
    expect(args).toHaveLength(plan.parameters.length);
  }
});

it('has a seed that refers only to what is there', () => {
  const known: Record<string, Set<string>> = {};
  const declare = (kind: string, key: string): void => {
    known[kind] ??= new Set();
    expect(known[kind].has(key), `${kind} ${key} twice`).toBe(false);
    known[kind].add(key);
  };
  const need = (kind: string, ...keys: string[]): void => {
    for (const key of keys) expect(known[kind]?.has(key), `${kind} ${key}`).toBe(true);
  };
  let elements = 0;
  for (const { query, body, save } of lines) {
    for (const row of body.rows ?? [{}]) {
      elements++;
      if (query === 'loadPeople') declare('person', row.key!);
      if (query === 'loadIdeas') declare('idea', row.key!);
      if (query === 'loadWorks') {
        declare('work', row.key!);
        need('person', ...row.authors!);
        need('idea', ...row.ideas!);
      }
      if (query === 'loadPassages') need('work', row.work!);
      if (query === 'linkWorks') {
        need('work', row.later!, row.earlier!);
        declare('work link', `${row.later} ${row.earlier}`);
      }
      if (query === 'linkPeople') {
        need('person', row.teacher!, row.pupil!);
        declare('person link', `${row.teacher} ${row.pupil}`);
      }
    }
    for (const [, name] of JSON.stringify(body).matchAll(/"\$(\w+)"/g)) need('saved', name!);
    for (const name of Object.keys(save ?? {})) declare('saved', name);
  }
  expect(elements).toBeGreaterThan(300);
});

it('says its address before anything else when it starts for the first time', async () => {
  const project = join(makeFolder(), 'demo');
  const filter = (path: string): boolean => !path.endsWith('.trellis');
  cpSync(fileURLToPath(folder), project, { recursive: true, filter });
  // As on a terminal: both streams in one.
  const path = join(project, 'said');
  const said = openSync(path, 'w');
  const argv = [join(root, 'dist/bin/main.js'), 'serve', project, '--port', '0'];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', said, said] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    await expect.poll(() => readFileSync(path, 'utf8')).toContain('"msg":"serving"');
    const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
    expect(first).toMatch(/^trellis ready http:\/\/127\.0\.0\.1:\d+$/);
    expect(rest.join('\n')).toContain('filled from seed.ndjson');
  } finally {
    child.kill();
    await ended;
  }
});
