// Many writes of one request beside the same ones request by request: what is collected and written
// together must be what single puts leave, to the byte, and be seen as if it had been put at once.
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hashTables } from '../../engine/database/replication/table-check.js';
import { EntryGroups } from '../../engine/storage/index/index-entry-buffer.js';
import type { Storage } from '../../engine/storage/open-storage.js';
import { check } from '../../engine/storage/check/check.js';
import { decodeProperty, labelOf } from '../../engine/storage/record/record.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../storage/support/garden.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** Few values, so that lists are shared, and enough of them for lists to be spread out. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('gardener' as const), email: fc.nat(6), city: fc.nat(2) }),
  fc.record({
    kind: fc.constant('plants' as const),
    count: fc.oneof(fc.nat(5), fc.constantFrom(60, 127, 130)),
    species: fc.nat(1),
    height: fc.double({ noNaN: true, noDefaultInfinity: true }),
  }),
  fc.record({ kind: fc.constant('grow' as const), from: fc.nat(99), to: fc.nat(999) }),
  fc.record({ kind: fc.constant('follow' as const), from: fc.nat(99), to: fc.nat(99) }),
  fc.record({
    kind: fc.constant('update' as const),
    at: fc.nat(999),
    count: fc.nat(4),
    species: fc.nat(2),
  }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(999), count: fc.nat(3) }),
  fc.record({ kind: fc.constant('look' as const), species: fc.nat(2), city: fc.nat(2) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Makes steps in a store; each tells what it saw and did. */
class Steps {
  readonly gardener;
  readonly plant;
  readonly grows;
  readonly follows;

  constructor(readonly storage: Storage) {
    this.gardener = labelNamed(storage, 'Gardener');
    this.plant = labelNamed(storage, 'Plant');
    this.grows = labelNamed(storage, 'Grows');
    this.follows = labelNamed(storage, 'Follows');
  }

  #property(name: string) {
    return [...this.gardener.properties, ...this.plant.properties].find((p) => p.name === name)!;
  }

  #pick(view: WriteView, label: number, at: number): number {
    const all = [...view.scan(label)].flatMap((ids) => [...ids]);
    return all[at % Math.max(1, all.length)] ?? 0;
  }

  make(view: WriteView, one: Step): unknown {
    switch (one.kind) {
      case 'gardener': {
        const email = `${one.email}@x`;
        const set = values({ email, city: `city ${one.city}` });
        const [known] = view.lookup(this.#property('email'), email);
        if (known === undefined) return view.createNode(this.gardener, set);
        return view.update([{ id: known, values: set }]);
      }
      case 'plants': {
        const set = values({ species: `species ${one.species}`, height: one.height });
        return Array.from({ length: one.count }, () => view.createNode(this.plant, set));
      }
      case 'grow': {
        const from = this.#pick(view, this.gardener.id, one.from);
        const to = this.#pick(view, this.plant.id, one.to);
        if (from === 0 || to === 0) return undefined;
        return view.createEdge(this.grows, from, to, values({ rating: one.to % 3 }));
      }
      case 'follow': {
        const from = this.#pick(view, this.gardener.id, one.from);
        const to = this.#pick(view, this.gardener.id, one.to);
        const pairs = [...view.adjacency(from, this.follows.id, 'out')];
        if (from === 0 || pairs.some((far, i) => i % 2 === 1 && far === to)) return pairs;
        return view.createEdge(this.follows, from, to, values({}));
      }
      case 'update': {
        // Descending: the lists of values have ids before and behind those that come.
        const ids = new Set<number>();
        for (let i = one.count; i >= 0; i--) ids.add(this.#pick(view, this.plant.id, one.at + i));
        ids.delete(0);
        const set = values({ species: `species ${one.species}`, height: one.at });
        view.update([...ids].map((id) => ({ id, values: set })));
        return [...ids];
      }
      case 'drop': {
        const id = this.#pick(view, this.plant.id, one.at);
        if (id === 0) return undefined;
        const edges = view.incident(id);
        view.removeAll(edges, () => undefined);
        view.remove(id);
        return [...edges, id];
      }
      case 'look':
        return this.#look(view, one);
    }
  }

  makeAll(view: WriteView, steps: readonly Step[]): void {
    for (const one of steps) this.make(view, one);
  }

  #look(view: WriteView, one: Step & { kind: 'look' }): unknown {
    const species = this.#property('species');
    const flat = (batches: Iterable<Uint32Array>) => [...batches].flatMap((ids) => [...ids]);
    const low = { value: 'species 0', inclusive: true };
    const found = flat(view.range(species, { low }, true));
    return [
      flat(view.lookupBatches(species, `species ${one.species}`)),
      [...view.lookup(this.#property('city'), `city ${one.city}`)],
      found,
      found.slice(0, 5).map((id) => view.degree(id, this.grows.id, 'in')),
      found.slice(-3).map((id) => decodeProperty(view.record(id)!, species)),
      found.slice(-3).map((id) => labelOf(view.record(id)!)),
      view.count(this.plant.id),
    ];
  }
}

class Deliberate extends Error {}

afterEach(() => vi.restoreAllMocks());

/** A store in which ids depend on nothing but the requests. */
function seeded(): Steps {
  let state = 1;
  vi.spyOn(Math, 'random').mockImplementation(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  });
  return new Steps(openGarden(freshFolder()));
}

function tablesOf({ storage }: Steps): Record<string, string | undefined> {
  expect(check(storage.env)).toEqual([]);
  // Of commits there are different numbers.
  const { meta: _, ...others } = hashTables(storage.env);
  return others;
}

describe('many writes of one request', () => {
  it('leave what single requests leave, and see what they see', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const single = seeded();
        const answers = steps.map((one) => write(single.storage, (view) => single.make(view, one)));
        const expected = tablesOf(single);
        const whole = seeded();
        const seen = write(whole.storage, (view) => steps.map((one) => whole.make(view, one)));
        expect(seen).toEqual(answers);
        expect(tablesOf(whole)).toEqual(expected);
        single.storage.close();
        whole.storage.close();
      }),
      { numRuns: long ? 60 : 4 },
    );
  });

  it('leave nothing when the request fails, wherever it does', { timeout: 300_000 }, () => {
    const arbitrary = fc.record({
      before: fc.array(step, { minLength: 1, maxLength: 12 }),
      failing: fc.array(step, { maxLength: 12 }),
      after: fc.array(step, { maxLength: 6 }),
    });
    fc.assert(
      fc.property(arbitrary, ({ before, failing, after }) => {
        const plain = seeded();
        write(plain.storage, (view) => plain.makeAll(view, before));
        const tried = seeded();
        write(tried.storage, (view) => tried.makeAll(view, before));
        const former = tablesOf(tried);
        expect(former).toEqual(tablesOf(plain));
        const fail = (view: WriteView) => {
          tried.makeAll(view, failing);
          view.flushDeferred?.();
          throw new Deliberate();
        };
        // Beside one that stays, so that the transaction is kept.
        tried.storage.commitGroup((group) => {
          expect(() => group.request(0, fail)).toThrow(Deliberate);
          group.request(0, (view) => tried.makeAll(view, after));
        });
        write(plain.storage, (view) => plain.makeAll(view, after));
        const { uuid: _, records: __, ...expected } = tablesOf(plain);
        expect(tablesOf(tried)).toMatchObject(expected);
        plain.storage.close();
        tried.storage.close();
      }),
      { numRuns: long ? 60 : 4 },
    );
  });
});

