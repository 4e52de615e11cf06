// Data that an older version has stored although they are no numbers (`Infinity` where a float stands):
// `verify` finds them, reading them is DATA_CORRUPT with the element, an answer or a dump never holds them,
// and unsetting the property mends the data. And the other ways of floats into the data refuse such ones.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../engine/base/bytes.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { PropertyType } from '../../../engine/base/schema.js';
import { dump } from '../../../engine/database/maintenance/dump.js';
import { verifyStorage } from '../../../engine/database/maintenance/verify.js';
import { type EmbeddedDatabase, open } from '../../../engine/database/embedded.js';
import { compile } from '../../../engine/lang/compile.js';
import { openDataDirectory } from '../../../engine/storage/folder/manifest.js';
import { printScalar, printValue } from '../../../engine/storage/record/fragment.js';
import { indexKey, prefixOf } from '../../../engine/storage/index/index-key.js';
import { openStorage, type Storage } from '../../../engine/storage/open-storage.js';
import { convertScalar } from '../../../engine/storage/schema/cast.js';
import { makeFolder } from '../../support/project.js';

const text = `
N::Item { UNIQUE INDEX k: String, INDEX f?: F64, s?: F32, fs?: [F64], ss?: [F32], t?: String }
V::Note { k: String }
QUERY add(k: String, f?: F64, s?: F32, fs?: [F64], ss?: [F32]) =>
  i <- AddN<Item>({ k: k, f: f, s: s, fs: fs, ss: ss, t: "Infinity" }) RETURN i::ID
QUERY whole(k: String) => i <- N<Item>({ k: k }) RETURN i
QUERY some(k: String) => i <- N<Item>({ k: k }) RETURN i::{ k, f, s, fs, ss }
QUERY one(k: String) => i <- N<Item>({ k: k })::{f} j <- N<Item>({ k: k })::{s} RETURN i, j
QUERY lists(k: String) => i <- N<Item>({ k: k })::{fs} j <- N<Item>({ k: k })::{ss} RETURN i, j
QUERY computed(k: String) =>
  i <- N<Item>({ k: k })
  RETURN { x: SUM([i::{f}, i::{s}]), y: SUM(i::{fs}), z: SUM(i::{ss}) }
QUERY test(k: String) =>
  i <- N<Item>({ k: k })
    ::WHERE(OR(_::{f}::GT(0), _::{s}::GT(0), _::{fs}::CONTAINS(1), _::{ss}::CONTAINS(1)))
  RETURN i::{ t }
QUERY name(k: String) => i <- N<Item>({ k: k }) RETURN i::{ k, t }
QUERY unset(k: String) =>
  i <- N<Item>({ k: k })::UPDATE({ f: NONE, s: NONE, fs: NONE, ss: NONE })
  RETURN i
QUERY drop(k: String) => DROP N<Item>({ k: k }) RETURN "gone"
QUERY by(f: F64) => i <- N<Item>::WHERE(_::{f}::GT(f)) RETURN i::{ k }
QUERY noteThis(t: String) => v <- AddV<Note>(Embed(t), { k: t }) RETURN v::{ k }
QUERY like(t: String) => v <- SearchV<Note>(Embed(t), 3) RETURN v::{ k }
`;

let answer: unknown = [1, 2];
const dataDir = join(makeFolder(), 'data');
const options = {
  ...{ dataDir, minFreeBytes: 0, sources: [{ path: 'main.hx', text }] },
  embedder: { embed: async (_: unknown, texts: readonly unknown[]) => texts.map(() => answer) },
};
const reopen = () => open(options as unknown as Parameters<typeof open>[0]);

/** Nine characters, as many as `-Infinity` has; eight, as `Infinity`. */
const stand = { minus: -12345678, plus: 12345678, none: 123 } as const;
const planted: Record<string, [property: string, value: unknown, text: string]> = {
  infinite: ['f', stand.plus, 'Infinity'],
  lowest: ['f', stand.minus, '-Infinity'],
  none: ['f', stand.none, 'NaN'],
  single: ['s', stand.plus, 'Infinity'],
  singleNone: ['s', stand.none, 'NaN'],
  listed: ['fs', [1, stand.plus], 'Infinity'],
  listedNone: ['fs', [stand.none, 1], 'NaN'],
  listedSingle: ['ss', [1, 2, stand.minus], '-Infinity'],
};
const names = Object.keys(planted);

let db: EmbeddedDatabase;
const uuids: Record<string, string> = {};

/** Runs on the data at rest. */
function atRest<T>(run: (storage: Storage) => T): T {
  const directory = openDataDirectory(dataDir);
  const storage = openStorage(join(dataDir, 'graph'), { limits: defaultLimits, mode: 'attach' });
  try {
    return run(storage);
  } finally {
    storage.close();
    directory.close({ clean: true });
  }
}

