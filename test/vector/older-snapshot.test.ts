// The older snapshot of a type is there for the day on which the newest is damaged: the log goes on from
// it, so that such a start takes a longer replay and no rebuild. Also after stops and rounds in
// which the type did not change; but a type at rest does not hold the log of the others for ever.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EmbeddedDatabase } from '../../engine/internal.js';
import { built } from '../support/server/embedded-server.js';
import { makeFolder, removeFolder } from '../support/project.js';
import { defaults } from './fixture.js';
import { clustered } from './random.js';

const text = `
V::Doc { no: I64 }
V::Other { no: I64 }
QUERY addDoc(rows: [{ no: I64, vec: [F64] }]) =>
  FOR { no, vec } IN rows { AddV<Doc>(vec, { no: no }) } RETURN "ok"
QUERY addOther(rows: [{ no: I64, vec: [F64] }]) =>
  FOR { no, vec } IN rows { AddV<Other>(vec, { no: no }) } RETURN "ok"
QUERY like(vec: [F64]) => v <- SearchV<Doc>(vec, 1) RETURN v::{no}
`;
const vectors = clustered(60, 8, { seed: 5 });
const afterWrites = 20;

let folder: string;
let db: EmbeddedDatabase;
let logged: string[];

async function openDatabase(): Promise<void> {
  const { open } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');
  logged = [];
  db = await open({
    dataDir: folder,
    sources: [{ path: 'main.hx', text }],
    vectors: { default: { ...defaults, metric: 'cosine' }, types: {} },
    snapshot: { intervalMs: 3_600_000, afterWrites: 1e9, keep: 2 },
    log: (_level, message) => void logged.push(message),
  });
}

const add = (query: string, from: number, to: number): Promise<unknown> =>
  db.call(query, {
    rows: vectors.slice(from, to).map((vec, i) => ({ no: from + i, vec: [...vec] })),
  });

const files = (type = 'Doc'): string[] =>
  readdirSync(join(folder, 'vec'))
    .filter((name) => name.startsWith(`${type}.`))
    .sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]));

/** The newest file of Doc has a bit that is another. */
function damageNewest(): void {
  const path = join(folder, 'vec', files().at(-1)!);
  const bytes = readFileSync(path);
  bytes[5000]! ^= 1;
  writeFileSync(path, bytes);
}

beforeEach(async () => {
  folder = makeFolder();
  await openDatabase();
  await add('addDoc', 0, 20);
  await db.database.snapshot();
  await add('addDoc', 20, 40);
  await db.database.snapshot();
  expect(files()).toHaveLength(2);
});
afterEach(async () => {
  await db.close();
  removeFolder(folder);
});

async function expectReplay(count: number): Promise<void> {
  expect(logged).toContain('vector snapshot refused');
  expect(logged).toContain('replayed vector log');
  expect(logged).not.toContain('rebuilding vector index');
  for (let no = 0; no < count; no += 3)
    expect(await db.call('like', { vec: [...vectors[no]!] })).toEqual({ v: [{ no }] });
}

test('after a start and a stop in which nothing changed', async () => {
  await db.close();
  await openDatabase();
  await db.close();
  damageNewest();
  await openDatabase();
  await expectReplay(40);
});

test('after rounds in which only another type changed', async () => {
  await add('addOther', 0, 20);
  await db.database.snapshot();
  await add('addOther', 20, 40);
  await db.database.snapshot();
  await db.close();
  damageNewest();
  await openDatabase();
  await expectReplay(40);
});

test('a type without changes replaces its older file before the log becomes long', async () => {
  const rounds = 6;
  await db.close();
  const { open } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');
  db = await open({
    dataDir: folder,
    sources: [{ path: 'main.hx', text }],
    vectors: { default: { ...defaults, metric: 'cosine' }, types: {} },
    snapshot: { intervalMs: 3_600_000, afterWrites, keep: 2 },
    log: () => {},
  });
  for (let round = 0; round < rounds; round++) {
    await add('addOther', 0, afterWrites);
    await db.database.snapshot();
  }
  expect(files('Other')).toHaveLength(2);
  expect(files()).toHaveLength(1);
  await db.close();
  await openDatabase();
  expect(logged).not.toContain('rebuilding vector index');
});
