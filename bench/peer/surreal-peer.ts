// SurrealDB inside this process (@surrealdb/node), with its SurrealKV store on disk: opening,
// queries with variables, and batched insertion.
import { loadPeers } from './peer-install.js';

interface SurrealClient {
  connect(url: string): Promise<unknown>;
  use(what: { namespace: string; database: string }): Promise<unknown>;
  query(text: string, variables?: Record<string, unknown>): Promise<unknown[]>;
  close(): Promise<unknown>;
}

interface SurrealModule {
  Surreal: new (options: { engines: object }) => SurrealClient;
  RecordId: new (table: string, id: number | string) => unknown;
}

interface EngineModule {
  createNodeEngines(): object;
}

export interface Surreal {
  /** The last statement's result. */
  query(text: string, variables?: Record<string, unknown>): Promise<unknown>;
  record(table: string, id: number | string): unknown;
  close(): Promise<unknown>;
}

/** Opens a database in a folder; undefined, with a printed reason, when it cannot be had here. */
export async function openSurreal(folder: string): Promise<Surreal | undefined> {
  const peers = await loadPeers(['surrealdb@2.0.8', '@surrealdb/node@3.0.3']);
  const module = peers.get('surrealdb') as SurrealModule | undefined;
  const engines = peers.get('@surrealdb/node') as EngineModule | undefined;
  if (module === undefined || engines === undefined) return undefined;
  const client = new module.Surreal({ engines: engines.createNodeEngines() });
  await client.connect(`surrealkv://${folder}`);
  await client.use({ namespace: 'bench', database: 'bench' });
  return {
    query: async (text, variables) => (await client.query(text, variables)).at(-1),
    record: (table, id) => new module.RecordId(table, id),
    close: () => client.close(),
  };
}

/** `INSERT` of `count` rows made one by one, `batch` rows a statement. */
export async function insertRows(
  db: Surreal,
  into: string,
  count: number,
  batch: number,
  rowOf: (i: number) => object,
): Promise<void> {
  for (let at = 0; at < count; at += batch) {
    const rows = Array.from({ length: Math.min(batch, count - at) }, (_, i) => rowOf(at + i));
    await db.query(`INSERT ${into} $rows RETURN NONE`, { rows });
  }
}
