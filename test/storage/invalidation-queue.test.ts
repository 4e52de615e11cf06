// Caches of threads after commits that change other elements: each cached value equals the value of the
// snapshot, under commits of every kind and number, including commits that the queue did not report; and
// unchanged values stay cached.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import { IdHashTable } from '../../engine/storage/record/id-hash-table.js';
import { InvalidationQueue, touchedWords } from '../../engine/storage/view/invalidation-queue.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';
import { garden } from './support/declare.js';
import { freshFolder, labelNamed, values, write } from './support/garden.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

const sharedWords = (): Uint32Array<SharedArrayBuffer> =>
  new Uint32Array(new SharedArrayBuffer(4 * touchedWords));

/** A store as threads of one process have it: two that write, one of which tells nobody, and readers. */
function openThreads(readers: number, words = sharedWords()) {
  const path = freshFolder();
  const limits = defaultLimits;
  const writer = openStorage(path, { limits, mode: 'create', notes: new InvalidationQueue(words) });
  writer.applySchema({ schema: garden, olderSchemas: [], migrations: [] }, { nowMs: 0 });
  const silent = openStorage(path, { limits, mode: 'attach' });
  const seeing = Array.from({ length: readers }, () =>
    openStorage(path, { limits, mode: 'read', notes: new InvalidationQueue(words) }),
  );
  const close = () => Promise.all([writer, silent, ...seeing].map((one) => one.close()));
  return { writer, silent, seeing, close };
}

