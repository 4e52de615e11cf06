// Faults that a newcomer met in the first hour with the command line: each ends with one line that says what to do.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, root, writeProject } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, startServer } from '../../support/server/server.js';

const source = `N::Person { name: String }
QUERY addPerson(name: String) => p <- AddN<Person>({ name: name }) RETURN p::ID
QUERY people() => p <- N<Person> RETURN p::{name}
`;

const main = join(root, 'dist/bin/main.js');

function project(files: Record<string, string> = {}): string {
  const folder = makeFolder();
  writeProject(folder, { sources: { 'main.hx': source, ...files } });
  return folder;
}

describe('Node of an older version', () => {
  it.each(['18.20.4', '20.18.3', '16.0.0'])('%s: one line', (version) => {
    const versions = `{ value: { ...process.versions, node: '${version}' } }`;
    const fake = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`;
    const { status, stderr } = spawnSync(process.execPath, ['--import', fake, main, 'version'], {
      encoding: 'utf8',
    });
    const line = `trellis needs Node.js 20.19 or newer. This is Node.js ${version}.\n`;
    expect([status, stderr]).toEqual([78, line]);
  });
});

describe('a flag without a command', () => {
  it.each([['--port', '1'], ['--data=x'], ['-p']])('%s', async (...argv) => {
    const { code, stderr } = await commandHere(argv);
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /^CONFIG_INVALID: A command must come before -.* Usage: trellis COMMAND/,
    );
    expect(stderr).not.toContain('import');
  });
});

describe('check reads the seed', () => {
  const good = '{"query":"addPerson","body":{"name":"Ada"},"save":{"ada":"/p"}}';
  const lines: [text: string, message: RegExp][] = [
    [
      '{"query":"addPersn","body":{"name":"Ada"}}',
      /there is no query "?addPersn"?\. Did you mean addPerson\?/,
    ],
    ['{"query":"addPerson"}', /addPerson needs `name`/],
    ['{"query":"addPerson","body":[]}', /addPerson needs `name`/],
    ['{"query":"addPerson","body":7}', /the body is no object/],
    ['{"query":"people","bodi":{}}', /is no \{query, body, save\}/],
    ['{"query"', /is not JSON/],
  ];
  it('that is good', async () => {
    const folder = project({ 'seed.ndjson': `${good}\n\n${good}\n` });
    expect(await commandHere(['check', folder])).toEqual({
      code: 0,
      stdout: '1 file: 0 errors, 0 warnings\n',
      stderr: '',
    });
  });
  it.each(lines)('%s', async (line, message) => {
    const folder = project({ 'seed.ndjson': `${good}\n${line}\n` });
    const { code, stdout, stderr } = await commandHere(['check', folder]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^SOURCE_INVALID: /)]);
    const [first, last] = stdout.split('\n');
    expect(first).toMatch(new RegExp(`^seed\\.ndjson:2: ${message.source}`));
    expect(last).toBe('1 file: 1 error, 0 warnings');
    const json = JSON.parse((await commandHere(['check', folder, '--json'])).stdout);
    expect(json.seed).toEqual([
      { file: 'seed.ndjson', line: 2, message: expect.stringMatching(message) },
    ]);
  });
});

const unreachable = 'SERVER_UNREACHABLE';

it.each([
  ['cluster', 'status'],
  ['cluster', 'step-down'],
  ['cluster', 'check'],
])('%s %s without a server says that none runs', async (...argv) => {
  const { code, stderr } = await commandHere([...argv, project()]);
  expect(code).toBe(75);
  expect(stderr.split(': ')[0]).toBe(unreachable);
  expect(stderr).toMatch(/: none has .* open\. Start one with `trellis serve`\.\n$/);
});

describe('a server with a self-signed certificate', () => {
  const certificates = makeFolder();
  const make = (name: string, subject: string): Record<string, string> => {
    const [cert, key] = [join(certificates, `${name}.pem`), join(certificates, `${name}.key`)];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const to = ['-subj', `/CN=${subject}`, '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...curve, ...to], { stdio: 'ignore' });
    return { TRELLIS_TLS_CERT: cert, TRELLIS_TLS_KEY: key };
  };
  let server: Server | undefined;
  afterAll(() => server?.dispose());

  it('answers commands of its project, and no others are trusted', async () => {
    const own = make('own', 'db.example.com');
    server = await startServer({ sources: { 'main.hx': source }, env: own });
    const ask = (certificate: Record<string, string>) => {
      const argv = ['query', 'people', '--project', server!.project, '--data', server!.data];
      return spawnSync(process.execPath, [main, ...argv, '--json'], {
        env: { ...process.env, ...certificate },
        encoding: 'utf8',
      });
    };
    const good = ask(own);
    expect([good.status, good.stdout, good.stderr]).toEqual([0, '{"p":[]}\n', '']);
    const bad = ask(make('other', 'localhost'));
    expect(bad.status).toBe(75);
    expect(bad.stderr.split(': ')[0]).toBe(unreachable);
    const what = 'is not the one in `tls.cert`';
    expect(bad.stderr).toContain(`the certificate of https://127.0.0.1:${server.port} ${what}`);
  });
});

describe('backup NAME, then restore NAME', () => {
  it('takes the same name for both, and a path as before', async () => {
    const folder = project();
    const backups = { TRELLIS_BACKUP_DIR: join(folder, 'kept') };
    const run = (...argv: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...argv], {
        env: { ...process.env, ...backups },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      return stdout;
    };
    run('query', folder, 'addPerson', 'name=Mary Shelley', '--write');
    run('backup', 'live1', '--project', folder);
    for (const [name, from] of [
      ['named', 'live1'],
      ['path', join(folder, 'kept/live1')],
    ] as const) {
      const data = join(folder, name);
      run('restore', from, '--project', folder, '--data', data);
      expect(run('query', folder, 'people', '--data', data, '--json')).toContain('Mary Shelley');
    }
  });

  it('names `backup.dir` if there is no such backup', async () => {
    const lost = await commandHere(['restore', 'live2', '--project', project()]);
    expect([lost.code, lost.stderr]).toEqual([
      78,
      expect.stringMatching(/There is no backup .*live2\. .* to .*backups \(`backup\.dir`\)\.\n$/),
    ]);
  });

  it('says what to do if the data directory has data', async () => {
    const folder = project();
    const add = ['query', folder, 'addPerson', 'name=Ada', '--write'];
    expect((await commandHere(add)).code).toBe(0);
    expect((await commandHere(['backup', 'live1', '--project', folder])).code).toBe(0);
    const full = await commandHere(['restore', 'live1', '--project', folder]);
    expect([full.code, full.stderr]).toEqual([
      74,
      expect.stringMatching(/data already has data\. .*move the directory away.*--data DIR\.\n$/),
    ]);
  });
});

it('dev in a folder without sources names `trellis init`', async () => {
  const server = await startServer({ sources: {}, env: { TRELLIS_LOG_LEVEL: 'warn' } });
  const log = server.stderr;
  await server.dispose();
  expect(log).toContain('the project has no .hx files; `trellis init` creates a project');
});

it('help of a command shows examples', async () => {
  const { stdout } = await commandHere(['query', '--help']);
  expect(stdout).toContain('Examples:\n  trellis query people\n');
});

it('a former name of a flag is accepted, with one line that says the new one', async () => {
  const folder = project();
  const { code, stderr } = await commandHere(['import', folder, '--again', '--map', 'none.toml']);
  expect(stderr.split('\n').slice(0, 2)).toEqual([
    '--again is called --reimport now.',
    '--map is called --mapping now.',
  ]);
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('none.toml')]);
});