beforeAll(async () => {
  db = await reopen();
  await db.call('add', { k: 'sound', f: 1, fs: [1, -1e308], ss: [5e-324] });
  for (const k of names) {
    const [property, value] = planted[k]!;
    const { i } = await db.call<{ i: string }>('add', { k, [property]: value });
    uuids[k] = i;
  }
  await db.close();
  atRest(({ env, catalog }) =>
    env.transact(() => {
      const item = catalog.labels().find(({ name }) => name === 'Item')!;
      const f = item.properties.find(({ name }) => name === 'f')!;
      const keyOf = (value: number) => indexKey(prefixOf(f, value), 0);
      for (const id of env.records.keys({ start: 1, end: 0xffffffff })) {
        const record = Buffer.from(env.records.get(id)!);
        const k = names.find((each) => record.includes(`"${each}"`));
        if (k === undefined) continue;
        const [, value, spelt] = planted[k]!;
        const number = String(
          Array.isArray(value) ? value.find((each) => each !== 1 && each !== 2) : value,
        );
        record.write(spelt, record.indexOf(number), 'latin1');
        env.records.put(id, record);
        if (typeof value !== 'number' || planted[k]![0] !== 'f') continue;
        const entry = env.index.get(keyOf(value))!.slice();
        env.index.remove(keyOf(value));
        env.index.put(keyOf(Number(spelt)), entry);
      }
      return true;
    }),
  );
  db = await reopen();
});
afterAll(() => db.close());

describe.each(names)('%s', (k) => {
  test.each(['whole', 'some', 'computed', 'test'])('%s is DATA_CORRUPT', async (query) => {
    await expect(async () => db.callBytes(query, { k })).rejects.toMatchObject({
      code: 'DATA_CORRUPT',
    });
  });
  test('the property alone, too, and the element is named', async () => {
    const query = planted[k]![0].length === 1 ? 'one' : 'lists';
    const got = await db.call(query, { k }).catch((error: Error) => error);
    expect(got).toMatchObject({
      code: 'DATA_CORRUPT',
      message: expect.stringContaining(uuids[k]!),
    });
  });
  test('the rest of the element can be read', async () => {
    expect(await db.call('name', { k })).toEqual({ i: { k, t: 'Infinity' } });
  });
});

test('intact values next to it are returned', async () => {
  expect(await db.call('some', { k: 'sound' })).toEqual({
    i: { k: 'sound', f: 1, s: null, fs: [1, -1e308], ss: [0] },
  });
});

test('verify finds each, a dump refuses them or leaves them out, and unsetting mends', async () => {
  await db.close();
  atRest((storage) => {
    const found = verifyStorage(storage, { dataDir });
    expect(found.map(({ invariant }) => invariant)).toEqual(names.map(() => 'I15'));
    for (const { what } of found) expect(what).toMatch(/Item\.\w+ of element \d+: .*not finite/);
    expect(() => [...dump(storage)]).toThrow(/not finite/);
    const lost: number[] = [];
    const blocks = [...dump(storage, { onDamage: (id) => void lost.push(id) })];
    const lines = Buffer.concat(blocks).toString().trim().split('\n');
    for (const line of lines) JSON.parse(line);
    expect(lost).toHaveLength(names.length);
  });
  db = await reopen();
  await db.call('drop', { k: 'lowest' });
  for (const k of names) if (k !== 'lowest') await db.call('unset', { k });
  expect(await db.call('by', { f: -1e308 })).toEqual({ i: [{ k: 'sound' }] });
  expect(await db.call('whole', { k: 'infinite' })).toMatchObject({
    i: { f: null, t: 'Infinity' },
  });
  await db.close();
  expect(atRest((storage) => verifyStorage(storage, { dataDir }))).toEqual([]);
  db = await reopen();
});

test.each([
  ['a number that is none', [1, Number.NaN]],
  ['an infinite number', new Float64Array([Number.POSITIVE_INFINITY, 0])],
  ['beyond 32 bits', [1e39, 0]],
  ['no list', undefined],
  ['a text in it', [1, 'a']],
])('an embedder of the caller that gives %s is refused', async (_, given) => {
  answer = given;
  for (const query of ['noteThis', 'like']) {
    const got = await db.call(query, { t: `${_} ${query}` }).catch((error: Error) => error);
    expect(got).toBeInstanceOf(Error);
    expect((got as unknown as { code: string }).code).not.toBe('INTERNAL');
  }
});

test('printing what is not finite is a defect, never bytes that are no JSON', () => {
  const f64: PropertyType = { kind: 'scalar', name: 'F64' };
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const out = new ByteWriter(16);
    expect(() => printScalar(out, value)).toThrow(/finite/);
    expect(() => printScalar(out, value, 'F32')).toThrow(/finite/);
    expect(() => printValue(out, [1, value], { kind: 'list', of: f64 })).toThrow(/finite/);
    expect(() => printValue(out, Float64Array.of(value))).toThrow(/finite/);
  }
});

test.each(['NaN', 'Infinity', '-Infinity', '1e999', '-1e999', '1e39'])(
  'a migration takes no %s',
  (given) => {
    expect(convertScalar(given, 'F32')).toBeUndefined();
    if (given !== '1e39') expect(convertScalar(given, 'F64')).toBeUndefined();
    expect(convertScalar(2n ** 128n - 1n, 'F32')).toBeUndefined();
    expect(convertScalar(1e308, 'F32')).toBeUndefined();
  },
);

test.each([
  ['F64', '1e999'],
  ['F64', '-1e999'],
  ['F64', `1${'0'.repeat(400)}`],
  ['F32', '1e39'],
  ['F32', '340282366920938463463374607431768211455'],
  ['[F64]', '[1.0, 1e999]'],
])('a DEFAULT of %s is not %s', (type, value) => {
  for (const source of [
    `N::A { f: ${type} DEFAULT ${value} }`,
    `QUERY q(f: ${type} DEFAULT ${value}) => RETURN f`,
  ]) {
    const { program } = compile([{ path: 'a.hx', text: source }], { compat: false });
    expect(program).toBeUndefined();
  }
});