const act = fc.record({
  kind: fc.constantFrom(
    ...(['create', 'update', 'update', 'link', 'link', 'cut', 'remove', 'refused'] as const),
    ...(['load', 'many', 'often', 'silent', 'nothing'] as const),
  ),
  which: fc.nat({ max: 99 }),
  other: fc.nat({ max: 99 }),
  /** Which of the readers goes on to the newest state behind it, and which looks again where it is. */
  looks: fc.constantFrom(0, 0, 0, 1, 2),
  again: fc.nat({ max: 2 }),
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly threads = openThreads(3);
  readonly views = this.threads.seeing.map((storage) => storage.reader());
  readonly #gardener = labelNamed(this.threads.writer, 'Gardener');
  readonly #plant = labelNamed(this.threads.writer, 'Plant');
  readonly grows = labelNamed(this.threads.writer, 'Grows');
  readonly people: number[] = [];
  readonly plants: number[] = [];
  readonly #edges: number[] = [];
  #round = 0;

  do(one: Act): void {
    const { writer, silent } = this.threads;
    if (one.kind === 'load') {
      const id = this.people[one.which % this.people.length]!;
      const city = values({ city: `city ${this.#round++}` });
      writer.load(0, (view) => void (view.record(id) && view.change(id, city)));
    } else if (one.kind === 'often') {
      // More than the ring holds, for whoever has not looked meanwhile.
      for (let i = 0; i < 12; i++) this.#write(writer, { ...one, kind: 'many' }, 4000);
    } else if (one.kind === 'silent') {
      silent.invalidateWriter();
      silent.reader();
      this.#write(silent, { ...one, kind: 'update' });
      writer.invalidateWriter();
      writer.reader();
    } else this.#write(writer, one, 9000);
  }

  #write(storage: Storage, one: Act, touches = 0): void {
    const isRefused = one.kind === 'refused';
    const before = this.#edges.length;
    try {
      write(storage, (txn) => {
        if (one.kind === 'many') this.#touchMany(txn, one, touches);
        else this.#change(txn, isRefused ? { ...one, kind: 'update' } : one);
        if (isRefused) throw new RangeError('refused');
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#edges.length = before;
    }
  }

  /** Two elements in turns, since an element in a row is noted once. */
  #touchMany(txn: Parameters<Parameters<typeof write>[1]>[0], one: Act, touches: number): void {
    const pair = [one.which, one.other].map((at) => this.people[at % this.people.length]!);
    for (let i = 0; i < touches; i++) {
      const id = pair[i % 2]!;
      if (txn.record(id)) txn.update([{ id, values: values({ level: (i + this.#round) % 200 }) }]);
    }
    this.#round++;
  }

  #change(txn: Parameters<Parameters<typeof write>[1]>[0], one: Act): void {
    const city = values({ city: `city ${this.#round++}` });
    const person = this.people[one.which % Math.max(1, this.people.length)];
    const plant = this.plants[one.other % Math.max(1, this.plants.length)];
    const edge = this.#edges[one.which % Math.max(1, this.#edges.length)];
    const there = (id: number | undefined): id is number =>
      id !== undefined && txn.record(id) !== undefined;
    if (one.kind === 'create') {
      this.people.push(txn.createNode(this.#gardener, city));
      this.plants.push(txn.createNode(this.#plant, values({ species: 'oak' })));
    }
    if (one.kind === 'update' && there(person)) txn.update([{ id: person, values: city }]);
    if (one.kind === 'link' && there(person) && there(plant))
      this.#edges.push(txn.createEdge(this.grows, person, plant, values({})));
    if (one.kind === 'cut' && there(edge)) txn.remove(edge);
    if (one.kind === 'remove' && there(person)) txn.remove(person);
  }

  /** What a reader keeps is what it sees. */
  check(reader: number): void {
    const view = this.views[reader]!;
    for (let look = 0; look < 2; look++) {
      const records = view.committed!.recordCache();
      for (const id of [...this.people, ...this.plants, ...this.#edges]) {
        expect(records.get(id)).toEqual(view.record(id));
      }
      const edges = view.committed!.edgeCache();
      for (const [ids, direction] of [
        [this.people, 'out'] as const,
        [this.plants, 'in'] as const,
      ]) {
        const lists = edges.of(this.grows.id, direction);
        for (const id of ids) {
          expect(lists.get(id)).toEqual(view.adjacency(id, this.grows.id, direction));
        }
      }
    }
  }
}

it('equals the data of each snapshot, however old', async () => {
  const world = new World();
  const first = { which: 0, other: 0, looks: 0, again: 0 } as const;
  for (let i = 0; i < 5; i++) world.do({ ...first, kind: 'create' });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 25 }), async (acts) => {
      for (const one of acts) {
        world.do(one);
        await nextTurn();
        world.views[one.looks]!.refresh();
        world.check(one.looks);
        // On its older snapshot, the writer further on.
        world.check(one.again);
      }
    }),
    { numRuns: long ? 60 : 3 },
  );
  await world.threads.close();
}, 600_000);

it('stays after a commit except for the changed element', async () => {
  const { writer, seeing, close } = openThreads(1);
  const [gardener, follows] = ['Gardener', 'Follows'].map((name) => labelNamed(writer, name));
  const ids: number[] = [];
  write(writer, (txn) => {
    for (let i = 0; i < 500; i++) ids.push(txn.createNode(gardener!, values({ city: `${i}` })));
    for (let i = 1; i < 500; i++) txn.createEdge(follows!, ids[0]!, ids[i]!, values({}));
  });
  const [storage] = seeing;
  const view = storage!.reader();
  let reads = 0;
  const { records, out } = storage!.env;
  for (const table of [records, out]) {
    const peek = table.peek.bind(table) as (
      key: never,
      checked?: boolean,
    ) => Uint8Array | undefined;
    table.peek = (key: never, checked?: boolean) => {
      reads++;
      return peek(key, checked);
    };
  }
  const look = (): number => {
    const before = reads;
    view.refresh();
    for (const id of ids) {
      view.committed!.recordCache().get(id);
      view.committed!.edgeCache().of(follows!.id, 'out').get(id);
    }
    return reads - before;
  };
  expect(look()).toBeGreaterThan(500);
  expect(look()).toBe(0);
  write(writer, (txn) => txn.createNode(gardener!, values({ city: 'new' })));
  expect(look()).toBe(0);
  write(writer, (txn) => txn.update([{ id: ids[7]!, values: values({ city: 'other' }) }]));
  expect(look()).toBeGreaterThan(0);
  write(writer, (txn) => txn.update([{ id: ids[7]!, values: values({ city: 'third' }) }]));
  expect(look()).toBeLessThan(6);
  await close();
});

it('a thread that starts during a commit caches nothing of it', () => {
  const words = sharedWords();
  const [writer, reader] = [new InvalidationQueue(words), new InvalidationQueue(words).since()];
  const dropped: number[] = [];
  const move = (commits: number) => reader.move(commits, (id) => dropped.push(id));
  const commit = (before: number, ...ids: number[]): void => {
    writer.begin({ commits: before, nextId: 100 });
    for (const id of ids) writer.touch(id);
    writer.publish(before + 1);
  };
  commit(5, 1);
  // What it sees is still without that commit: it cannot tell what comes next from what was.
  expect([move(5), move(6)]).toEqual([false, false]);
  commit(6, 2, 3, 100);
  expect([move(7), dropped.splice(0)]).toEqual([true, [2, 3]]);
  // One that failed, and is made again with other changes.
  commit(7, 4);
  expect([move(7), dropped.splice(0)]).toEqual([true, []]);
  commit(7, 5);
  expect([move(8), dropped.splice(0)]).toEqual([true, [4, 5]]);
  // One that nobody was told of.
  commit(9, 6);
  expect(move(10)).toBe(false);
  expect(move(10)).toBe(true);
  // While it looks, the writer begins to write over what it looks at.
  commit(10, 7);
  words[1]! += touchedWords;
  expect(move(11)).toBe(false);
});

it('reports every changed element or returns false, in any order of writes and reads', async () => {
  const property = fc.asyncProperty(fc.nat(), async (seed) => {
    await nextTurn();
    const random = new Random(seed);
    const words = sharedWords();
    // As words counted modulo 2^32 are that are about to begin anew.
    if (random.chance(0.5)) words[0] = words[1] = 2 ** 32 - random.below(3000);
    const writer = new InvalidationQueue(words);
    /** Ids by commit, and what each reader has heard of since it last forgot. */
    const changed: number[][] = [[]];
    const readers = Array.from({ length: 3 }, () => ({
      at: -1,
      since: new InvalidationQueue(words).since(),
    }));
    let known = 0;
    let hasFailed = false;
    for (let step = 0; step < 120; step++) {
      const commits = changed.length - 1;
      if (random.chance(0.6)) {
        const size = random.pick([0, 1, 3, 40, 3000, 9000, 12_000]);
        const ids = Array.from({ length: size }, (_, i) => (i % 50) + 1);
        // After a commit that failed nobody else writes: the file is closed to all.
        const isTold: boolean = hasFailed || random.chance(0.95);
        if (isTold) {
          writer.begin({ commits, nextId: 40 });
          for (const id of ids) writer.touch(id);
          writer.publish(commits + 1);
        }
        // Not all transactions that are about to be committed are.
        hasFailed = isTold && random.chance(0.1);
        if (!hasFailed) changed.push(ids.filter((id) => id < 40));
      }
      const reader = random.pick(readers);
      const to = Math.max(reader.at, changed.length - 1 - random.pick([0, 0, 1, 4]));
      if (to < 0) continue;
      const heard = new Set<number>();
      const isKnown = reader.since.move(to, (id) => heard.add(id));
      if (isKnown) {
        known++;
        const wanted = new Set(changed.slice(reader.at + 1, to + 1).flat());
        expect([...wanted].filter((id) => !heard.has(id))).toEqual([]);
      }
      reader.at = to;
    }
    expect(known).toBeGreaterThan(5);
  });
  await fc.assert(property, { numRuns: long ? 500 : 60 });
});

it('an id has its last word, a removed id none', async () => {
  const property = fc.asyncProperty(fc.nat(), async (seed) => {
    await nextTurn();
    const random = new Random(seed);
    const [places, model] = [new IdHashTable(), new Map<number, number>()];
    const span = random.pick([5, 300, 4000]);
    for (let word = 1; word < 6000; word++) {
      const id = 1 + random.below(span) * random.pick([1, 65_536]);
      if (model.has(id) && random.chance(0.8)) {
        places.remove(id);
        model.delete(id);
      } else if (!model.has(id)) {
        places.add(id, word);
        model.set(id, word);
      }
      if (random.chance(0.1)) places.remove(1 + random.below(span) + 2 ** 31);
      const other = 1 + random.below(span);
      const wanted = model.get(other) ?? 0;
      if (places.find(other) !== wanted) expect(places.find(other)).toBe(wanted);
    }
    for (const [id, word] of model)
      if (places.find(id) !== word) expect(places.find(id)).toBe(word);
  });
  await fc.assert(property, { numRuns: long ? 60 : 8 });
});
