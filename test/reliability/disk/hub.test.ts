// Elements that go by the thousand: whatever set of nodes and edges is removed at once, and whether or
// not it is undone, the store is as if they had gone one by one; what is too much for one transaction is
// refused before anything is written.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { distinct } from '../../../engine/base/words.js';
import { verifyStorage } from '../../../engine/database/care/verify.js';
import { compile } from '../../../engine/lang/compile.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import { freshFolder } from '../../storage/kit/garden.js';
import { openEmbedded } from '../../support/server/embedded-server.js';
import { Random } from '../../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const source = `
N::Thing { INDEX name: String }
E::Link { From: Thing, To: Thing, Properties: { INDEX weight: I64 } }
E::Tie { From: Thing, To: Thing }
`;
const { program } = compile([{ path: 'main.hx', text: source }], { compat: false });

class Undone extends Error {}
const quiet = (): void => undefined;

/** What there is, by a plain model: edges by id with their ends. */
interface World {
  nodes: Set<number>;
  edges: Map<number, { label: number; from: number; to: number }>;
}

function grow(storage: Storage, random: Random, world: World, nodes: number, edges: number): void {
  const thing = storage.catalog.find('node', 'Thing')!;
  const labels = ['Link', 'Tie'].map((name) => storage.catalog.find('edge', name)!);
  storage.commitGroup((group) =>
    group.request(0, (view) => {
      for (let i = 0; i < nodes; i++) {
        world.nodes.add(view.createNode(thing, new Map([['name', `n${i % 7}`]])));
      }
      const all = [...world.nodes];
      const hubs = all.slice(0, 2);
      for (let i = 0; i < edges; i++) {
        const label = random.pick(labels);
        const from = random.chance(0.6) ? random.pick(hubs) : random.pick(all);
        const to = random.chance(0.3) ? random.pick(hubs) : random.pick(all);
        const values = new Map(label.name === 'Link' ? [['weight', BigInt(i % 5)]] : []);
        world.edges.set(view.createEdge(label, from, to, values), { label: label.id, from, to });
      }
    }),
  );
}

/** Removes some nodes with their edges, and some edges, in one request. */
function shrink(storage: Storage, random: Random, world: World, isUndone: boolean): void {
  const share = random.pick([0.02, 0.3, 0.9]);
  const nodes = random.some([...world.nodes], random.pick([0, 0.1, 0.7]));
  const going = new Set(nodes);
  const edges = new Set(random.some([...world.edges.keys()], share));
  const work = (): void => {
    storage.commitGroup((group) =>
      group.request(0, (view) => {
        const all = [...edges, ...nodes.flatMap((id) => [...view.incident(id)])];
        view.removeAll(distinct(Uint32Array.from(all)), quiet);
        for (const id of nodes) expect(view.incidentCount(id)).toBe(0);
        view.removeAll(Uint32Array.from(nodes).sort(), quiet);
        if (isUndone) throw new Undone();
      }),
    );
  };
  if (isUndone) {
    expect(work).toThrow(Undone);
    return;
  }
  work();
  for (const id of nodes) world.nodes.delete(id);
  for (const [id, { from, to }] of world.edges) {
    if (edges.has(id) || going.has(from) || going.has(to)) world.edges.delete(id);
  }
}

function compare(storage: Storage, world: World): void {
  expect(verifyStorage(storage)).toEqual([]);
  const view = storage.reader();
  for (const id of world.nodes) {
    for (const label of ['Link', 'Tie'].map((name) => storage.catalog.find('edge', name)!.id)) {
      const own = [...world.edges].filter(([, edge]) => edge.from === id && edge.label === label);
      const pairs = own.sort(([a], [b]) => a - b).flatMap(([edge, { to }]) => [edge, to]);
      expect([...view.adjacency(id, label, 'out')]).toEqual(pairs);
    }
  }
  expect(view.count(storage.catalog.find('node', 'Thing')!.id)).toBe(world.nodes.size);
}

describe('elements removed at once', () => {
  it('are gone from every list, or from none', () => {
    for (let seed = 1; seed <= (long ? 200 : 5); seed++) {
      const random = new Random(seed);
      const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
      storage.applySchema(program!, { nowMs: 0 });
      const world: World = { nodes: new Set(), edges: new Map() };
      for (let round = 0; round < 3; round++) {
        grow(storage, random, world, 20, random.pick([10, 300, 900]));
        shrink(storage, random, world, true);
        compare(storage, world);
        shrink(storage, random, world, false);
        compare(storage, world);
      }
      storage.close();
    }
  });
});

const queries = `${source}
QUERY dropHub() => DROP N<Thing>({name: "hub"}) RETURN NONE
QUERY dropThings() => DROP N<Thing> RETURN NONE
QUERY dropLinks() => DROP E<Link> RETURN NONE
QUERY updateThings() => t <- N<Thing>::UPDATE({name: "x"}) RETURN NONE
QUERY dropSome() => DROP N<Thing>({name: "hub"})::OutE<Link>::RANGE(0, 300) RETURN NONE
QUERY count() => n <- E<Link>::COUNT RETURN n
`;

describe('T15 a request that writes too much', () => {
  it('is refused before anything is written, and can be done in portions', async () => {
    const config = { 'limits.txn_writes': 2_000 };
    const { db, dispose } = await openEmbedded({ sources: { 'main.hx': queries }, config });
    try {
      const count = 2_200;
      const thing = (name: string): string =>
        `{"node":"Thing","id":"${name}","properties":{"name":"${name}"}}\n`;
      const link = (to: number): string =>
        `{"edge":"Link","from":"hub","to":"t${to}","properties":{"weight":${to}}}\n`;
      const numbers = Array.from({ length: count }, (_, i) => i);
      const rows = [thing('hub'), ...numbers.map((i) => thing(`t${i}`)), ...numbers.map(link)];
      const text = Buffer.from(rows.join(''));
      const bytes = new Uint8Array(new ArrayBuffer(text.length));
      bytes.set(text);
      const load = db.database.load();
      await load.rows(bytes, 1, { offset: bytes.length, line: rows.length + 1 });
      await load.finish();
      const puts = () =>
        db.database.metrics().find(({ name }) => name.endsWith('txn_puts_sum'))?.value;
      const before = puts();
      expect(before).toBeDefined();
      for (const query of ['dropHub', 'dropThings', 'dropLinks', 'updateThings']) {
        await expect(db.call(query), query).rejects.toMatchObject({ code: 'TXN_TOO_LARGE' });
      }
      expect(puts()).toBe(before);
      for (let left = count; left > 400; left -= 300) {
        const former = puts();
        await expect(db.call('dropHub')).rejects.toMatchObject({ code: 'TXN_TOO_LARGE' });
        expect(puts()).toBe(former);
        await db.call('dropSome');
      }
      await db.call('dropHub');
      expect(await db.call('count')).toEqual({ n: 0 });
    } finally {
      await dispose();
    }
  });
});
