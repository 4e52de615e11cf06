// The life of an embedded database: what `open` takes and refuses, what every method says while it
// closes and afterwards, programs that never close it, and databases that must not be written.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import type { EmbeddedDatabase, OpenOptions } from '../../engine/public.js';
import { makeFolder, root } from '../support/project.js';

const entry = join(root, 'dist/bin/index.js');
const { open } = (await import(
  pathToFileURL(entry).href
)) as typeof import('../../engine/public.js');

const text = `
N::Note { INDEX no: I64, body: String }
V::Point { no: I64 }
QUERY add(no: I64) => n <- AddN<Note>({ no, body: "some words" }) RETURN n::{no}
QUERY put(no: I64, vec: [F64]) => v <- AddV<Point>(vec, { no }) RETURN v::{no}
QUERY notes() => n <- N<Note>::COUNT RETURN n
QUERY near() => v <- SearchV<Point>([1.0, 2.0], 3) RETURN v::{no}
QUERY said() => n <- SearchBM25<Note>("words", 3) RETURN n::{no}
`;
const other = `${text}N::Tag { name: String }\n`;
const sources = [{ path: 'main.hx', text }];
const minFreeBytes = 0;

const opened: EmbeddedDatabase[] = [];
async function openAt(dataDir: string, more: Partial<OpenOptions> = {}): Promise<EmbeddedDatabase> {
  const db = await open({ dataDir, sources, minFreeBytes, ...more });
  opened.push(db);
  return db;
}
afterAll(async () => {
  for (const db of opened) await db.close().catch(() => undefined);
});

/** What a call says: its code, or that it worked, or what no caller should see. */
async function said(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    const { code, name, message } = error as { code?: string; name: string; message: string };
    return name === 'TrellisError' ? code! : `${name}: ${message}`;
  }
}

describe('options', () => {
  const dataDir = '/nowhere/at/all';
  const whole = { dataDir, sources };
  const cases: [options: unknown, code: string, mention: RegExp][] = [
    [undefined, 'PARAM_TYPE', /options/],
    [{}, 'PARAM_MISSING', /dataDir/],
    [null, 'PARAM_TYPE', /options/],
    ['data', 'PARAM_TYPE', /options/],
    [{ sources }, 'PARAM_MISSING', /dataDir/],
    [{ dataDir }, 'PARAM_MISSING', /sources/],
    [{ dataDir: 7, sources }, 'PARAM_TYPE', /dataDir/],
    [{ dataDir: '', sources }, 'PARAM_TYPE', /dataDir/],
    [{ dataDir, sources: 'QUERY' }, 'PARAM_TYPE', /sources/],
    [{ dataDir, sources: [text] }, 'PARAM_TYPE', /sources\[0\]/],
    [{ dataDir, sources: [{ path: 'a.hx' }] }, 'PARAM_MISSING', /sources\[0\]\.text/],
    [{ dataDir, sources: [{ path: 'a.hx', text: 7 }] }, 'PARAM_TYPE', /sources\[0\]\.text/],
    [{ ...whole, compat: 'helix-3' }, 'PARAM_VALUE', /compat.*helix-2/],
    [{ ...whole, workers: 1.5 }, 'PARAM_TYPE', /workers/],
    [{ ...whole, workers: -1 }, 'PARAM_RANGE', /workers/],
    [{ ...whole, readOnly: 'yes' }, 'PARAM_TYPE', /readOnly/],
    [{ ...whole, readonly: true }, 'UNKNOWN_MEMBER', /readonly/],
    [{ ...whole, toString: 1 }, 'UNKNOWN_MEMBER', /toString/],
    [{ ...whole, limits: { query_tim: 1 } }, 'UNKNOWN_MEMBER', /limits\.query_tim/],
    [{ ...whole, limits: { query_time: '5s' } }, 'PARAM_TYPE', /limits\.query_time/],
    [{ ...whole, limits: { json_depth: 65 } }, 'PARAM_RANGE', /limits\.json_depth/],
    [{ ...whole, limits: [] }, 'PARAM_TYPE', /limits/],
    [
      { ...whole, vectors: { default: { metric: 'l3' } } },
      'PARAM_VALUE',
      /vectors\.default\.metric/,
    ],
    [{ ...whole, vectors: { default: { m: 1 } } }, 'PARAM_RANGE', /vectors\.default\.m/],
    [{ ...whole, vectors: { types: { P: { exact: 1 } } } }, 'PARAM_TYPE', /types\.P\.exact/],
    [{ ...whole, snapshot: { keep: 0 } }, 'PARAM_RANGE', /snapshot\.keep/],
    [{ ...whole, snapshot: null }, 'PARAM_TYPE', /snapshot/],
    [{ ...whole, log: 'stdout' }, 'PARAM_TYPE', /log/],
    [{ ...whole, embedder: {} }, 'PARAM_MISSING', /embedder\.embed/],
    [{ ...whole, sources: [{ path: 'a.hx', text: 'QUERY' }] }, 'SOURCE_INVALID', /a\.hx/],
  ];
  it.each(cases.map((one, i) => [i, ...one] as const))(
    'number %i of the wrong ones is refused',
    async (_, options, code, mention) => {
      const error = await open(options as OpenOptions).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code, message: expect.stringMatching(mention) });
    },
  );

  it.each([[undefined], [{}], [{ dataDir }]])('%j: the error shows an example', async (options) => {
    const error = await open(options as never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ hint: expect.stringContaining("open({ dataDir: './data', ") });
  });

  it('left out at any depth, or undefined, have their defaults', async () => {
    const db = await openAt(makeFolder(), {
      limits: { query_time: 9_000 },
      vectors: { default: { efSearch: 64 }, types: { Point: { metric: 'l2' } } },
      snapshot: { keep: 1, intervalMs: undefined as never },
      workers: undefined as never,
    });
    await db.call('add', { no: 1 });
    await db.call('put', { no: 1, vec: [1, 2] });
    expect(await db.call('near')).toEqual({ v: [{ no: 1 }] });
    expect(await db.call('said')).toEqual({ n: [{ no: 1 }] });
    await db.database.snapshot();
    await db.close();
  });

  it('arguments of calls are checked like options', async () => {
    const db = await openAt(makeFolder());
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(await said(() => db.call(undefined as never))).toBe('PARAM_TYPE');
    expect(await said(() => db.call('add', 7 as never))).toBe('PARAM_TYPE');
    expect(await said(() => db.call('add', circular))).toBe('PARAM_TYPE');
    expect(await said(() => db.call('add', [1] as never))).toBe('BODY_NOT_OBJECT');
    expect(await said(() => db.call('nope'))).toBe('NOT_FOUND');
    expect(await said(() => db.call('add', { no: 1n }))).toBe('ok');
    await db.close();
  });
});

