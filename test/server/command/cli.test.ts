// The commands: output, last line on stderr, exit codes, start and stop (operations.md 1 and 4); as
// processes where that is what counts.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrellisError } from '../../../engine/internal.js';
import { type Environment, loadConfig } from '../../../server/config/config.js';
import { reportFailure } from '../../../server/lifecycle/exit-code.js';
import { serve } from '../../../server/lifecycle/server.js';
import { bundled } from '../../support/run/bundled.js';
import { commandHere } from '../../support/server/command-here.js';
import { Connection } from '../../support/server/http.js';

const here = dirname(fileURLToPath(import.meta.url));
let bundle: string;
let folder: string;
const children = new Set<ChildProcess>();

beforeAll(() => {
  bundle = bundled('test/server/serve-fake.ts');
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trellis-cli-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const good = 'N::A { x: U8 }\nQUERY all() =>\n  a <- N<A>\n  RETURN a\n';
const faulty =
  'N::A { x: U8 }\nQUERY all() =>\n  a <- N<B>\n  RETURN a\nQUERY two() =>\n  RETURN zzz\n';

class Run {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;

  constructor(argv: string[], env: Record<string, string> = {}) {
    const clean = Object.entries(process.env).filter(
      ([name]) => !/^(TRELLIS|HELIX|OPENAI|LD_)/.test(name),
    );
    this.child = spawn(process.execPath, [bundle, ...argv], {
      cwd: folder,
      env: { ...Object.fromEntries(clean), ...env },
    });
    children.add(this.child);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exit = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  get lastLine(): string {
    return lastLineOf(this.stderr);
  }

  async ready(): Promise<number> {
    await expect.poll(() => this.stdout).toMatch(/^trellis ready http:\/\/127\.0\.0\.1:\d+\n$/);
    return Number(/:(\d+)\n/.exec(this.stdout)![1]);
  }
}

/** What is served here must end before it installs anything. */
async function inProcess(work: () => Promise<number>) {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  const spies = [vi.spyOn(console, 'error'), vi.spyOn(console, 'log')];
  for (const spy of spies) spy.mockImplementation(keep);
  const code = await work().finally(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const text = lines.join('\n');
  return { code, text, lastLine: text.split('\n').at(-1)! };
}

async function apart(
  argv: string[],
  env: Record<string, string>,
): Promise<Run & { code: number | null }> {
  const process = new Run(argv, env);
  return Object.assign(process, { code: await process.exit });
}

const lastLineOf = (text: string): string => text.trim().split('\n').at(-1) ?? '';

async function run(argv: string[]) {
  const done = await commandHere(argv, folder);
  return { ...done, lastLine: lastLineOf(done.stderr) };
}

describe('check', () => {
  it('is content with a clean project', async () => {
    write('a.hx', good);
    const { code, stdout, stderr } = await run(['check', '.']);
    expect([code, stdout, stderr]).toEqual([0, '1 file: 0 errors, 0 warnings\n', '']);
  });
  it('prints every diagnostic', async () => {
    write('db/a.hx', faulty);
    const result = await run(['check', folder]);
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/^db\/a\.hx:3:\d+ E101 /m);
    expect(result.stdout).toMatch(/^db\/a\.hx:6:\d+ E301 /m);
    expect(result.lastLine).toMatch(/^SOURCE_INVALID: /);
    expect(existsSync(join(folder, '.trellis'))).toBe(false);
  });
  it('prints for programs', async () => {
    write('a.hx', faulty);
    const { code, stdout } = await run(['check', '--json']);
    const codes = JSON.parse(stdout).diagnostics.map((d: { code: string }) => d.code);
    expect([code, codes]).toEqual([1, ['E101', 'E301']]);
  });
  it('names unnecessary full scans with --slow', async () => {
    write(
      'a.hx',
      `${good}\nN::Tall { size: U8 }\nQUERY tall() => t <- N<Tall>({ size: 3 }) RETURN t`,
    );
    expect((await run(['check'])).code).toBe(0);
    const { code, stdout, lastLine } = await run(['check', '--slow']);
    expect([code, lastLine.slice(0, 6)]).toEqual([1, 'W120: ']);
    expect(stdout).toMatch(/^a\.hx:\d+:\d+ W120 All of `N<Tall>` is read to find `size`\./m);
    expect(stdout).toContain('hint: Declare `INDEX size` in `N::Tall`.');
    write('a.hx', good);
    expect((await run(['check', '--slow'])).code).toBe(0);
  });
  it('ends with 1 for a project that cannot be read', async () => {
    mkdirSync(join(folder, 'a.hx'));
    const result = await run(['check']);
    expect([result.code, result.lastLine]).toEqual([1, 'SOURCE_INVALID: a.hx: is a directory']);
  });
});

describe('config and keys', () => {
  it('prints the configuration', async () => {
    const result = await apart(['config', 'print'], {
      TRELLIS_API_KEY: 'planted-secret-1',
      OPENAI_API_KEY: 'planted-secret-2',
    });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('***');
    expect(result.stdout + result.stderr).not.toContain('planted');
  });
  it('adds, lists and revokes keys', async () => {
    const added = await run([
      'keys',
      'add',
      'ci',
      '--role',
      'read',
      '--queries',
      'get*,all',
      '--data',
      'd',
    ]);
    expect(added.code).toBe(0);
    expect(added.stdout).toMatch(/^tk_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}\n$/);
    expect(statSync(join(folder, 'd/keys.json')).mode & 0o777).toBe(0o600);
    const listed = await run(['keys', 'list', '--data', 'd']);
    expect(listed.stdout).toMatch(/^[0-9A-Za-z]{8} {2}read {2}ci .*queries get\*,all\n$/);
    expect(listed.stdout).not.toContain(added.stdout.slice(12).trim());
    expect((await run(['keys', 'revoke', 'ci', '--data', 'd'])).code).toBe(0);
    expect((await run(['keys', 'list', '--data', 'd'])).stdout).toBe('');
    expect((await run(['keys', 'revoke', 'ci', '--data', 'd'])).code).toBe(78);
  });

  const refused: [string[], RegExp][] = [
    [['serve', '.', '--workers', '0'], /server\.workers must be an integer from 1 to 64/],
    [['serve', '.', '--workers', '1.5'], /from 1 to 64/],
    [['serve', '.', '--workers=-1'], /from 1 to 64/],
    [['serve', '.', '--worker', '1'], /Did you mean --workers\?/],
    [['serve', '.', '--port'], /--port needs a value/],
    [['serve', 'a', 'b'], /does not take b/],
    [['restore'], /needs BACKUP\. Usage: trellis restore BACKUP/],
    [['check', '--json=yes'], /--json takes no value/],
    [['check', '-x'], /takes no -x/],
    [['help', 'chek'], /Did you mean check\?/],
    [['load', 'nowhere'], /no file nowhere\. `trellis dump FILE` writes one\.$/],
    [['sevre'], /Did you mean `trellis serve`\?/],
    [['config', 'show'], /Usage: trellis config print/],
    [['keys', 'add', 'x', '--role', 'king'], /--role must be read, write, admin, metrics/],
    [['keys', 'add', 'x', '--role', 'read', '--expires', 'soon'], /--expires must be a date/],
  ];
  it.each(refused)('%o -> 78', async (argv, message) => {
    const { code, lastLine } = await run(argv);
    expect(code).toBe(78);
    expect(lastLine).toMatch(/^CONFIG_INVALID: /);
    expect(lastLine).toMatch(message);
  });
});

describe('help', () => {
  const printed = async (...argv: string[]) => {
    const { code, stdout } = await run(argv);
    expect([argv, code]).toEqual([argv, 0]);
    return stdout;
  };
  it('names every command with a sentence, and what each takes', async () => {
    const text = await printed('help');
    for (const same of [[], ['--help'], ['-h']]) expect(await printed(...same)).toBe(text);
    const rows = [...text.matchAll(/^ {2}(\w+) +(\S.*)$/gm)];
    const files = readdirSync(join(here, '../../../server/command'), {
      recursive: true,
    }) as string[];
    const names = files
      .filter((file) => file.endsWith('.ts') && !file.startsWith('support'))
      .map((file) => basename(file, '.ts'))
      .filter((name) => name !== 'cli');
    expect(rows.map(([, name]) => name).sort()).toEqual(names.sort());
    for (const [, name, about] of rows) {
      expect(about).toMatch(/^[A-Z].*[^.]\.$/);
      const help = await printed('help', name!);
      expect(help).toContain(`${about}\n\nUsage: trellis ${name} `);
      expect(help).toMatch(/^ {2}--help +\S/m);
      expect(await printed(name!, '--help')).toBe(help);
      expect(await printed(name!, '-h')).toBe(help);
    }
    // What is about a project says which one in one way.
    for (const name of names.filter(
      (each) => !['help', 'version', 'init', 'completion'].includes(each),
    ))
      expect(await printed('help', name)).toMatch(/--project DIR[\s\S]*--data DIR/);
  });
  it('says the version', async () => {
    expect(await printed('version')).toMatch(/^\d+\.\d+\.\d+/);
    expect(await printed('--version')).toBe(await printed('version'));
  });
  it('takes the project as a word and as a flag', async () => {
    write('p/a.hx', faulty);
    const place = (text: string) => text.replaceAll(folder, '');
    const asked = (...argv: string[]) => run(['check', ...argv]);
    const word = await asked(join(folder, 'p'));
    expect(place(word.stdout)).toMatch(/p\/a\.hx:3:10 E101/);
    expect(await asked('--project', join(folder, 'p'))).toEqual(word);
    const both = await asked(join(folder, 'p'), '--project', folder);
    expect(both.lastLine).toMatch(/^CONFIG_INVALID: There are two projects: /);
  });
  it('paints for a terminal alone', async () => {
    write('a.hx', faulty);
    const control = String.fromCharCode(27);
    const clean = { FORCE_COLOR: '', NO_COLOR: '' };
    expect((await apart(['check'], { ...clean, FORCE_COLOR: '1' })).stdout).toContain(control);
    expect((await apart(['check'], { FORCE_COLOR: '0' })).stdout).not.toContain(control);
  });
});

describe('serve', () => {
  it('is ready one time, serves, drains, exits with 0', async () => {
    write('a.hx', good);
    const server = new Run(['serve-fake', '.']);
    const port = await server.ready();
    const connection = await Connection.open(port);
    expect((await connection.request({ method: 'GET', path: '/readyz' })).status).toBe(200);
    const slow = connection.request({ path: '/later', body: '{"ms":300}' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    server.child.kill('SIGTERM');
    expect((await slow).text).toBe('{"ms":300}');
    expect(await server.exit).toBe(0);
    expect(server.stdout.match(/trellis ready/g)).toHaveLength(1);
  });
  it('reloads what changed', async () => {
    write('a.hx', good);
    const server = new Run(['serve-fake', '.']);
    const port = await server.ready();
    const call = async () =>
      (await (await Connection.open(port)).request({ path: '/fresh' })).status;
    expect(await call()).toBe(404);
    write('a.hx', faulty);
    await expect.poll(() => server.stderr).toContain('still serving the previous version');
    write('a.hx', good.replace('all', 'fresh'));
    // The fake knows no such query: what counts is that the route exists.
    await expect.poll(call).toBe(500);
    server.child.kill('SIGINT');
    expect(await server.exit).toBe(0);
  });

  const failures: [string, number, RegExp][] = [
    ['DATA_DIR_BAD', 74, /^DATA_DIR_BAD: The data directory cannot be used: a test\. /],
    ['DATA_LOCKED', 75, /^DATA_LOCKED: /],
    ['DATA_CORRUPT', 74, /^DATA_CORRUPT: .*trellis verify/],
    ['FORMAT_TOO_NEW', 76, /^FORMAT_TOO_NEW: /],
    ['SCHEMA_INCOMPATIBLE', 65, /^SCHEMA_INCOMPATIBLE: /],
  ];
  const start = (environment: Environment, code = 'INTERNAL'): Promise<number> => {
    const config = loadConfig({ projectDir: folder, flags: new Map(), environment: {} });
    const error = new TrellisError({ code: code as 'DATA_LOCKED', args: { what: 'a test' } });
    const openDatabase = () => Promise.reject(error);
    return serve({ config, environment, allowPreload: false, openDatabase }).catch(reportFailure);
  };
  it.each(failures)('%s -> %i', async (name, expected, line) => {
    write('a.hx', good);
    const { code, lastLine } = await inProcess(() => start({}, name));
    expect([code, lastLine]).toEqual([expected, expect.stringMatching(line)]);
  });
  it.each(['LMDB_RESTORE', 'LD_PRELOAD'])('%s -> 78', async (name) => {
    const { code, lastLine } = await inProcess(() => start({ [name]: '1' }));
    expect([code, lastLine]).toEqual([78, expect.stringMatching(`^CONFIG_INVALID: ${name}`)]);
  });
  it('refuses invalid sources with all diagnostics', async () => {
    write('a.hx', faulty);
    const { code, text } = await inProcess(() => start({}));
    expect(code).toBe(65);
    expect(text).toMatch(/E101[\s\S]*E301[\s\S]*SOURCE_INVALID: The sources have 2 errors\./);
  });
  it('refuses a taken port', async () => {
    write('a.hx', good);
    const first = new Run(['serve-fake', '.']);
    const port = await first.ready();
    const second = await apart(['serve-fake', '.'], { FAKE_PORT: String(port) });
    expect([second.code, second.lastLine]).toEqual([
      71,
      expect.stringMatching(/^PORT_IN_USE: .*--port/),
    ]);
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
  });
});
