// Runs TrellisDB in the graph-vector benchmark: schema, queries, loading, and the embedded form. The HTTP
// form serves the same data directory.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../engine/internal.js';
import { cacheFolder, printLoad } from '../support/bench-cache.js';
import type { GvbContender, Workload } from './gvb-contender.js';
import type { GvbData, GvbRequest } from './gvb-data.js';
import { importSeconds, writeRows } from '../support/import-run.js';

export const gvbSource = `
N::User { country: U8 }
V::Item { category: U16 }
E::Interacted { From: User, To: Item }
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
const efSearch = 80;
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

/** Fills a data directory by an import, or finds the one of an earlier run. */
export async function fillStore(data: GvbData, scale: number): Promise<GvbStore> {
  const folder = cacheFolder(`gvb-${scale}-trellis-2`);
  const dataDir = join(folder.path, 'data');
  if (!folder.isComplete) {
    importGvb(data, folder.path, dataDir);
    folder.complete();
  }
  const db = await open({ dataDir, sources });
  try {
    const { u: users } = await db.call<{ u: string[] }>('userIds');
    const { i: items } = await db.call<{ i: string[] }>('itemIds');
    return { dataDir, users, items };
  } finally {
    await db.close();
  }
}

function importGvb(data: GvbData, folder: string, dataDir: string): void {
  const files = ['users', 'items', 'edges'].map((name) => join(folder, `${name}.ndjson`));
  writeFileSync(join(folder, 'gvb.hx'), gvbSource);
  writeRows(files[0]!, userRows(data));
  writeRows(files[1]!, itemRows(data));
  writeRows(files[2]!, edgeRows(data));
  const count = data.users + data.items + data.edges;
  printLoad('TrellisDB users, items, edges', count, importSeconds(folder, dataDir, files));
  for (const path of files) rmSync(path);
}

function* userRows({ country }: GvbData): Generator<object> {
  for (const [user, code] of country.entries())
    yield { node: 'User', id: `u${user}`, properties: { country: code } };
}

function* itemRows(data: GvbData): Generator<object> {
  for (let item = 0; item < data.items; item++) {
    const properties = { category: data.category[item] };
    yield { vector: 'Item', id: `i${item}`, values: Array.from(data.vectorOf(item)), properties };
  }
}

function* edgeRows(data: GvbData): Generator<object> {
  for (let user = 0; user < data.users; user++) {
    for (const item of data.itemsOf(user))
      yield { edge: 'Interacted', from: `u${user}`, to: `i${item}` };
  }
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