it('a second open says that this process has it', async () => {
  const folder = makeFolder();
  const db = await openAt(folder);
  await expect(openAt(folder)).rejects.toMatchObject({
    code: 'DATA_LOCKED',
    message: expect.stringContaining('this process has it open already'),
  });
  await db.close();
  await (await openAt(folder)).close();
});

describe('closing', () => {
  const program = compile(sources, { compat: false }).program!;
  const methods: Record<string, (db: EmbeddedDatabase, folder: string) => unknown> = {
    call: (db) => db.call('notes'),
    'call that writes': (db) => db.call('add', { no: 7 }),
    callBytes: (db) => db.callBytes('notes'),
    'database.call': (db) => db.database.call('notes', new Uint8Array(0)),
    'database.run': (db) => db.database.run(program.queries[2]!.plan, [], undefined),
    embed: (db) => db.database.embed('hash:3', undefined, ['a'], 100),
    view: (db) => db.database.view((view) => view.count(0)),
    reload: (db) => db.database.reload(program),
    load: (db) => db.database.load('x'),
    backUp: (db, folder) => db.database.backUp(join(folder, 'backup')),
    snapshot: (db) => db.database.snapshot(),
    notePort: (db) => db.database.notePort(1),
    indexes: (db) => db.database.indexes(),
    recall: (db) => db.database.recall(undefined, { k: 1 } as never),
    metrics: (db) => db.database.metrics(),
  };

  /** Methods of the package say that the database is closed; those of `database` fail as in a server. */
  const refusal = (name: string): string =>
    name.startsWith('call') ? 'DATABASE_CLOSED' : 'SHUTTING_DOWN';

  it('finishes earlier calls, refuses later ones, and can be called twice', async () => {
    const folder = makeFolder();
    for (const workers of [0, 1]) {
      const db = await openAt(folder, { workers });
      const before = Array.from({ length: 20 }, (_, no) => db.call('add', { no }));
      const copy = db.database.backUp(join(folder, `backup-${workers}`));
      const closing = [db.close(), db.close(), db.database.close()];
      for (const [name, method] of Object.entries(methods)) {
        const what = await said(() => method(db, folder));
        if (name === 'metrics') expect(['ok', 'SHUTTING_DOWN']).toContain(what);
        else expect([name, what]).toEqual([name, refusal(name)]);
      }
      expect(await Promise.all(before)).toHaveLength(20);
      expect((await copy).bytes).toBeGreaterThan(0);
      await Promise.all(closing);
      for (const [name, method] of Object.entries(methods)) {
        expect([name, await said(() => method(db, folder))]).toEqual([name, refusal(name)]);
      }
      expect(db.database.status()).toMatchObject({ phase: 'stopping', writes: false });
      expect(await said(() => db.close())).toBe('ok');
    }
    const db = await openAt(folder);
    expect(await db.call('notes')).toEqual({ n: 40 });
    await db.close();
  });
});

