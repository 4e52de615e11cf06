// TrellisDB as a contender of the graph-vector benchmark: schema, queries, loading, and the embedded
// form. The same data directory is then served over HTTP.
import { open } from '../engine/index.js';
import { cacheFolder, timeLoad } from './bench-cache.js';
import type { GvbContender, Workload } from './gvb-contender.js';
import type { GvbData, GvbRequest } from './gvb-data.js';

export const gvbSource = `
N::User { country: U8 }
V::Item { category: U16 }
E::Interacted { From: User, To: Item }
QUERY addUsers(rows: [{country: U8}]) =>
  FOR {country} IN rows { AddN<User>({ country }) }
  RETURN "ok"
QUERY addItems(rows: [{category: U16, vector: [F64]}]) =>
  FOR {category, vector} IN rows { AddV<Item>(vector, { category }) }
  RETURN "ok"
QUERY addEdges(user: ID, items: [ID]) =>
  FOR item IN items { AddE<Interacted>::From(user)::To(item) }
  RETURN "ok"
QUERY userIds() => u <- N<User> RETURN u::ID
QUERY itemIds() => i <- V<Item> RETURN i::ID
QUERY PointGet(item: ID) => i <- V<Item>(item) RETURN i::{id, category}
QUERY OneHop(user: ID) => i <- N<User>(user)::Out<Interacted> RETURN i::{id, category}
QUERY OneHopFilter(user: ID, category: U16) =>
  i <- N<User>(user)::Out<Interacted>::WHERE(_::{category}::EQ(category))
  RETURN i::{id, category}
QUERY Vector(vector: [F64], k: U32) => i <- SearchV<Item>(vector, k) RETURN i::{id, score, category}
QUERY VectorHopFilter(vector: [F64], k: U32, country: U8) =>
  i <- SearchV<Item>(vector, k)::WHERE(EXISTS(_::In<Interacted>::WHERE(_::{country}::EQ(country))))
  RETURN i::{id, score, category}
`;

/** The data directory, filled, and the ids of users and items by number. */
export interface GvbStore {
  dataDir: string;
  users: string[];
  items: string[];
}

/** The body of a request. */
export function argumentsOf(
  store: GvbStore,
  workload: Workload,
  request: GvbRequest,
): Record<string, unknown> {
  const user = store.users[request.user];
  switch (workload) {
    case 'PointGet':
      return { item: store.items[request.item] };
    case 'OneHop':
      return { user };
    case 'OneHopFilter':
      return { user, category: request.category };
    case 'Vector':
      return { vector: Array.from(request.vector), k: 10 };
    case 'VectorHopFilter':
      return { vector: Array.from(request.vector), k: 10, country: request.country };
  }
}

/** Wide enough for a recall over .95 on these vectors. */
const efSearch = 256;
export const gvbSettings = `[vectors]\nef_search = ${efSearch}\n`;
const searching = {
  default: {
    metric: 'cosine',
    m: 16,
    efConstruction: 128,
    efSearch,
    layout: 'auto',
    exact: false,
    memoryBytes: 2 ** 32,
  },
  types: {},
} as const;

const sources = [{ path: 'gvb.hx', text: gvbSource }];

/** Fills a data directory, or finds the one of an earlier run. */
export async function fillStore(data: GvbData, scale: number): Promise<GvbStore> {
  const folder = cacheFolder(`gvb-${scale}-trellis-1`);
  const db = await open({ dataDir: folder.path, sources });
  const idsOf = async (query: string, member: string): Promise<string[]> =>
    (await db.call<Record<string, string[]>>(query))[member]!;
  try {
    if (!folder.isComplete) {
      const call = (name: string, args: Record<string, unknown>) => db.call(name, args);
      await timeLoad('TrellisDB users', data.users, () => addUsers(data, call));
      await timeLoad('TrellisDB items with vectors', data.items, () => addItems(data, call));
      const ids = { users: await idsOf('userIds', 'u'), items: await idsOf('itemIds', 'i') };
      await timeLoad('TrellisDB edges', data.edges, () => addEdges(data, ids, call));
    }
    const users = await idsOf('userIds', 'u');
    const items = await idsOf('itemIds', 'i');
    return { dataDir: folder.path, users, items };
  } finally {
    await db.close();
    folder.complete();
  }
}

type CallQuery = (name: string, args: Record<string, unknown>) => Promise<unknown>;

async function addUsers(data: GvbData, call: CallQuery): Promise<void> {
  const rows = Array.from(data.country, (country) => ({ country }));
  for (let at = 0; at < rows.length; at += 1000)
    await call('addUsers', { rows: rows.slice(at, at + 1000) });
}

async function addItems(data: GvbData, call: CallQuery): Promise<void> {
  const batch = 500;
  for (let at = 0; at < data.items; at += batch) {
    const count = Math.min(batch, data.items - at);
    const rows = Array.from({ length: count }, (_, i) => ({
      category: data.category[at + i],
      vector: Array.from(data.vectorOf(at + i)),
    }));
    await call('addItems', { rows });
  }
}

/** A call per user, a few under way at once so that the lane always has the next. */
async function addEdges(
  data: GvbData,
  ids: { users: string[]; items: string[] },
  call: CallQuery,
): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < data.users) {
      const user = next++;
      const items = Array.from(data.itemsOf(user), (item) => ids.items[item]);
      await call('addEdges', { user: ids.users[user], items });
    }
  };
  await Promise.all(Array.from({ length: 32 }, loop));
}

/** Calls of the engine in this process: arguments in, objects out, as the peers are called. */
export async function trellisEmbedded(data: GvbData, store: GvbStore): Promise<GvbContender> {
  const db = await open({ dataDir: store.dataDir, sources, vectors: searching });
  const run = (workload: Workload) => (request: GvbRequest) =>
    db.call(workload, argumentsOf(store, workload, request));
  const numbers = new Map(store.items.map((id, number) => [id, number]));
  return {
    name: 'TrellisDB',
    users: data.users,
    run: {
      PointGet: run('PointGet'),
      OneHop: run('OneHop'),
      OneHopFilter: run('OneHopFilter'),
      Vector: run('Vector'),
      VectorHopFilter: run('VectorHopFilter'),
    },
    itemsOf: (answer) => {
      const { i } = answer as { i: { id: string } | { id: string }[] };
      return (Array.isArray(i) ? i : [i]).map(({ id }) => numbers.get(id)!);
    },
    close: () => db.close(),
  };
}
