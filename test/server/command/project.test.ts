// Sources of a project, reload of what changed, and the seed: with real folders and the fake
// database.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrellisError, defaultLimits } from '../../../engine/internal.js';
import { readSources } from '../../../server/project/project.js';
import { createReloader } from '../../../server/lifecycle/reload.js';
import { SourceStatus } from '../../../server/project/source-status.js';
import { playSeed } from '../../../server/project/seed.js';
import { watchSources } from '../../../server/lifecycle/file-watcher.js';
import { FakeDatabase } from '../../support/fake-database.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trellis-project-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text = ''): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const pathsOf = (queries = 'db'): string[] => readSources(folder, queries).map(({ path }) => path);

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof TrellisError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('sources', () => {
  it("are the project's own and those below db, in path order", () => {
    for (const path of [
      'z.hx',
      'a.hx',
      'db/m.hx',
      'db/deep/n.hx',
      'other/x.hx',
      'a.txt',
      'db/readme.md',
    ])
      write(path);
    expect(pathsOf()).toEqual(['a.hx', 'db/deep/n.hx', 'db/m.hx', 'z.hx']);
  });
  it('are read from the configured directory', () => {
    for (const path of ['a.hx', 'db/m.hx', 'src/s.hx']) write(path);
    expect(pathsOf('./src/')).toEqual(['a.hx', 'src/s.hx']);
    expect(pathsOf('.')).toEqual(['a.hx']);
  });
  it('may be none', () => expect(pathsOf()).toEqual([]));
  it('follow links', () => {
    write('away/real.hx', 'x');
    mkdirSync(join(folder, 'db'));
    symlinkSync('../away', join(folder, 'db/linked'));
    expect(pathsOf()).toEqual(['db/linked/real.hx']);
  });

  const faults: [string, () => void, RegExp][] = [
    ['a directory', () => mkdirSync(join(folder, 'd.hx')), /^SOURCE_INVALID d\.hx: is a directory/],
    [
      'a loop',
      () => symlinkSync('loop.hx', join(folder, 'loop.hx')),
      /^SOURCE_INVALID loop\.hx: is a loop/,
    ],
    [
      'a dangling link',
      () => symlinkSync('gone', join(folder, 'l.hx')),
      /^SOURCE_INVALID l\.hx: is a link to nothing/,
    ],
    [
      'a loop of folders',
      () => {
        mkdirSync(join(folder, 'db'));
        symlinkSync('.', join(folder, 'db/again'));
      },
      /^SOURCE_INVALID db\/again: is a loop/,
    ],
  ];
  it.each(faults)('refuses %s, naming it', (_, make, message) => {
    write('good.hx');
    make();
    expect(refusal(() => readSources(folder, 'db'))).toMatch(message);
  });
  it.skipIf(process.getuid?.() === 0)('refuses an unreadable file', () => {
    write('secret.hx');
    chmodSync(join(folder, 'secret.hx'), 0);
    expect(refusal(() => readSources(folder, 'db'))).toMatch(/secret\.hx: may not be read/);
  });
  it('refuses a missing project', () => {
    expect(refusal(() => readSources(join(folder, 'no'), 'db'))).toMatch(
      /^SOURCE_INVALID .*no: does not exist/,
    );
  });
});