describe('collected index entries', () => {
  it('are read in the order of keys, those of a key by id', () => {
    const key = fc.array(fc.constantFrom(0, 1, 255), { minLength: 1, maxLength: 14 });
    // As of values: none is a prefix of another.
    const prefix = key.map((bytes) => Uint8Array.from([0, 0, 0, 7, ...bytes.map((b) => b | 2), 1]));
    const entry = fc.record({ prefix, id: fc.integer({ min: 1, max: 2 ** 32 - 1 }) });
    const many = fc.uniqueArray(entry, { selector: ({ id }) => id, maxLength: 120 });
    fc.assert(
      fc.property(many, fc.boolean(), (entries, isSorted) => {
        if (isSorted) entries.sort((a, b) => a.id - b.id);
        const groups = new EntryGroups();
        const expected = new Map<string, number[]>();
        for (const { prefix, id } of entries) {
          groups.add(prefix, id);
          const name = Buffer.from([...prefix, 0, 0, 0, 0]).toString('hex');
          expected.set(name, [...(expected.get(name) ?? []), id]);
        }
        const given: [string, number[]][] = [];
        if (!groups.isEmpty) {
          groups.take((key, ids) => given.push([Buffer.from(key).toString('hex'), [...ids]]));
        }
        const sorted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(given).toEqual(sorted.map(([name, ids]) => [name, ids.sort((a, b) => a - b)]));
        expect(groups.isEmpty).toBe(true);
      }),
      { numRuns: long ? 20_000 : 300 },
    );
  });
});
