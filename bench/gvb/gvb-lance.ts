// LanceDB as a contender of the graph-vector benchmark: vector search only, it has no graph.
import { cacheFolder, timeLoad } from '../support/bench-cache.js';
import type { GvbContender } from './gvb-contender.js';
import type { GvbData } from './gvb-data.js';
import { loadPeers } from '../peer/peer-install.js';

interface Query {
  distanceType(type: string): Query;
  limit(count: number): Query;
  nprobes(count: number): Query;
  ef(width: number): Query;
  refineFactor(factor: number): Query;
  select(columns: string[]): Query;
  toArray(): Promise<{ id: number | bigint }[]>;
}

interface Table {
  add(rows: object[]): Promise<unknown>;
  createIndex(column: string, options: object): Promise<void>;
  vectorSearch(vector: Float32Array): Query;
}

interface Lance {
  connect(folder: string): Promise<{
    createTable(name: string, rows: object[], options?: object): Promise<Table>;
    openTable(name: string): Promise<Table>;
    close(): void;
  }>;
  Index: { ivfFlat(options: object): unknown; hnswSq(options: object): unknown };
}

/** Enough partitions are probed, and candidates re-scored on full vectors, for a recall over .95. */
const probes = 20;
/** Rows of one insertion. */
const batch = 5_000;

export async function lanceContender(data: GvbData): Promise<GvbContender | undefined> {
  const specs = ['apache-arrow@18.1.0', '@lancedb/lancedb@0.39.0'];
  const lance = (await loadPeers(specs)).get('@lancedb/lancedb') as Lance | undefined;
  if (lance === undefined) return undefined;
  const folder = cacheFolder('gvb-lance-0.39.0');
  const db = await lance.connect(folder.path);
  let table: Table;
  if (folder.isComplete) table = await db.openTable('item');
  else {
    const rowsFrom = (first: number): object[] =>
      Array.from({ length: Math.min(batch, data.items - first) }, (_, i) => ({
        id: first + i,
        category: data.category[first + i]!,
        vector: Array.from(data.vectorOf(first + i)),
      }));
    table = await db.createTable('item', rowsFrom(0), { mode: 'overwrite' });
    await timeLoad('LanceDB items with vectors', data.items, async () => {
      for (let at = batch; at < data.items; at += batch) await table.add(rowsFrom(at));
    });
    await timeLoad('LanceDB vector index', data.items, () =>
      table.createIndex('vector', {
        config: lance.Index.hnswSq({ distanceType: 'cosine', numPartitions: 1, m: 16 }),
      }),
    );
    folder.complete();
  }
  return {
    name: 'LanceDB',
    users: data.users,
    run: {
      Vector: ({ vector }) =>
        table
          .vectorSearch(vector)
          .distanceType('cosine')
          .limit(10)
          .nprobes(probes)
          .ef(100)
          .refineFactor(4)
          .select(['id', 'category', '_distance'])
          .toArray(),
    },
    itemsOf: (answer) => (answer as { id: number | bigint }[]).map(({ id }) => Number(id)),
    close: async () => db.close(),
  };
}
