// Elements that go by the thousand: whatever set of nodes and edges is removed at once, and whether or
// not it is undone, the store is as if they had gone one by one; what is too much for one transaction is
// refused before anything is written.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { distinct } from '../../../engine/base/u32-array.js';
import { verifyStorage } from '../../../engine/database/maintenance/verify.js';
import { compile } from '../../../engine/lang/compile.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import type { WriteView } from '../../../engine/storage/table/view-types.js';
import { freshFolder } from '../../storage/support/garden.js';
import { noteProof } from '../../support/proof.js';
import { openEmbedded } from '../../support/server/embedded-server.js';
import { commandHere } from '../../support/server/command-here.js';
import { startServer } from '../../support/server/server.js';
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

/**
 * Removes some nodes with their edges, and some edges, in one request: alone in its transaction, or after a
 * request that stays.
 */
function shrink(storage: Storage, random: Random, world: World, isUndone: boolean): void {
  const thing = storage.catalog.find('node', 'Thing')!;
  const isSingle = random.chance(0.5);
  const share = random.pick([0.02, 0.3, 0.9]);
  const nodes = random.some([...world.nodes], random.pick([0, 0.1, 0.7]));
  const going = new Set(nodes);
  const edges = new Set(random.some([...world.edges.keys()], share));
  let isRefused = false;
  storage.commitGroup((group) => {
    if (!isSingle) {
      group.request(0, (view) => {
        world.nodes.add(view.createNode(thing, new Map([['name', 'beside']])));
      });
    }
    try {
      group.request(0, (view) => {
        const all = [...edges, ...nodes.flatMap((id) => [...view.incident(id)])];
        view.removeAll(distinct(Uint32Array.from(all)), quiet);
        for (const id of nodes) expect(view.incidentCount(id)).toBe(0);
        removeInAnyOrder(view, random.some(nodes, 1));
        if (isUndone) throw new Undone();
      });
    } catch (error) {
      if (!(error instanceof Undone)) throw error;
      isRefused = true;
    }
  }, isSingle);
  expect(isRefused).toBe(isUndone);
  if (isUndone) return;
  for (const id of nodes) world.nodes.delete(id);
  for (const [id, { from, to }] of world.edges) {
    if (edges.has(id) || going.has(from) || going.has(to)) world.edges.delete(id);
  }
}