it('every method but close and status says that the database is closed', async () => {
  const folder = makeFolder();
  const db = await openAt(folder);
  await db.close();
  const later: Record<string, () => unknown> = {
    call: () => db.call('notes'),
    attachment: () => db.attachment(),
    reload: () => db.reload(sources),
    backUp: () => db.backUp(join(folder, 'backup')),
    snapshot: () => db.snapshot(),
    metrics: () => db.metrics(),
  };
  for (const [name, method] of Object.entries(later)) {
    expect([name, await said(method)]).toEqual([name, 'DATABASE_CLOSED']);
  }
  await expect(db.call('notes')).rejects.toThrow('The database is closed.');
  expect(db.status().phase).toBe('stopping');
});

it('a directory that is a file, or that cannot be created, gives one readable line', async () => {
  const folder = makeFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const dataDir of [file, join(file, 'below')]) {
    await expect(openAt(dataDir)).rejects.toMatchObject({
      code: 'DATA_DIR_BAD',
      message: `The data directory cannot be used: ${file} is a file, not a folder.`,
    });
  }
  // Node's recursive mkdir does not return there.
  expect(await said(() => openAt('/proc/trellis/data'))).toBe('DATA_DIR_BAD');
});

it.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['data', 'a string'],
])('open(%o) says what it got', async (options, got) => {
  await expect(open(options as never)).rejects.toThrow(`must be an object, got ${got}.`);
});

/** Runs a program to its own end. */
function run(script: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (output += data));
  const timer = setTimeout(() => child.kill('SIGKILL'), 25_000);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    }),
  );
}

describe('a program that never closes its database', () => {
  const script = (dataDir: string, workers: number, rest: string): string => `
const { open } = await import(${JSON.stringify(pathToFileURL(entry).href)});
const options = ${JSON.stringify({ dataDir, sources, minFreeBytes, workers })};
const db = await open(options);
await db.call('put', { no: 1, vec: [1, 2] });
await db.call('add', { no: 1 });
${rest}`;
  const manifest = (folder: string) =>
    JSON.parse(readFileSync(join(folder, 'MANIFEST.json'), 'utf8')) as { clean: boolean };

  it.each([0, 2])(
    'ends automatically with %i readers, in order, with its last calls',
    async (workers) => {
      const folder = makeFolder();
      const rest = `db.call('add', { no: 2 }).then(() => db.call('notes')).then(console.log);`;
      expect(await run(script(folder, workers, rest))).toEqual({ code: 0, output: '{ n: 2 }\n' });
      expect(manifest(folder).clean).toBe(true);
      const db = await openAt(folder);
      expect(await db.call('notes')).toEqual({ n: 2 });
      await db.close();
    },
  );

  it('loses nothing answered when it calls process.exit', async () => {
    const folder = makeFolder();
    const done = await run(script(folder, 1, "console.log('answered'); process.exit(3);"));
    expect(done).toEqual({ code: 3, output: 'answered\n' });
    const db = await openAt(folder);
    expect(await db.call('notes')).toEqual({ n: 1 });
    expect(await db.call('near')).toEqual({ v: [{ no: 1 }] });
    await db.close();
  });
});

