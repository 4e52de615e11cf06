// Vector types that are emptied, hidden, declared again or never filled, in every order: the log is trimmed,
// a start finds the stored vectors, and a type without vectors accepts another dimension.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { random } from '../reliability/crash/oracle.js';
import { LoneDatabase, type LoneOptions } from './lone-database.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

const queries = (type: string): string => `
V::${type} { no: I64 }
QUERY add${type}(vec: [F64], no: I64) => v <- AddV<${type}>(vec, { no: no }) RETURN v::ID
QUERY clear${type}() => DROP V<${type}> RETURN NONE
QUERY near${type}(vec: [F64]) => v <- SearchV<${type}>(vec, 100) RETURN v::{no}
`;
const sourceOf = (types: readonly string[]): string =>
  `N::Thing { no: I64 }\nQUERY ping() => x <- N<Thing> RETURN x\n${types.map(queries).join('')}`;

let database: LoneDatabase;
afterEach(() => database.dispose());

const files = (): string[] => readdirSync(join(database.folder, 'vec')).sort();
const logged = (): number =>
  database.storage.committedSeq() + 1 - database.storage.oldestLoggedSeq();
const near = (type: string): number[] =>
  (database.call(`near${type}`, { vec: [1, 0] }).v as { no: number }[]).map(({ no }) => no);

test('an emptied type lets the log go, and keeps no snapshot', () => {
  database = new LoneDatabase().open(sourceOf(['A', 'B']));
  for (const type of ['A', 'B']) database.call(`add${type}`, { vec: [1, 0], no: 1 });
  database.snapshot();
  expect(files()).toEqual(['A.2.snap', 'B.2.snap']);
  database.call('clearA');
  database.snapshot();
  expect(files()).toEqual(['B.2.snap']);
  for (let no = 2; no < 50; no++) database.call('addB', { vec: [1, no], no });
  for (let round = 0; round < 3; round++) database.snapshot();
  database.call('addB', { vec: [1, 99], no: 99 });
  database.snapshot();
  expect(logged()).toBeLessThan(5);
});

test('its next vectors may be of another length', () => {
  const types = (dimensions: number): LoneOptions => ({ types: { A: { dimensions } } });
  database = new LoneDatabase().open(sourceOf(['A']), types(2));
  database.call('addA', { vec: [1, 0], no: 1 });
  database.stop();
  expect(() => database.open(sourceOf(['A']), types(3))).toThrowError(/holds vectors of 2 numbers/);
  database.open(sourceOf(['A']), types(2));
  database.call('clearA');
  database.kill();
  database.open(sourceOf(['A']), types(3));
  database.call('addA', { vec: [1, 0, 0], no: 2 });
  expect(database.call('nearA', { vec: [1, 0, 0] })).toEqual({ v: [{ no: 2 }] });
  database.stop();
  database.open(sourceOf(['A']), types(3));
  expect(database.call('nearA', { vec: [1, 0, 0] })).toEqual({ v: [{ no: 2 }] });
  expect(database.verify()).toEqual([]);
});

test('fill, empty, hide, bring back, snapshot, stop and kill in any order', async () => {
  for (let seed = 1; seed <= (long ? 800 : 5); seed++) {
    // What waits for the loop to be let go is let go with it: memory of databases that were closed.
    await new Promise((resolve) => setImmediate(resolve));
    const chance = random(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
    let declared = ['A', 'B', 'C'];
    const held: Record<string, number[]> = { A: [], B: [], C: [] };
    let no = 0;
    database = new LoneDatabase().open(sourceOf(declared));
    const trail: string[] = [];
    const steps: Record<string, () => void> = {
      fill() {
        const type = pick(declared);
        for (let i = 0; i < 3; i++) {
          database.call(`add${type}`, { vec: [chance(), chance()], no: ++no });
          held[type]!.push(no);
        }
      },
      empty() {
        const type = pick(declared);
        database.call(`clear${type}`);
        held[type] = [];
      },
      hide() {
        if (declared.length > 1) declared = declared.filter((type) => type !== pick(declared));
        if (declared.length === 0) declared = ['A'];
      },
      bring: () => (declared = ['A', 'B', 'C']),
      snapshot: () => database.snapshot(),
      stop: () => database.stop(),
      kill: () => database.kill(),
    };
    for (let step = 0; step < 14; step++) {
      const name = pick(Object.keys(steps));
      trail.push(name);
      steps[name]!();
      const source = sourceOf(declared);
      if (name === 'stop' || name === 'kill') database.open(source);
      else if (name === 'hide' || name === 'bring') {
        if (chance() < 0.5) database.reload(source);
        else {
          database.kill();
          database.open(source);
        }
      }
      for (const type of declared) {
        const where = `seed ${seed}: ${trail.join(' ')}, ${type}`;
        expect(
          near(type).sort((a, b) => a - b),
          where,
        ).toEqual(held[type]);
        const label = database.storage.catalog.find('vector', type)!;
        expect(database.vectors.indexes.get(label.id)!.count, where).toBe(held[type]!.length);
      }
    }
    database.snapshot();
    database.call(`add${declared[0]}`, { vec: [1, 1], no: 0 });
    database.snapshot();
    database.call(`clear${declared[0]}`);
    database.snapshot();
    database.snapshot();
    // What other types hold was snapshot by then, and of this one nothing is left to hold.
    if (declared.every((type) => type === declared[0])) expect(logged()).toBe(0);
    expect(database.verify()).toEqual([]);
    if (seed % 2 === 0) database.dispose();
    else {
      database.stop();
      database.open(sourceOf(['A', 'B', 'C']));
      database.dispose();
    }
  }
  database = new LoneDatabase().open(sourceOf(['A']));
});
