// A real server with one vector type and clustered vectors to fill it with. Measures the recall of a search
// over HTTP against the exact order.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { naiveSearch } from '../../vector/fixture.js';
import { type Server, type StartOptions, startServer } from './server.js';

export const vectorSources = {
  'main.hx': `
N::Note { INDEX title: String, UNIQUE INDEX key: String }
V::Doc { no: I64 }
V::Other { no: I64 }
QUERY add(vec: [F64], no: I64) => v <- AddV<Doc>(vec, { no: no }) RETURN v::ID
QUERY addOther(vec: [F64], no: I64) => v <- AddV<Other>(vec, { no: no }) RETURN v::ID
QUERY fill(rows: [{ no: I64, vec: [F64] }]) =>
  FOR { no, vec } IN rows { AddV<Doc>(vec, { no: no }) }
  RETURN "ok"
QUERY fillOther(rows: [{ no: I64, vec: [F64] }]) =>
  FOR { no, vec } IN rows { AddV<Other>(vec, { no: no }) }
  RETURN "ok"
QUERY like(vec: [F64], k: I64) => v <- SearchV<Doc>(vec, k) RETURN v::{no}
QUERY likeOther(vec: [F64], k: I64) => v <- SearchV<Other>(vec, k) RETURN v::{no}
QUERY drop(no: I64) => DROP V<Doc>::WHERE(_::{no}::EQ(no)) RETURN "ok"
QUERY dropId(id: ID) => DROP V<Doc>(id) RETURN "ok"
QUERY count() => n <- V<Doc>::COUNT RETURN n
`,
};

export const startVectorServer = (options: Partial<StartOptions> = {}): Promise<Server> =>
  startServer({ sources: vectorSources, ...options });

/** Vector i becomes number i + `from`; `rowsAtOnce` of them in one request. */
export async function fill(
  server: Server,
  vectors: readonly Float64Array[],
  { query = 'fill', from = 0, rowsAtOnce = 500 } = {},
): Promise<void> {
  for (let at = 0; at < vectors.length; at += rowsAtOnce) {
    const part = vectors.slice(at, at + rowsAtOnce);
    const rows = part.map((vec, i) => ({ no: from + at + i, vec: [...vec] }));
    await server.client.post(query, { rows });
  }
}

/** Mean recall@10 (cosine) of `like` over HTTP. */
export async function httpRecall(
  server: Server,
  model: ReadonlyMap<number, Float64Array>,
  queries: readonly Float64Array[],
  query = 'like',
): Promise<number> {
  let hits = 0;
  for (const vec of queries) {
    const { v } = await server.client.post(query, { vec: [...vec], k: 10 });
    const truth = new Set(naiveSearch('cosine', model, vec, 10).map(({ id }) => id));
    for (const { no } of v as { no: number }[]) if (truth.has(no)) hits++;
  }
  return hits / (queries.length * 10);
}

export const snapshotFiles = (server: Server): string[] =>
  readdirSync(join(server.data, 'vec')).sort();

export function removeSnapshots(server: Server): void {
  for (const name of snapshotFiles(server)) rmSync(join(server.data, 'vec', name));
}
