// Keeps vectors of recent texts, and what other requests are waiting for.
// Invariant: a key is sent to a provider by one request at a time.
import { TrellisError } from '../base/errors.js';
import type { Embedding } from './split-refused.js';

export class VectorCache {
  /** Vectors by key, least recently used first. */
  readonly #vectors = new Map<string, Float64Array>();
  /** Keys that a request has sent to a provider. */
  readonly #pending = new Map<string, Promise<Embedding>>();

  constructor(private readonly entries: number) {}

  find(key: string): Float64Array | undefined {
    const vector = this.#vectors.get(key);
    if (vector === undefined) return undefined;
    this.#vectors.delete(key);
    this.#vectors.set(key, vector);
    return vector;
  }

  add(key: string, found: Embedding): void {
    if (this.entries <= 0 || !(found instanceof Float64Array)) return;
    if (this.#vectors.size >= this.entries)
      this.#vectors.delete(this.#vectors.keys().next().value!);
    this.#vectors.set(key, found);
  }

  /** Returns what another request will find under this key, or undefined. */
  pendingOf(key: string): Promise<Embedding> | undefined {
    return this.#pending.get(key);
  }

  /** Publishes what `work` will find under these keys, by key, so that other requests wait for it. */
  async share(
    keys: readonly string[],
    work: () => Promise<ReadonlyMap<string, Embedding>>,
  ): Promise<void> {
    const found = work();
    for (const key of keys) {
      const one = found.then((all) => all.get(key)!);
      // A failure reaches this request by `found`.
      one.catch(() => undefined);
      this.#pending.set(key, one);
    }
    try {
      await found;
    } finally {
      for (const key of keys) this.#pending.delete(key);
    }
  }
}

/** Resolves as `work` does; fails when the deadline passes first. */
export function inTime<T>(work: Promise<T>, deadline: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const ms = Math.max(0, deadline - performance.now());
    const fail = () => reject(new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms } }));
    const late = setTimeout(fail, ms);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
