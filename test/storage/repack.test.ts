// Loosely filled pages: what updates of changing size leave, what repacking beside them and a dense copy
// make of it, and that neither changes a byte of what is stored.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Env, openEnv } from '../../engine/storage/table/env.js';
import { copyDense, Repacker } from '../../engine/storage/folder/defragment.js';
import { Random } from '../support/random.js';
import { freshFolder } from './support/garden.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

/** What a table is filled with: sizes between `least` and `most` bytes. */
const kinds = [
  { name: 'short values', least: 4, most: 40, count: 9000 },
  { name: 'records of any size', least: 20, most: 700, count: 2400 },
  { name: 'near the largest that shares a page', least: 1500, most: 2100, count: 800 },
  { name: 'some on pages of their own', least: 100, most: 9000, count: 1200 },
];

/** Table and keys that stand for the others of their form: one of numbers, one of bytes. */
type Named = 'records' | 'derived';
const keyOf: Record<Named, (i: number) => never> = {
  records: (i) => (i + 1) as never,
  derived: (i) => Buffer.from(`term ${(i * 7919) % 100_003} of ${i}`) as never,
};

function contents(env: Env, table: Named): string {
  const hash = createHash('sha256');
  for (let from = env[table].first; ; ) {
    const found = env[table].withChecksum(from as never, 1001);
    for (const { key, value } of found.slice(0, 1000)) {
      hash.update(env[table].keyBytes(key as never)).update(value);
    }
    if (found.length <= 1000) return hash.digest('hex');
    from = found[1000]!.key;
  }
}

/** Repacks until nothing is due, as an idle writer would. */
function repackAll(env: Env, repacker: Repacker): void {
  for (let idle = 0; idle < 20; ) {
    const due = repacker.due(false);
    if (due === undefined) idle++;
    else idle = 0;
    if (due === 'read') repacker.step();
    if (due === 'write') env.transact(() => repacker.step());
  }
}

const pagesOf = (env: Env, table: Named): number => env[table].extent.pages;

describe.each(kinds)('$name', ({ least, most, count }) => {
  describe.each(['records', 'derived'] as const)('in %s', (table) => {
    const generator = new Random(count + most);
    const random = (): number => generator.next();
    const value = (): Uint8Array =>
      new Uint8Array(Math.floor(least + (most - least) * random())).fill(random() * 256);
    const env = openEnv(freshFolder());
    const put = (i: number): void => env[table].put(keyOf[table](i), value());

    it('stays dense under updates and deletes, with equal content', () => {
      env.transact(() => {
        for (let i = 0; i < count; i++) put(i);
        return true;
      });
      const dense = openEnv(freshFolder());
      copyDense(env, dense);
      expect(contents(dense, table)).toBe(contents(env, table));
      const densest = pagesOf(dense, table);
      dense.close();

      const repacker = new Repacker(env);
      for (let round = 0; round < (isLong ? 40 : 2); round++) {
        env.transact(() => {
          for (let n = 0; n < count; n++) {
            const i = Math.floor(random() * count);
            if (random() < 0.3) env[table].remove(keyOf[table](i));
            put(i);
          }
          return true;
        });
        const before = contents(env, table);
        repackAll(env, repacker);
        expect(contents(env, table)).toBe(before);
        // 18 % of slack is allowed before a pass begins, and pages hold whole values only.
        const slack = most > 1000 ? 1.6 : 1.3;
        if (densest >= 64) expect(pagesOf(env, table)).toBeLessThan(densest * slack);
      }
      env.close();
    });
  });
});

it('a repacker without due work writes nothing', () => {
  const env = openEnv(freshFolder());
  env.transact(() => {
    for (let i = 1; i < 9000; i++) env.records.append(i, new Uint8Array(100));
    return true;
  });
  const repacker = new Repacker(env);
  const seen = new Set<string | undefined>();
  for (let i = 0; i < 100; i++) {
    const due = repacker.due(false);
    seen.add(due);
    if (due !== undefined) repacker.step();
  }
  expect([...seen]).toEqual(expect.not.arrayContaining(['write']));
  env.close();
});

it('while others write, a table that has grown little waits for an idle moment', () => {
  const env = openEnv(freshFolder());
  let last = 0;
  const grow = (count: number): void => {
    env.transact(() => {
      for (const end = last + count; last < end; ) env.records.append(++last, new Uint8Array(100));
      return true;
    });
  };
  grow(9000);
  const repacker = new Repacker(env);
  repackAll(env, repacker);
  grow(900);
  expect(repacker.due(true)).toBeUndefined();
  expect(repacker.due(false)).toBe('read');
  repackAll(env, repacker);
  grow(4000);
  expect(repacker.due(true)).toBe('read');
  env.close();
});