describe('reload', () => {
  const start = () => {
    const database = new FakeDatabase();
    const log: string[] = [];
    const results: string[] = [];
    const reload = createReloader({
      projectDir: folder,
      queriesDir: 'db',
      compat: false,
      limits: defaultLimits,
      sources: new SourceStatus(),
      database,
      log: (level, message, fields) => log.push(`${level} ${message} ${JSON.stringify(fields)}`),
      onApplied: () => results.push('swap'),
      onResult: (result) => results.push(result),
      onCompiled: (seconds) => expect(seconds).toBeGreaterThan(0),
    });
    return { database, log, results, reload };
  };
  const names = ({ program }: FakeDatabase): string[] => program.queries.map(({ name }) => name);
  const good = 'N::A { x: U8 }\nQUERY all() =>\n  a <- N<A>\n  RETURN a\n';

  it('swaps in a clean set', async () => {
    const { database, results, reload } = start();
    write('a.hx', good);
    expect(await reload()).toMatchObject({ reloaded: true, queries: 1 });
    expect([names(database), results]).toEqual([['all'], ['swap', 'done']]);
  });
  it.each([
    ['faulty', () => write('a.hx', 'N::A { x: Nope }\nQUERY q( =>')],
    ['empty', () => undefined],
    ['unreadable', () => mkdirSync(join(folder, 'a.hx'))],
  ])('keeps the old set when the new one is %s', async (_, make) => {
    const { database, results, log, reload } = start();
    const before = database.program;
    make();
    expect(await reload()).toMatchObject({ reloaded: false });
    expect(database.program).toBe(before);
    expect(results).toEqual(['refused']);
    expect(log.join('\n')).toContain('still serving the previous version');
  });
  it('keeps the old set when the database refuses the schema', async () => {
    const { database, reload } = start();
    database.reload = () =>
      Promise.reject(
        new TrellisError({ code: 'SCHEMA_INCOMPATIBLE', args: { what: 'A.x changes' } }),
      );
    write('a.hx', good);
    expect(await reload()).toMatchObject({ reloaded: false, reason: 'A.x changes' });
  });
  it('combines requests that arrive while one runs', async () => {
    const { results, reload } = start();
    write('a.hx', good);
    await Promise.all([reload(), reload(), reload()]);
    expect(results.filter((result) => result === 'done').length).toBeLessThanOrEqual(2);
  });
});

describe('watching', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Lets the events of the file system arrive, without any time that passes. */
  const arrive = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('reports one change after a burst of changes', async () => {
    write('db/a.hx', '1');
    let changes = 0;
    const watch = watchSources([folder, join(folder, 'db')], () => changes++);
    const changesAfter = (ms: number): number => {
      vi.advanceTimersByTime(ms);
      return changes;
    };
    for (let i = 0; i < 5; i++) {
      write('db/a.hx', 'x'.repeat(i));
      await arrive();
      expect(changesAfter(2)).toBe(0);
    }
    // An event that arrives late finds the last text, which was reported already.
    await expect.poll(() => changesAfter(20)).toBe(1);
    unlinkSync(join(folder, 'db/a.hx'));
    await expect.poll(() => changesAfter(20)).toBe(2);
    write('notes.txt', 'x');
    for (let i = 0; i < 20; i++) {
      await arrive();
      expect(changesAfter(500)).toBe(2);
    }
    watch.close();
  });
});

describe('seed', () => {
  const play = (...lines: unknown[]) => {
    write(
      'seed.ndjson',
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    );
    const database = new FakeDatabase();
    return { database, done: playSeed(folder, database) };
  };
  it('plays calls in order and fills in what was kept', async () => {
    const { database, done } = play(
      { query: 'put', body: { user: { id: 'u1' } }, save: { u: '/user/id', all: '' } },
      '',
      { query: 'put', body: { from: '$u', deep: [{ to: '$u' }], price: 'no $u' } },
      { query: 'put' },
    );
    expect(await done).toBe(3);
    expect(database.written).toEqual([
      '{"user":{"id":"u1"}}',
      '{"from":"u1","deep":[{"to":"u1"}],"price":"no $u"}',
      '{}',
    ]);
  });
  it.each([
    ['no JSON', ['{'], /seed\.ndjson:1: is not JSON/],
    ['no call', [{ query: 'ping' }, { quer: 'x' }], /seed\.ndjson:2: is no/],
    [
      'an unknown name',
      [{ query: 'put', body: { a: '$b' } }],
      /seed\.ndjson:1: nothing is saved as b/,
    ],
    ['a failing call', [{ query: 'missing' }], /seed\.ndjson:1: No value found/],
    [
      'a pointer to nothing',
      [
        { query: 'ping', save: { a: '/x' } },
        { query: 'put', body: { a: '$a' } },
      ],
      /the answer has no \/x/,
    ],
  ])('refuses %s', async (_, lines, message) => {
    await expect(play(...lines).done).rejects.toThrow(message);
  });
  it('is not needed', async () => {
    expect(await playSeed(folder, new FakeDatabase())).toBe(0);
  });
});