describe('a database that must not be written', () => {
  /** Every file but the locks, whose bytes are no data. */
  const stateOf = (folder: string): Record<string, string> => {
    const found: Record<string, string> = {};
    const visit = (below: string): void => {
      for (const name of readdirSync(join(folder, below)).sort()) {
        const path = join(below, name);
        if (name === 'LOCK' || name === 'lock.mdb') continue;
        if (statSync(join(folder, path)).isDirectory()) visit(path);
        else
          found[path] = createHash('md5')
            .update(readFileSync(join(folder, path)))
            .digest('hex');
      }
    };
    visit('');
    return found;
  };
  const changed = { ...compile([{ path: 'main.hx', text: other }], { compat: false }).program! };
  const same = compile(sources, { compat: false }).program!;
  /** Everything that writes, and what it says. */
  const writers: [string, (db: EmbeddedDatabase) => unknown, string][] = [
    ['a call', (db) => db.call('add', { no: 9 }), 'READ_ONLY'],
    ['a vector', (db) => db.call('put', { no: 9, vec: [1, 2] }), 'READ_ONLY'],
    ['a snapshot', (db) => db.database.snapshot(), 'READ_ONLY'],
    [
      'a load',
      async (db) => {
        const load = db.database.load('x');
        const row = Buffer.from('{"Note":{"no":1,"body":"x"}}\n');
        try {
          const bytes = new Uint8Array(row);
          const end = { offset: row.length, line: 2 };
          await load.rows(bytes as Uint8Array<ArrayBuffer>, 1, end);
        } finally {
          await load.close();
        }
      },
      'READ_ONLY',
    ],
    ['a reload with the same schema', (db) => db.database.reload(same), 'ok'],
  ];

  async function filled(): Promise<string> {
    const folder = makeFolder();
    const db = await openAt(folder);
    for (let no = 0; no < 20; no++) await db.call('add', { no });
    for (let no = 0; no < 20; no++) await db.call('put', { no, vec: [no, 1] });
    await db.close();
    return folder;
  }

  it('because it is read-only: no path changes a byte', async () => {
    const folder = await filled();
    writeFileSync(join(folder, 'vec', 'Point.tmp'), 'unfinished');
    for (const file of readdirSync(join(folder, 'vec'))) {
      if (file.endsWith('.snap')) writeFileSync(join(folder, 'vec', file), 'damaged');
    }
    const before = stateOf(folder);
    const db = await openAt(folder, { readOnly: true, workers: 1, ballastBytes: 1 });
    expect(await db.call('notes')).toEqual({ n: 20 });
    expect((await db.call<{ v: unknown[] }>('near')).v).toHaveLength(3);
    for (const [name, write, code] of writers) {
      expect([name, await said(() => write(db))]).toEqual([name, code]);
    }
    expect(await said(() => db.database.reload(changed))).toBe('READ_ONLY');
    await db.close();
    expect(stateOf(folder)).toEqual(before);
    const refused: [Partial<OpenOptions>, string][] = [
      [{ sources: [{ path: 'main.hx', text: other }] }, 'SCHEMA_INCOMPATIBLE'],
      [{ dataDir: join(makeFolder(), 'none') }, 'DATA_DIR_BAD'],
    ];
    for (const [options, code] of refused) {
      expect(await said(() => openAt(folder, { ...options, readOnly: true }))).toBe(code);
    }
    const off = await openAt(folder, { readOnly: true, textEnabled: false });
    await off.close();
    expect(stateOf(folder)).toEqual(before);
  });

  it('because its storage failed: no path changes a byte from there on', async () => {
    const folder = await filled();
    const db = await openAt(folder, { failpoint: 'beforeSyncDataPages@2:throw' });
    await db.call('add', { no: 100 });
    expect(await said(() => db.call('put', { no: 101, vec: [3, 3] }))).toBe('READ_ONLY');
    const before = stateOf(folder);
    for (const [name, write, code] of writers) {
      expect([name, await said(() => write(db))]).toEqual([name, code]);
    }
    expect(await said(() => db.database.reload(changed))).toBe('READ_ONLY');
    expect(await db.call('notes')).toEqual({ n: 21 });
    await db.close();
    expect(stateOf(folder)).toEqual(before);
    const next = await openAt(folder);
    expect(await next.call('notes')).toEqual({ n: 21 });
    await next.close();
  });

  it('a read-only start fills no empty folder', async () => {
    const folder = makeFolder();
    mkdirSync(folder, { recursive: true });
    expect(await said(() => openAt(folder, { readOnly: true }))).toBe('DATA_DIR_BAD');
    expect(stateOf(folder)).toEqual({});
  });
});

it('room for vectors is spoken for by every write of a group, not by each alone', async () => {
  const vectors = { default: { memoryBytes: 4 << 20 } };
  const vec = (no: number): number[] => Array.from({ length: 1024 }, (_, i) => Math.sin(no * i));
  /** How many vectors are stored, in portions whose writes wait together, until one is refused. */
  const fill = async (portion: number): Promise<number> => {
    const db = await openAt(join(makeFolder(), 'data'), { vectors });
    let [stored, refused, no] = [0, 0, 0];
    while (refused === 0) {
      const calls = Array.from({ length: portion }, () => db.call('put', { no, vec: vec(no++) }));
      for (const one of await Promise.allSettled(calls)) {
        if (one.status === 'fulfilled') stored++;
        else {
          refused++;
          expect(one.reason).toMatchObject({ code: 'VECTOR_CAPACITY' });
        }
      }
    }
    await db.call('add', { no: 1 });
    expect(db.database.indexes().find(({ type }) => type === 'Point')).toMatchObject({
      vectors: stored,
    });
    return stored;
  };
  const alone = await fill(1);
  expect(await fill(150)).toBeLessThanOrEqual(alone);
});