function removeInAnyOrder(view: WriteView, ids: readonly number[]): void {
  const removal = view.removal(quiet);
  for (const id of ids) expect(removal.add(id)?.name).toBe('Thing');
  removal.apply();
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
    for (let seed = 1; seed <= (long ? 200 : 1); seed++) {
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
        db.database.metrics().find(({ name }) => name.endsWith('transaction_writes_sum'))?.value;
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

const hubSource = `
N::Thing { INDEX name: String }
V::Spot { INDEX place: String }
E::Link { From: Thing, To: Thing, Properties: { INDEX weight: I64 } }
E::Tie { From: Thing, To: Thing }
E::Near { From: Thing, To: Spot }
QUERY addSpot(place: String, at: [F64]) => s <- AddV<Spot>(at, { place: place }) RETURN s::ID
QUERY dropHub(name: String) => gone <- DROP N<Thing>({name: name}) RETURN gone
QUERY dropSpot(place: String) => gone <- DROP V<Spot>({place: place}) RETURN gone
QUERY prune(name: String) =>
  gone <- DROP N<Thing>({name: name})::OutE<Tie>::RANGE(0, 700)
  RETURN gone
QUERY counts() =>
  things <- N<Thing>::COUNT
  spots <- V<Spot>::COUNT
  links <- E<Link>::COUNT
  ties <- E<Tie>::COUNT
  near <- E<Near>::COUNT
  edges <- ADD(ADD(links, ties), near)
  RETURN things, spots, edges
`;

const others = 300;
const spot = 'spot';

/** The i-th edge of a hub by how it hangs on it: type, from, to, weight. */
const kinds: Record<string, (hub: string, i: number) => [string, string, string, number?]> = {
  out: (hub, i) => ['Tie', hub, `t${i % others}`],
  in: (hub, i) => ['Tie', `t${i % others}`, hub],
  both: (hub, i) => (i % 2 ? ['Tie', hub, `t${i % others}`] : ['Tie', `t${i % others}`, hub]),
  loops: (hub, i) => (i % 3 ? ['Tie', hub, `t${i % others}`] : ['Tie', hub, hub]),
  parallel: (hub, i) => ['Tie', hub, `t${i % 2}`],
  'indexed, few values': (hub, i) => ['Link', hub, `t${i % others}`, i % 7],
  'indexed, each its own': (hub, i) => ['Link', `t${i % others}`, hub, i],
  'of several types': (hub, i) =>
    i % 2 ? ['Link', hub, `t${i % others}`, 1] : ['Tie', `t${i % others}`, hub],
  'to a vector': (hub) => ['Near', hub, spot],
};

const degrees = long ? [1, 128, 129, 1_000, 20_000, 200_000] : [1, 128, 129, 400];

/** One line a row, as a bulk load takes them. */
function rowsOf(spotId: string, left: Map<string, number>, sizes = degrees): string[] {
  const thing = (name: string): string =>
    `{"node":"Thing","id":"${name}","properties":{"name":"${name}"}}\n`;
  const rows = Array.from({ length: others }, (_, i) => thing(`t${i}`));
  for (const [kind, edge] of Object.entries(kinds)) {
    for (const degree of sizes) {
      const hub = `${kind} ${degree}`;
      left.set(hub, degree);
      rows.push(thing(hub));
      for (let i = 0; i < degree; i++) {
        const [type, from, to, weight] = edge(hub, i);
        const values = weight === undefined ? '' : `,"properties":{"weight":${weight}}`;
        const end = to === spot ? spotId : to;
        rows.push(`{"edge":"${type}","from":"${from}","to":"${end}"${values}}\n`);
      }
    }
  }
  return rows;
}

describe('T15 hubs of any degree', () => {
  it('are deleted in one request, for all forms of their edges, and leave nothing', async () => {
    const config = { 'limits.drop_edges': degrees.at(-1)! };
    const { db, folder, dispose } = await openEmbedded({
      sources: { 'main.hx': hubSource },
      config,
    });
    try {
      const { s } = await db.call<{ s: string }>('addSpot', { place: spot, at: [1, 2, 3] });
      const left = new Map<string, number>();
      const rows = rowsOf(s, left);
      const bytes = new Uint8Array(Buffer.from(rows.join('')));
      const load = db.database.load();
      await load.rows(bytes, 1, { offset: bytes.length, line: rows.length + 1 });
      await load.finish();
      let edges = [...left.values()].reduce((sum, degree) => sum + degree, 0);
      let things = others + left.size;
      expect(await db.call('counts')).toEqual({ things, spots: 1, edges });
      let [slowest, ms] = [0, 0];
      for (const hub of new Random(15).some([...left.keys()], 0.7)) {
        const began = performance.now();
        expect(await db.call('dropHub', { name: hub }), hub).toEqual({ gone: 1 });
        ms += performance.now() - began;
        slowest = Math.max(slowest, performance.now() - began);
        edges -= left.get(hub)!;
        left.delete(hub);
        expect(await db.call('counts'), hub).toEqual({ things: --things, spots: 1, edges });
      }
      // What hangs on a vector goes with it; the rest is cut in pieces.
      expect(await db.call('dropSpot', { place: spot })).toEqual({ gone: 1 });
      for (const hub of left.keys()) {
        for (let gone = 1; gone > 0; ) {
          ({ gone } = await db.call<{ gone: number }>('prune', { name: hub }));
          expect(gone).toBeLessThanOrEqual(700);
        }
        await db.call('dropHub', { name: hub });
      }
      expect(await db.call('counts')).toEqual({ things: others, spots: 0, edges: 0 });
      noteProof(
        'T15',
        `hubs of ${degrees.length} degrees and ${Object.keys(kinds).length} kinds dropped: the slowest of up to ` +
          `${degrees.at(-1)} edges took ${slowest.toFixed(0)} ms, all ${ms.toFixed(0)} ms`,
      );
      await db.close();
      const checked = await commandHere(['verify', '--deep', '--data', `${folder}/data`]);
      expect([checked.code, checked.stdout + checked.stderr]).toEqual([0, expect.any(String)]);
    } finally {
      await dispose();
    }
  }, 600_000);

  it('are complete after a kill before the commit, and deleted after a kill after it', async () => {
    const server = await startServer({ sources: { 'main.hx': hubSource } });
    try {
      const degree = long ? 20_000 : 400;
      const all = rowsOf('none', new Map(), [degree]);
      const rows = all.filter((row) => !row.includes('"none"'));
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const request = { path: '_admin/import', headers, body: rows.join('') };
      expect((await server.client.request(request, 60_000)).status).toBe(200);
      const { things, edges } = await server.client.post('counts');
      const points = long ? ['W5', 'W6', 'beforeSyncDataPages', 'W10'] : ['W6'];
      const dropped = { things: 0, edges: 0 };
      for (const [i, point] of points.entries()) {
        const name = `${Object.keys(kinds)[i]} ${degree}`;
        await server.restart({ env: { TRELLIS_FAILPOINT: `${point}@1:kill` } });
        const answer = server.client.post('dropHub', { name }).catch(() => 'lost');
        expect((await server.exit()).signal, point).toBe('SIGKILL');
        expect(await answer).toBe('lost');
        await server.start();
        // Only the last place is behind the commit.
        if (point === 'W10') dropped.edges += degree;
        if (point === 'W10') dropped.things++;
        const { things: left, edges: kept } = await server.client.post('counts');
        expect([left + dropped.things, kept + dropped.edges], point).toEqual([things, edges]);
      }
    } finally {
      await server.dispose();
    }
  });
});
