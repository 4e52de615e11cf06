// usearch in the recall grid, with the same rows as f32 and the same m and widths as our index. Its
// JavaScript binding has no filters, so under a filter it requests more until enough match.
import type { AllowList, Metric } from '../../engine/vector/index.js';
import { loadPeers } from '../peer/peer-install.js';
import { type Filter, passes, type Truth } from './recall-data.js';
import { type Measured, standard } from './recall-index.js';

interface Usearch {
  add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
  search(query: Float32Array, k: number, threads: number): { keys: BigUint64Array };
}

type IndexClass = new (options: object) => Usearch;

const kinds: Record<Metric, string> = { cosine: 'cos', l2: 'l2sq', dot: 'ip' };

/** Makes contenders; undefined, with a printed reason, where usearch cannot be had. */
export async function usearchMaker(): Promise<
  ((metric: Metric, truth: Truth) => UsearchContender) | undefined
> {
  const found = (await loadPeers(['usearch@2.25.3'])).get('usearch');
  if (found === undefined) return undefined;
  const { Index } = found as { Index: IndexClass };
  return (metric, truth) => new UsearchContender(Index, metric, truth);
}

export class UsearchContender {
  readonly #index: Usearch;
  readonly #queries: Float32Array[];

  constructor(
    Index: IndexClass,
    metric: Metric,
    private readonly truth: Truth,
  ) {
    const { rows, queries, dimension } = truth.data;
    this.#index = new Index({
      metric: kinds[metric],
      dimensions: dimension,
      quantization: 'f32',
      connectivity: standard.m,
      expansion_add: standard.efConstruction,
      expansion_search: standard.efSearch,
      multi: false,
    });
    const all = new Float32Array(rows.length * dimension);
    for (const [i, row] of rows.entries()) all.set(row, i * dimension);
    const keys = BigUint64Array.from(rows, (_, i) => BigInt(i + 1));
    this.#index.add(keys, all, 1);
    this.#queries = queries.map((query) => Float32Array.from(query));
  }

  measure(k: number, filter: Filter): Measured {
    const allows = this.#queries.map((_, q) => filter(q));
    for (const [q, query] of this.#queries.slice(0, 5).entries()) this.#search(query, k, allows[q]);
    const started = process.cpuUsage();
    const found = this.#queries.map((query, q) => this.#search(query, k, allows[q]));
    const { user, system } = process.cpuUsage(started);
    const recalls = found.map((ids, q) => this.truth.recall(q, ids, k, allows[q]));
    return {
      recall: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
      perSecond: (this.#queries.length * 1e6) / (user + system),
    };
  }

  #search(query: Float32Array, k: number, allow: AllowList | undefined): number[] {
    const { length } = this.truth.data.rows;
    for (let want = k; ; want = Math.min(length, want * 4)) {
      const ids = Array.from(this.#index.search(query, want, 1).keys, Number);
      const passing = ids.filter((id) => passes(allow, id));
      if (passing.length >= k || want === length) return passing.slice(0, k);
    }
  }
}
