// The writer caches ids by uuid: whatever was created, dropped, undone or never committed, its results equal
// those of a view without a cache.
import { afterAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../../bench/support/seeded-random.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import { uuidAt } from '../../../engine/storage/record/record.js';
import { UuidCache } from '../../../engine/storage/table/uuid-cache.js';
import type { WriteView } from '../../../engine/storage/table/view-types.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../support/garden.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const rounds = isLong ? 400 : 60;
const folder = freshFolder();
const storage = openGarden(folder);
const plant = labelNamed(storage, 'Plant');
const gardener = labelNamed(storage, 'Gardener');
const follows = labelNamed(storage, 'Follows');
afterAll(() => storage.close());

const text = (uuid: Uint8Array): string => Buffer.from(uuid).toString('hex');
const bytes = (uuid: string): Uint8Array => Uint8Array.from(Buffer.from(uuid, 'hex'));

describe('the uuid cache of the writer', () => {
  it('equals the table after drops, undone requests and failed transactions', () => {
    const random = randomOf(7);
    const pick = (below: number): number => Math.floor(random() * below);
    /** What is there, and all uuids that ever were. */
    let living = new Map<string, number>();
    const seen = new Set<string>();
    const work = (view: WriteView, state: Map<string, number>): void => {
      for (let step = pick(6); step >= 0; step--) {
        const known = [...state];
        const [uuid, id] = known[pick(known.length)] ?? ['', 0];
        if (id !== 0 && random() < 0.35) {
          for (const edge of view.incident(id)) {
            state.delete(text(view.record(edge)!.slice(uuidAt.own, uuidAt.own + 16)));
            view.remove(edge);
          }
          view.remove(id);
          state.delete(uuid);
        } else {
          const made = [view.createNode(plant, values({ species: 'rose' }))];
          for (let i = pick(3); i > 0; i--) made.push(view.createNode(gardener, values({})));
          if (made.length > 2) made.push(view.createEdge(follows, made[1]!, made[2]!, values({})));
          for (const one of made) {
            state.set(text(view.record(one)!.slice(uuidAt.own, uuidAt.own + 16)), one);
          }
        }
        for (const one of state.keys()) seen.add(one);
        const asked = [...seen];
        for (let i = 0; i < 4; i++) {
          const one = asked[pick(asked.length)]!;
          expect(view.idOf(bytes(one))).toBe(state.get(one) ?? 0);
        }
      }
    };
    for (let round = 0; round < rounds; round++) {
      const before = new Map(living);
      const fate = random();
      const attempt = (): void => {
        storage.commitGroup((group) => {
          group.request(1000, (view) => work(view, living));
          const kept = new Map(living);
          const undone = () =>
            group.request(1000, (view) => {
              work(view, new Map(living));
              throw new RangeError('undone');
            });
          if (fate < 0.4) expect(undone).toThrow('undone');
          living = kept;
          group.request(1000, (view) => work(view, living));
          if (fate > 0.8) throw new RangeError('never was');
        });
      };
      if (fate > 0.8) {
        expect(attempt).toThrow('never was');
        living = before;
      } else attempt();
      const view = storage.reader();
      for (const one of seen) expect(view.idOf(bytes(one))).toBe(living.get(one) ?? 0);
    }
    const plain = openEnv(`${folder}`, { readOnly: true });
    for (const one of seen) expect(plain.uuid.peekWord(bytes(one))).toBe(living.get(one) ?? 0);
    void plain.close();
  });

  it('lets the table answer for ids that it dropped', () => {
    const id = write(storage, (view) => view.createNode(plant, values({})));
    const uuid = storage
      .reader()
      .record(id)!
      .slice(uuidAt.own, uuidAt.own + 16);
    expect(() =>
      storage.commitGroup(() => {
        throw new RangeError('nothing is remembered now');
      }),
    ).toThrow('nothing');
    expect(storage.reader().idOf(uuid)).toBe(id);
    expect(storage.reader().idOf(uuid)).toBe(id);
  });

  it('is empty for reading threads, and after commits of other processes', () => {
    const other = openStorage(folder, { limits: defaultLimits, mode: 'attach' });
    const uuidOf = (id: number): Uint8Array =>
      storage
        .reader()
        .record(id)!
        .slice(uuidAt.own, uuidAt.own + 16);
    const newest = (one: Storage): void => {
      one.invalidateWriter();
      one.reader();
    };
    const made = (one: Storage): number =>
      write(one, (view) => view.createNode(labelNamed(one, 'Plant'), values({})));
    for (const [first, second] of [
      [storage, other],
      [other, storage],
    ] as const) {
      newest(first);
      const [one, two] = [made(first), made(first)];
      const uuids = [uuidOf(one), uuidOf(two)];
      // It reads, though it might write.
      expect(uuids.map((uuid) => second.reader().idOf(uuid))).toEqual([one, two]);
      // It asks, and commits something.
      write(first, (view) => {
        expect(uuids.map((uuid) => view.idOf(uuid))).toEqual([one, two]);
        view.remove(one);
      });
      expect(uuids.map((uuid) => second.reader().idOf(uuid))).toEqual([0, two]);
      newest(second);
      write(second, (view) => view.remove(two));
      expect(uuids.map((uuid) => first.reader().idOf(uuid))).toEqual([0, 0]);
      newest(first);
      expect(write(first, (view) => uuids.map((uuid) => view.idOf(uuid)))).toEqual([0, 0]);
    }
    newest(storage);
    void other.close();
  });

  it('returns the right id or none, for any number of ids', () => {
    const memo = new UuidCache();
    memo.begin(1);
    const count = isLong ? 1_000_000 : 20_000;
    const key = (n: number): Uint8Array => {
      const made = new Uint8Array(16);
      new DataView(made.buffer).setUint32(n % 4 === 0 ? 0 : 12, n);
      return made;
    };
    for (let n = 1; n <= count; n++) memo.keep(key(n), n);
    let known = 0;
    for (let n = 1; n <= count; n++) {
      const found = memo.find(key(n));
      if (found === n) known++;
      else if (found !== 0) expect(found).toBe(n);
    }
    // A memory that forgets all would be right, too.
    expect(known).toBeGreaterThan(isLong ? 100_000 : count / 8);
    for (let n = 1; n <= count; n += 2) memo.forget(key(n));
    for (let n = 1; n <= count; n += 2) if (memo.find(key(n)) !== 0) expect.fail(`${n} is known`);
    memo.keep(key(2), 77);
    expect(memo.find(key(2))).toBe(77);
    memo.end(2);
    expect(memo.find(key(2)), 'outside of a transaction').toBe(0);
    memo.begin(2);
    expect(memo.find(key(2))).toBe(77);
    memo.end(3);
    memo.begin(4);
    expect(memo.find(key(2)), 'after a commit of others').toBe(0);
    memo.keep(key(2), 78);
    memo.end(undefined);
    memo.begin(-1);
    expect(memo.find(key(2)), 'after a transaction that was undone').toBe(0);
  });
});
