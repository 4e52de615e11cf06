// Calls of every kind beside reloads that migrate: each answer is that of one program over its own
// data, whole; none fails, and nothing acknowledged is lost. Through the built engine, with a reading
// thread beside it and without.
import { afterEach, describe, expect, test } from 'vitest';
import type { EmbeddedDatabase } from '../../engine/internal.js';
import { makeFolder, removeFolder } from '../support/project.js';
import { built } from '../support/server/embedded-server.js';

const { compile, open } =
  await built<typeof import('../../engine/internal.js')>('engine/internal.js');

const long = process.env.TRELLIS_TEST_LONG === '1';
const turns = long ? 500 : 12;

/** Types and properties have another name in every version; the queries keep theirs. */
const schemaOf = (n: number): string => `schema::${n} {
N::Item${n} { INDEX key: String, value${n}: I64, note${n}: String }
V::Emb${n} { key${n}: String }
E::Has${n} { From: Item${n}, To: Emb${n} }
}
`;
const migration = (n: number, rule = `value${n}: value${n - 1}`): string => `
MIGRATION schema::${n - 1} => schema::${n} {
  N::Item${n - 1} => N::Item${n} { ${rule}, note${n}: note${n - 1} }
  V::Emb${n - 1} => V::Emb${n} { key${n}: key${n - 1} }
  E::Has${n - 1} => E::Has${n} {}
}
`;
const queriesOf = (n: number): string => `
QUERY all() => x <- N<Item${n}> RETURN x::{key, value: value${n}}
QUERY wide() => x <- N<Item${n}> y <- x::Out<Has${n}>::{key${n}} RETURN x::COUNT, y
QUERY one(key: String) =>
  x <- N<Item${n}>({ key: key }) RETURN x::{value: value${n}, note: note${n}}
QUERY find() => x <- SearchBM25<Item${n}>("heron", 10000) RETURN x::{key}
QUERY near() => x <- SearchV<Emb${n}>([1.0, 0.5], 10000) RETURN x::{key: key${n}}
QUERY add(key: String, value: I64, vec: [F64]) =>
  i <- AddN<Item${n}>({ key: key, value${n}: value, note${n}: "heron" })
  v <- AddV<Emb${n}>(vec, { key${n}: key })
  AddE<Has${n}>::From(i)::To(v)
  RETURN i::{key, value: value${n}}
`;
const sourceOf = (n: number, rule?: string): string =>
  (n === 1 ? '' : schemaOf(n - 1)) +
  schemaOf(n) +
  (n === 1 ? '' : migration(n, rule)) +
  queriesOf(n);

const programOf = (text: string) => {
  const { program, diagnostics } = compile([{ path: 'a.hx', text }], { compat: false });
  if (program === undefined) throw new RangeError(JSON.stringify(diagnostics));
  return program;
};

let db: EmbeddedDatabase;
let folder: string;
afterEach(async () => {
  await db.close();
  removeFolder(folder);
});

async function start(options: { workers: number; failpoint?: string }): Promise<void> {
  folder = makeFolder();
  const sources = [{ path: 'a.hx', text: sourceOf(1) }];
  db = await open({ dataDir: `${folder}/data`, sources, minFreeBytes: 0, ...options });
}

type Rows = { key: string; value: number }[];

describe.each([0, 1])('with %i reading threads', (workers) => {
  test('every answer is whole', { timeout: long ? 900_000 : 60_000 }, async () => {
    await start({ workers });
    const acknowledged = new Set<string>();
    const faults: string[] = [];
    let asked = 0;
    let running = true;
    const say = (what: string): void => void (faults.length < 5 && faults.push(what));
    /** Rows must be at least what was acknowledged before, each with all its values. */
    const whole = (what: string, before: Set<string>, rows: Rows): void => {
      const keys = new Set(rows.map(({ key }) => key));
      const missing = [...before].filter((key) => !keys.has(key)).length;
      if (missing > 0) say(`${what}: ${missing} of ${before.size} missing`);
      const isNull = (row: object) => Object.values(row).some((value) => value === null);
      if (rows.some(isNull)) say(`${what}: nulls`);
    };
    const clients: (() => Promise<void>)[] = ['all', 'find', 'near'].map((name) => async () => {
      const before = new Set(acknowledged);
      whole(name, before, (await db.call<{ x: Rows }>(name)).x);
    });
    clients.push(
      async () => {
        const key = `k${asked}`;
        const vec = [Math.sin(asked), Math.cos(asked)];
        const { i } = await db.call<{ i: object }>('add', { key, value: asked, vec });
        expect(i).toEqual({ key, value: Number(key.slice(1)) });
        acknowledged.add(key);
      },
      async () => {
        const key = [...acknowledged][asked % (acknowledged.size || 1)];
        if (key === undefined) return;
        const { x } = await db.call<{ x: object[] }>('one', { key });
        const expected = JSON.stringify([{ value: Number(key.slice(1)), note: 'heron' }]);
        if (JSON.stringify(x) !== expected) say(`one: ${JSON.stringify(x)}`);
      },
      async () => {
        const { x, y } = await db.call<{ x: number; y: { [key: string]: string }[] }>('wide');
        if (x !== y.length) say(`wide: ${x} items, ${y.length} vectors`);
      },
      async () => {
        // What the explorer does: whatever types there are, of this very moment.
        const before = acknowledged.size;
        const counts = db.database.view((view) =>
          view.catalog.labels().map(({ id, kind }) => ({ kind, count: view.count(id) })),
        );
        const items = counts.filter(({ kind, count }) => kind === 'node' && count >= before);
        if (counts.length !== 3 || items.length !== 1) say(`view: ${JSON.stringify(counts)}`);
      },
    );
    const work = clients.map(async (client) => {
      while (running) {
        asked++;
        await client().catch((error: unknown) => say(String(error)));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    let version = 1;
    for (let turn = 1; turn <= turns; turn++) {
      // One in ten is refused: no note of herons is a number.
      if (turn % 10 === 5) {
        const faulty = sourceOf(version + 1, `value${version + 1}: note${version} AS I64`);
        await expect(db.database.reload(programOf(faulty))).rejects.toThrow(/cannot be converted/);
      } else await db.database.reload(programOf(sourceOf(++version)));
    }
    running = false;
    await Promise.all(work);
    expect(faults).toEqual([]);
    expect(asked).toBeGreaterThan(turns);
    expect((await db.call<{ x: Rows }>('all')).x).toHaveLength(acknowledged.size);
  });
});

test('a reload that fails after its commit: no results until the next one', async () => {
  await start({ workers: 1, failpoint: 'schemaCommitted@1:throw' });
  await db.call('add', { key: 'a', value: 1, vec: [1, 0] });
  const next = programOf(sourceOf(2));
  await expect(db.database.reload(next)).rejects.toMatchObject({ code: 'INTERNAL' });
  for (const name of ['all', 'near', 'find']) {
    await expect(db.call(name)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' });
  }
  const row = { key: 'b', value: 1, vec: [1, 0] };
  await expect(db.call('add', row)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' });
  await db.database.reload(next);
  expect(await db.call('all')).toEqual({ x: [{ key: 'a', value: 1 }] });
  expect(await db.call('near')).toEqual({ x: [{ key: 'a' }] });
});
