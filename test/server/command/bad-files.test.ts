// Every command that takes a file or folder, with every kind of invalid one: one line on stderr with a code,
// a specific exit code, no stack, and unchanged data and lock.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { reportFailure } from '../../../server/lifecycle/exit-code.js';
import { nextTurn } from '../../support/run/next-turn.js';
import { makeFolder, writeProject } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';
import { startServer } from '../../support/server/server.js';

const home = process.cwd();
const folder = makeFolder();
const long = 'a'.repeat(300);
const kinds = [
  ['missing', 'none'],
  ['folder', 'dir'],
  ['empty', 'empty'],
  ['bytes', 'junk'],
  ['link to nothing', 'dangling'],
  ['link to itself', 'loop'],
  ['below nothing', 'none/x'],
  ['below a file', 'junk/x'],
  ['longer than names are', long],
  ['device', '/dev/null'],
] as const;

/** `@` stands for the file or folder, `+` for a name that nothing has yet. */
const lines = [
  'load @ --data +',
  'load good --data @',
  'import @ --project app --node A',
  'import good --project app --mapping @',
  'import rows.csv --project app --node A --rejects @/x',
  'dump @ --project app',
  'dump @/x --project app',
  'verify @',
  'verify --project @',
  'verify --data @',
  'verify --salvage @ --project app',
  'verify --salvage @/x --project app',
  'restore @ --data +',
  'compact --data @',
  'recall --project @',
  'check @',
  'fmt @',
  'types @',
  'types app --out @/x',
  'types app --python @/x',
  'openapi @',
  'openapi app --out @',
  'openapi app --out @/x',
  'init @',
  'query @ all',
  'explain @ all',
  'config print @',
  'keys list @',
  'cluster status @',
];

async function run(argv: readonly string[]) {
  const { code, stderr } = await commandHere(argv);
  return { code, err: stderr.trimEnd() };
}

beforeAll(async () => {
  process.chdir(folder);
  writeProject(join(folder, 'app'), {
    sources: { 'main.hx': 'N::A { x: I64 }\nQUERY all() => a <- N<A> RETURN a\n' },
  });
  mkdirSync('dir');
  writeFileSync('empty', '');
  writeFileSync('rows.csv', 'x\n1\n2\n');
  writeFileSync('junk', Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * 7919) % 256)));
  symlinkSync('nowhere', 'dangling');
  symlinkSync('loop', 'loop');
  for (const line of ['import rows.csv --project app --node A', 'dump good --project app'])
    expect(await run(line.split(' '))).toEqual({ code: 0, err: '' });
});
afterAll(() => process.chdir(home));

let fresh = 0;

it.each(kinds)('%s', async (_kind, path) => {
  for (const line of lines) {
    const name = `new-${fresh++}`;
    const argv = line.split(' ').map((word) => word.replace('@', path).replace('+', name));
    const { code, err } = await run(argv);
    const last = err.split('\n').at(-1)!;
    expect([line, code]).not.toEqual([line, 70]);
    if (code > 1) expect([line, last]).toEqual([line, expect.stringMatching(/^[A-Z_]+: |faulty$/)]);
    expect([line, err]).not.toEqual([line, expect.stringMatching(/INTERNAL|^\s+at /m)]);
    await nextTurn();
  }
  // What was opened is closed, and the lock with it.
  expect(await run(['verify', '--project', 'app'])).toEqual({ code: 0, err: '' });
});

it('what is written to a file that takes no more is no defect', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const error = { code: 'ENOSPC', syscall: 'write' };
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), error);
  expect(reportFailure(full)).toBe(74);
  expect(said.mock.calls).toEqual([['FILE_UNUSABLE: write: no space left on device.']]);
  said.mockRestore();
});

it('a dump of served data leaves no copy of them, and none is made that cannot be written', async () => {
  const server = await startServer({ sources: { 'main.hx': 'N::A { x: U8 }' } });
  const at = ['--project', server.project, '--data', server.data];
  const [bad, good] = [await run(['dump', 'lost/x', ...at]), await run(['dump', 'whole', ...at])];
  const left = readdirSync(join(server.data, 'backups'));
  await server.dispose();
  const told = ['FILE_UNUSABLE', 'lost/x', 'no such file or directory.'];
  expect([bad.code, bad.err.split(': ')]).toEqual([74, told]);
  expect([good, left]).toEqual([{ code: 0, err: '' }, []]);
});
