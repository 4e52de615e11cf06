// T26: what surrounds a server is taken from it, one thing after another, while everything is done that can be
// done. Nothing ends by a signal or a defect, what is refused works again once the thing is back, and /readyz
// says how it is. Things that are away for good (a working directory, streams) keep nothing from working.
import { spawnSync } from 'node:child_process';
import { rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../support/project.js';
import { compiled, whyNoC } from '../support/compiled.js';
import { Subject, type SubjectOptions } from './subject.js';
import { afterwards, commandsEnd, during, freshSeen, metric, stopsWell } from './verdict.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const succeeds = (program: string, ...args: string[]): boolean =>
  process.platform === 'linux' && spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Says what the machine lacks. */
function given(has: boolean, why: string) {
  if (!has) console.log(`skipped: ${why}`);
  return has ? it : it.skip;
}
const withLimits = given(succeeds('prlimit', '--version'), 'to lower limits needs prlimit');
const noC = whyNoC('to take threads away');
const withPreload = given(noC === undefined, noC ?? '');
const hiding = ['unshare', '-rm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
const hasAll = noC === undefined && succeeds('prlimit', '--version');
const withAll = given(hasAll, 'to take all of it needs prlimit and a C compiler');
const withoutProc = given(
  succeeds(hiding[0]!, ...hiding.slice(1), 'true'),
  'to hide /proc needs unshare',
);

/** What takes seconds each. */
const inLong = (here: typeof it | typeof it.skip) => (long ? here : it.skip);

const subjects: Subject[] = [];
afterEach(() => {
  for (const one of subjects.splice(0)) one.kill();
});

function made(options: SubjectOptions = {}): Subject {
  const subject = new Subject(options);
  subjects.push(subject);
  return subject;
}

async function started(options: SubjectOptions = {}): Promise<Subject> {
  const subject = made(options);
  expect(await subject.start(), subject.output).toBeUndefined();
  await subject.fill();
  return subject;
}

const most = 20_000;
const allow = (pid: number, soft: number): void => {
  const args = [`--pid=${pid}`, `--nofile=${soft}:${most}`];
  expect(spawnSync('prlimit', args, { stdio: 'inherit' }).status).toBe(0);
};

const preload = (away: string) => ({
  env: {
    LD_PRELOAD: compiled('no-threads.c', '-shared', '-fPIC', '-ldl'),
    NO_THREADS_FILE: away,
  },
  args: ['--allow-preload'],
});

/** All that can be taken from a server that runs, one after another. */
withAll('all of it', async () => {
  const away = join(makeFolder(), 'away');
  // Node raises the soft limit to the hard one.
  const subject = await started({ ...preload(away), before: ['prlimit', `--nofile=30:${most}`] });
  expect(await metric(subject, 'process_max_fds')).toBe(most);
  const seen = freshSeen();
  allow(subject.pid, 20);
  await during(subject, '20 descriptors', 1, seen);
  allow(subject.pid, most);
  writeFileSync(away, '');
  await during(subject, 'no threads', 2, seen);
  rmSync(away);
  expect([...seen.codes].sort()).toContain('RESOURCE_EXHAUSTED');
  rmdirSync(subject.cwd);
  subject.child.stdout!.destroy();
  subject.child.stderr!.destroy();
  await afterwards(subject, 'all of it', 3);
  // The reload has said so.
  expect(await metric(subject, 'log_lines_lost_total')).toBeGreaterThan(0);
  allow(subject.pid, 20);
  await stopsWell(subject, 'with 20 descriptors');
});

describe('descriptors', () => {
  const counts = Array.from({ length: 45 }, (_, i) => 20 + i);

  inLong(withLimits)('of a server that runs', async () => {
    const subject = await started({ before: ['prlimit', `--nofile=${most}:${most}`] });
    const seen = freshSeen();
    for (const [turn, count] of counts.entries()) {
      allow(subject.pid, count);
      await during(subject, `${count} descriptors`, turn + 1, seen);
      allow(subject.pid, most);
      await afterwards(subject, `${count} descriptors`, turn + 1);
    }
    expect(seen.codes).toContain('RESOURCE_EXHAUSTED');
    allow(subject.pid, 20);
    await stopsWell(subject, 'with 20 descriptors');
  });

  /** More connections than descriptors, which say nothing. */
  inLong(withLimits).each(['auto', 'node'])(
    'used up by idle connections (%s)',
    async (transport) => {
      const config = { 'server.transport': transport };
      const subject = await started({ before: ['prlimit', '--nofile=256:256'], config });
      const bound = await metric(subject, 'connections_max');
      expect(bound).toBeGreaterThan(150);
      expect(bound).toBeLessThan(256);
      const idle = Array.from({ length: 400 }, () => connect(subject.port, '127.0.0.1'));
      for (const one of idle) one.on('error', () => undefined);
      await expect.poll(() => metric(subject, 'connections')).toBeGreaterThan(bound - 10);
      const seen = freshSeen();
      await during(subject, 'idle connections', 1, seen);
      // Nothing but further connections is refused: the rest has its reserve.
      expect([...seen.codes].filter((code) => !code.startsWith('no connection'))).toEqual([]);
      for (const one of idle) one.destroy();
      await afterwards(subject, 'idle connections', 2);
      await stopsWell(subject, 'after idle connections');
    },
  );

  withLimits.each(long ? counts : [20])('%i from the start', async (count) => {
    const subject = made({ before: ['prlimit', `--nofile=${count}:${count}`] });
    const end = await subject.start();
    if (count < 64) {
      expect([end, subject.output]).toEqual([
        { code: 78, signal: null },
        expect.stringContaining(`may open ${count} files`),
      ]);
    } else {
      await subject.fill();
      await during(subject, `${count} descriptors`, 1, freshSeen());
      await stopsWell(subject, `${count} descriptors`);
    }
    commandsEnd(subject);
  });
});

inLong(withPreload)('threads and child processes', async () => {
  const away = join(makeFolder(), 'away');
  const subject = await started(preload(away));
  const seen = freshSeen();
  for (let turn = 1; turn <= 10; turn++) {
    writeFileSync(away, '');
    await during(subject, 'no threads', turn, seen);
    rmSync(away);
    await afterwards(subject, 'no threads', turn);
  }
  expect(seen.codes).toContain('RESOURCE_EXHAUSTED');
  writeFileSync(away, '');
  await stopsWell(subject, 'without threads');
});

inLong(it)('a working directory that is deleted', async () => {
  const subject = await started();
  rmdirSync(subject.cwd);
  await afterwards(subject, 'the working directory went', 1);
  await stopsWell(subject, 'without its working directory');
});

describe('streams', () => {
  const redirected = (how: string) => ({ before: ['sh', '-c', `exec "$@" ${how}`, 'sh'] });

  inLong(it)('whose readers go', async () => {
    const subject = await started();
    subject.child.stdout!.destroy();
    subject.child.stderr!.destroy();
    await afterwards(subject, 'the readers went', 1);
    // The reload has said so.
    expect(await metric(subject, 'log_lines_lost_total')).toBeGreaterThan(0);
    await stopsWell(subject, 'without readers');
  });

  inLong(it)('that nobody reads', async () => {
    const subject = await started({ config: { 'log.access_sample_rate': 1 } });
    subject.child.stdout!.pause();
    subject.child.stderr!.pause();
    for (let i = 0; i < 50_000; i++) await subject.client.post('find', { x: i });
    await afterwards(subject, 'the readers stopped', 1);
    await stopsWell(subject, 'with readers that read nothing');
  });

  inLong(it).each<[how: string, code: number]>([
    ['<&- >&- 2>&-', 0],
    ['2>/dev/full', 0],
    // What was to be printed has not arrived, and the end says so.
    ['>/dev/full 2>/dev/full', 74],
  ])('%s', async (how, code) => {
    const subject = await started({ ...redirected(how), isDeaf: true });
    await afterwards(subject, how, 1);
    await stopsWell(subject, how, code);
  });
});

const memories = long ? [2, 4, 8, 16, 32, 64, 79, 80, 88, 96, 128] : [79];
withLimits.each(memories)('%i GiB of addresses', async (size) => {
  const subject = made({ before: ['prlimit', `--as=${size * 2 ** 30}`] });
  const end = await subject.start();
  if (end !== undefined) expect(end, subject.output).toEqual({ code: 78, signal: null });
  else {
    await subject.fill();
    await during(subject, `${size} GiB`, 1, freshSeen());
    await stopsWell(subject, `${size} GiB`);
  }
  commandsEnd(subject);
});

inLong(it).each(['/tmp', 'HOME', 'both'])('%s', async (what) => {
  const env: Record<string, string | undefined> = {};
  if (what !== 'HOME') env.TMPDIR = '/nowhere/at/all';
  if (what !== '/tmp') env.HOME = undefined;
  const subject = await started({ env });
  await afterwards(subject, what, 1);
  commandsEnd(subject);
  await stopsWell(subject, what);
});

inLong(withoutProc)('/proc', async () => {
  const subject = await started({ before: hiding });
  await afterwards(subject, 'without /proc', 1);
  await stopsWell(subject, 'without /proc');
  commandsEnd(subject);
});

inLong(withPreload)('the clock', async () => {
  const offset = join(makeFolder(), 'offset');
  const LD_PRELOAD = compiled('set-clock.c', '-shared', '-fPIC', '-ldl');
  writeFileSync(offset, '0');
  const env = { LD_PRELOAD, CLOCK_OFFSET_FILE: offset };
  const subject = await started({ env, args: ['--allow-preload'] });
  const day = 86_400;
  const offsets = [day, -day, 365 * day, -3_600, 20 * 365 * day, 0];
  for (const [turn, seconds] of offsets.entries()) {
    writeFileSync(offset, String(seconds));
    await afterwards(subject, `the clock was set by ${seconds} s`, turn + 1);
  }
  await stopsWell(subject, 'the clock was set');
});
