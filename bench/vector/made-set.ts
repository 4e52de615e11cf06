// Makes `made24`, a set of low intrinsic dimension: 60,000 vectors of 256 numbers that differ from their
// centers in 24 directions, like the vectors of `bench scale --intrinsic 24`. Exact results are kept between
// runs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vectorOf } from '../scale/scale-data.js';
import { cacheFolder } from '../support/bench-cache.js';
import { randomOf } from '../support/seeded-random.js';
import type { VectorSet } from '../support/vector-data.js';

const shape = { dimensions: 256, intrinsic: 24 };
const counts = { base: 60_000, queries: 500 };
const depth = 100;

function unit(vector: readonly number[]): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return Float32Array.from(vector, (x) => x / length);
}

/** The rows with the largest products with a query of length 1, largest first. */
function nearest(base: readonly Float32Array[], query: Float32Array): Uint32Array {
  const products = Float64Array.from(base, (row) => {
    let product = 0;
    for (let d = 0; d < row.length; d++) product += row[d]! * query[d]!;
    return product;
  });
  const least = products.toSorted().at(-depth)!;
  const rows = [...products.keys()].filter((row) => products[row]! >= least);
  return Uint32Array.from(rows.sort((a, b) => products[b]! - products[a]!)).slice(0, depth);
}

function truthOf(base: readonly Float32Array[], queries: readonly Float32Array[]): Uint32Array[] {
  const kept = cacheFolder(`made24-truth-${base.length}-${queries.length}`);
  const path = join(kept.path, 'truth.u32');
  if (!kept.isComplete) {
    const all = Uint32Array.from(queries.flatMap((query) => [...nearest(base, query)]));
    writeFileSync(path, all);
    kept.complete();
  }
  const all = new Uint32Array(new Uint8Array(readFileSync(path)).buffer);
  return queries.map((_, i) => all.slice(i * depth, i * depth + depth));
}

/** The set, with its 100 nearest rows for each of 500 queries. */
export function madeSet(): VectorSet {
  const draw = vectorOf(shape);
  const random = randomOf(24);
  const make = (count: number): Float32Array[] =>
    Array.from({ length: count }, () => unit(draw(random)));
  const base = make(counts.base);
  const queries = make(counts.queries);
  const truth100 = truthOf(base, queries);
  return {
    name: 'made24',
    metric: 'cosine',
    dimension: shape.dimensions,
    base,
    queries,
    truth: truth100.map((rows) => rows.slice(0, 10)),
    truth100,
  };
}
