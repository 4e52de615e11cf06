// Neo4j embedded in the LDBC benchmark. Its queries are in bench/peer/Neo4jPeer.java, which times them itself:
// no pipe is between a call and its rows.
import { join } from 'node:path';
import { openNeo4j } from '../peer/neo4j-peer.js';
import { cacheFolder, printLoad } from '../support/bench-cache.js';
import type { Timing } from '../support/sample-times.js';
import type { LdbcContender } from './ldbc-contender.js';
import type { LdbcFolder, TypeFile } from './ldbc-folder.js';
import { edgeEnds } from './ldbc-shape.js';

const described = (file: TypeFile): object => ({ ...file, columns: [...file.columns] });

/** Undefined, with a printed reason, when it cannot be had here. */
export async function neo4jContender(
  { nodes, edges }: LdbcFolder,
  name: string,
): Promise<LdbcContender | undefined> {
  const cache = cacheFolder(`${name}-neo4j-5.26.0-1`);
  const peer = openNeo4j(join(cache.path, 'store'), {
    nodes: nodes.map(described),
    edges: edges.map((file) => ({ ...described(file), ends: edgeEnds[file.type] })),
  });
  if (peer === undefined) return undefined;
  const started = performance.now();
  const { rows } = peer.request<{ rows: number }>({ op: 'load' });
  if (rows > 0) printLoad('Neo4j', rows, (performance.now() - started) / 1000);
  cache.complete();
  return {
    name: 'Neo4j',
    run: (query, args) => peer.request<{ rows: object[] }>({ op: 'rows', query, args }).rows,
    rows: (_, __, answer) => answer as object[],
    time: (query, calls, seconds) => peer.request<Timing>({ op: 'time', query, calls, seconds }),
    close: () => peer.end(),
  };
}
