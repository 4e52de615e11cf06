// Files of a project that commands read, by the links that they can be. A link inside the folder is followed,
// as in a mounted ConfigMap. A file outside of the project is not read by any command, and none of its text
// is shown.
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pathToFileURL } from 'node:url';
import { Project } from '../../server/lsp/project.js';
import { readPrompts } from '../../server/mcp/prompt/prompt-file.js';
import { readSources } from '../../server/project/project.js';
import { makeFolder, writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { runCli, startServer } from '../support/server/server.js';

const secret = 'planted-secret-of-somebody';
const source = 'QUERY one(n: I64) => RETURN n\n';

/** A file of a project, and what it holds where it is somebody else's. */
const files: Record<string, string> = {
  'b.hx': `QUERY two() => RETURN "${secret}"\n`,
  'queries/b.hx': `QUERY two() => RETURN "${secret}"\n`,
  'trellis.toml': `[server]\n${secret} = 1\n`,
  '.env': `TRELLIS_SERVER_PROT=${secret}\n`,
  'helix.toml': `[local.${secret}]\nport = "x"\n`,
  'config.hx.json': `{"port": "${secret}"}`,
  'seed.ndjson': `{"query":"${secret}"}\n`,
};

/** Ways out of a folder. `home` holds `name` already. */
const ways: Record<string, (home: string, project: string, name: string) => void> = {
  'an absolute link': (home, project, name) => symlinkSync(join(home, name), join(project, name)),
  'a relative link': (_, project, name) => {
    const up = name.includes('/') ? '../../home' : '../home';
    symlinkSync(join(up, name), join(project, name));
  },
  'a link to a link': (home, project, name) => {
    symlinkSync(home, join(project, 'l'));
    symlinkSync(join(project, 'l', name), join(project, name));
  },
  'a folder beside with the same beginning': (home, project, name) => {
    const beside = `${project}-other`;
    renameSync(home, beside);
    symlinkSync(join(beside, name), join(project, name));
  },
};

function places(name: string, text: string) {
  const folder = makeFolder();
  const [home, project] = [join(folder, 'home'), join(folder, 'project')];
  for (const place of [home, project]) mkdirSync(join(place, 'queries'), { recursive: true });
  writeProject(project, { sources: { 'a.hx': source } });
  // Only such a project has sources in a folder of their own.
  if (name.includes('/'))
    writeFileSync(join(project, 'helix.toml'), '[project]\nqueries = "queries"\n');
  writeFileSync(join(home, name), text);
  return { home, project };
}

const rows = Object.keys(files).flatMap((name) =>
  Object.keys(ways).map((way) => [name, way] as const),
);
test.each(rows)('%s by %s', async (name, way) => {
  const { home, project } = places(name, files[name]!);
  ways[way]!(home, project, name);
  const done =
    name === 'seed.ndjson'
      ? await runCli(['serve', project, '--port', '0'])
      : await commandHere(['check', project]);
  expect(done.code).not.toBe(0);
  expect(done.stderr).toContain(`${name}`);
  expect(done.stderr).toMatch(/is a link that leads out of the project/);
  expect(done.stdout + done.stderr).not.toContain(secret);
});

test('a folder of sources that leads out of the project is refused, as a link and by name', async () => {
  const { home, project } = places('b.hx', files['b.hx']!);
  for (const [queries, link] of [
    ['../home', undefined],
    [home, undefined],
    ['l', home],
    ['sub', home],
  ] as const) {
    writeFileSync(join(project, 'helix.toml'), `[project]\nqueries = ${JSON.stringify(queries)}\n`);
    if (queries === 'sub') mkdirSync(join(project, 'sub'));
    if (link !== undefined) symlinkSync(link, join(project, queries, queries === 'sub' ? 'l' : ''));
    const done = await commandHere(['check', project]);
    // An absolute name is one below the project, as join() has it.
    if (queries === home) expect(done.code).toBe(0);
    else expect(done.stderr).toMatch(/leads out of the project/);
    expect(done.stdout + done.stderr).not.toContain(secret);
  }
});

test('links inside a project are followed, in particular those of a mounted ConfigMap', async () => {
  const project = makeFolder();
  mkdirSync(join(project, '..2026_11_28/prompts'), { recursive: true });
  const made = {
    'a.hx': source,
    'trellis.toml': '[server]\nport = 7001\n',
    '.env': 'TRELLIS_LOG_LEVEL=warn\n',
    'prompts/k.md': 'Hello\n',
  };
  for (const [name, text] of Object.entries(made))
    writeFileSync(join(project, '..2026_11_28', name), text);
  symlinkSync('..2026_11_28', join(project, '..data'));
  for (const name of ['a.hx', 'trellis.toml', '.env', 'prompts'])
    symlinkSync(join('..data', name), join(project, name));
  const above = join(makeFolder(), 'l');
  symlinkSync(project, above);
  for (const place of [project, above]) {
    expect(readSources(place, 'db').map(({ path }) => path)).toEqual(['a.hx']);
    expect(readPrompts(place).prompts.map(({ name }) => name)).toEqual(['k']);
    const { code, stdout } = await commandHere(['config', 'print', place]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/port = 7001[\s\S]*level = "warn"/)]);
  }
});

test('prompts that lead out of the project are skipped, and named', () => {
  const { home, project } = places('k.md', secret);
  mkdirSync(join(project, 'prompts'));
  symlinkSync(join(home, 'k.md'), join(project, 'prompts/k.md'));
  writeFileSync(join(project, 'prompts/own.md'), 'Hello\n');
  const { prompts, errors: faults } = readPrompts(project);
  expect(prompts.map(({ name }) => name)).toEqual(['own']);
  expect(faults).toEqual(['prompts/k.md: it is a link that leads out of the project']);
  const other = places('k.md', secret);
  symlinkSync(other.home, join(other.project, 'prompts'));
  expect(readPrompts(other.project).prompts).toEqual([]);
});

test('an editor does not read them', () => {
  const { home, project } = places('b.hx', files['b.hx']!);
  symlinkSync(join(home, 'b.hx'), join(project, 'b.hx'));
  const open = new Project(project);
  expect(open.pathIn(join(project, 'a.hx'))).toBe('a.hx');
  expect(open.uriOf('a.hx')).toBe(pathToFileURL(join(project, 'a.hx')).href);
  expect(JSON.stringify(open.sources)).not.toContain(secret);
});

test('a running server reads no file that leads out of the project', async () => {
  const home = makeFolder();
  writeFileSync(join(home, 'b.hx'), files['b.hx']!);
  writeFileSync(join(home, 'k.md'), secret);
  const server = await startServer({
    sources: { 'a.hx': source, 'prompts/own.md': 'Hello\n' },
    config: { 'cors.origins': ['https://foreign.example'], 'log.format': 'text' },
    command: 'dev',
  });
  symlinkSync(join(home, 'k.md'), join(server.project, 'prompts/k.md'));
  symlinkSync(join(home, 'b.hx'), join(server.project, 'b.hx'));
  await expect
    .poll(() => server.stderr)
    .toMatch(/reload failed[\s\S]*b\.hx: is a link that leads out/);
  const asked = await fetch(`http://127.0.0.1:${server.port}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: 'https://foreign.example' },
    body: '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"k"}}',
  });
  expect(await asked.text()).not.toContain(secret);
  expect(readFileSync(join(home, 'k.md'), 'utf8')).toBe(secret);
  await server.dispose();
});
