// What the system lacks, apart from a server: how errors are told, what becomes of tasks whose thread cannot begin,
// and a database in a process that has no descriptor left.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toErrorData } from '../../../engine/base/errors.js';
import { TaskThread } from '../../../engine/system/task-thread.js';
import { makeFolder, root } from '../../support/project.js';

describe('an error that', () => {
  const withCode = (code: unknown, message = 'x', more: object = {}): Error =>
    Object.assign(new Error(message), { code, ...more });

  it.each<[what: string, error: Error, isShort: boolean]>([
    ['names a full table of files', withCode('EMFILE'), true],
    ['names a full table of the machine', withCode('ENFILE'), true],
    ['names memory', withCode('ENOMEM'), true],
    ['names processes', withCode('EAGAIN', 'spawn x EAGAIN', { syscall: 'spawn x' }), true],
    ['is LMDB’s, by number', withCode(24), true],
    ['is LMDB’s, of memory', withCode(12), true],
    [
      'is a thread’s that did not begin',
      withCode('ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EMFILE'),
      true,
    ],
    ['has lost its code between threads', new Error('EMFILE: too many open files, open x'), true],
    ['is an array that was not given', new RangeError('Array buffer allocation failed'), true],
    [
      'is a memory that was not given',
      new RangeError('WebAssembly.Memory(): could not allocate memory'),
      true,
    ],
    ['is of a full disk', withCode('ENOSPC'), false],
    ['is of a pipe that is full', withCode('EAGAIN', 'x', { syscall: 'write' }), false],
    ['is of a file that is missing', withCode('ENOENT'), false],
    ['is LMDB’s, of a full disk', withCode(28), false],
    ['is a defect', new RangeError('Invalid array length'), false],
    ['speaks of it', new Error('we saw EMFILE: yesterday'), false],
  ])('%s', (_, error, isShort) => {
    const { error: data, stack } = toErrorData(error);
    expect([data.code, stack === undefined]).toEqual([
      isShort ? 'RESOURCE_EXHAUSTED' : 'INTERNAL',
      isShort,
    ]);
  });
});

describe('a thread that runs tasks', () => {
  const entry = join(makeFolder(), 'entry.cjs');
  writeFileSync(
    entry,
    `module.exports = async ({ what, ms }) => {
       if (what === 'throw') throw new Error('thrown');
       if (what === 'exit') process.exit(3);
       if (what === 'hoard') { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); }
       if (what === 'late') await new Promise((done) => setTimeout(done, ms));
       return what;
     };`,
  );
  const made = (file = entry) => new TaskThread({ entry: pathToFileURL(file).href, heapMb: 32 });
  const endOf = (work: Promise<unknown>): Promise<string> =>
    work.then(String, (error: Error) => error.message);

  it('ends each with its own result, independently of the one before', async () => {
    const thread = made();
    const wanted = ['a', 'throw', 'b', 'exit', 'c', 'hoard', 'd', 'throw', 'e'];
    const ends = await Promise.all(wanted.map((what) => endOf(thread.run({ what }))));
    expect(ends).toEqual([
      'a',
      'thrown',
      'b',
      expect.stringContaining('exited'),
      'c',
      expect.stringContaining('memory'),
      'd',
      'thrown',
      'e',
    ]);
    await thread.close();
  });

  it('is ended with a task that exceeds its time, and others continue', async () => {
    const thread = made();
    const signal = AbortSignal.timeout(50);
    const late = thread.run({ what: 'late', ms: 60_000 }, { signal });
    const next = thread.run({ what: 'next' });
    await expect(late).rejects.toMatchObject({ name: 'AbortError' });
    expect(await next).toBe('next');
    await thread.close();
  });

  it('whose module is missing fails with that reason, each time', async () => {
    const thread = made(join(makeFolder(), 'missing.cjs'));
    for (let i = 0; i < 3; i++) expect(await endOf(thread.run({}))).toMatch(/Cannot find/);
    await thread.close();
  });
});

const hasPrlimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.log('skipped: to lower limits needs prlimit');

/** A process that embeds a database, and then has no descriptor left. */
const embedded = (folder: string, workers: number): string => `
import { closeSync, openSync } from 'node:fs';
import { open } from '${join(root, 'dist/bin/index.js')}';
const text = 'N::Row { x: I64 } QUERY add(x: I64) => r <- AddN<Row>({ x: x }) RETURN r::{x} ' +
  'QUERY count() => n <- N<Row>::COUNT RETURN n';
const sources = [{ path: 'a.hx', text }];
const options = { dataDir: '${folder}', sources, workers: ${workers}, minFreeBytes: 0 };
const told = [];
const end = (work) => work().then(() => 'done', ({ code }) => code);
const tell = async (what, work) => told.push([what, await end(work)]);
const held = [];
const take = () => { try { for (;;) held.push(openSync('/dev/null')); } catch {} };
const give = () => { for (const one of held.splice(0)) closeSync(one); };
take();
await tell('open', async () => { await (await open(options)).close(); });
give();
const db = await open(options);
for (const phase of ['at first', 'short', 'again']) {
  if (phase === 'short') take(); else give();
  await tell(phase + ' add', () => db.call('add', { x: 1 }));
  await tell(phase + ' count', () => db.call('count', {}));
  await tell(phase + ' back up', () => db.database.backUp('${folder}-' + phase));
}
take();
await tell('close', () => db.close());
give();
const after = await open(options);
const { n } = await after.call('count', {});
await after.close();
console.log(JSON.stringify({ told, n }));`;

(hasPrlimit ? it : it.skip).each([0, 2])(
  'a database in a process without descriptors, with %i readers',
  (workers) => {
    const script = embedded(join(makeFolder(), 'data'), workers);
    const args = ['--nofile=128:128', process.execPath, '--input-type=module', '-e', script];
    const { stdout, stderr, status, signal } = spawnSync('prlimit', args, { encoding: 'utf8' });
    expect([status, signal], stderr).toEqual([0, null]);
    const { told, n } = JSON.parse(stdout) as { told: [string, string][]; n: number };
    expect(Object.fromEntries(told)).toEqual({
      open: 'RESOURCE_EXHAUSTED',
      'at first add': 'done',
      'at first count': 'done',
      'at first back up': 'done',
      'short add': 'done',
      'short count': 'done',
      'short back up': 'RESOURCE_EXHAUSTED',
      'again add': 'done',
      'again count': 'done',
      'again back up': 'done',
      close: 'done',
    });
    expect(n).toBe(3);
  },
);
