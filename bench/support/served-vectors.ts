// Vectors as programs send them to a server.
import type { BenchServer } from './load.js';

/** Seven digits. */
export const decimals = (vector: Float32Array): number[] =>
  Array.from(vector, (x) => Number(x.toPrecision(7)));

const atOnce = 500;

/** Stores vectors through a query that takes `vecs` and gives their ids as `v`; ids by row. */
export async function sowVectors(
  server: BenchServer,
  query: string,
  vectors: readonly Float32Array[],
): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < vectors.length; at += atOnce) {
    const vecs = vectors.slice(at, at + atOnce).map(decimals);
    ids.push(...((await server.post(query, { vecs })) as { v: string[] }).v);
  }
  return ids;
}
