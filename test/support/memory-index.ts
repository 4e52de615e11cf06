// A vector index that looks at every vector: exact, so that tests of searches have one right
// answer.
import { similarity } from '../../engine/exec/runtime/similarity.js';
import type {
  AllowList,
  Candidates,
  IndexHandle,
  IndexOptions,
  Metric,
  VectorIndex,
} from '../../engine/vector/index.js';

const defaults: IndexOptions = {
  metric: 'cosine',
  m: 16,
  efConstruction: 200,
  efSearch: 100,
  layout: 'auto',
  exact: true,
  memoryBytes: 1 << 30,
};

export class MemoryIndex implements VectorIndex {
  readonly isDisabled = false;
  readonly vectors = new Map<number, Float64Array>();
  readonly options: IndexOptions;
  /** The `k` of every search, to see what the executor asked for. */
  readonly asked: number[] = [];

  constructor(
    readonly name: string,
    metric: Metric = 'cosine',
  ) {
    this.options = { ...defaults, metric };
  }

  get dimension(): number {
    return this.vectors.values().next().value?.length ?? 0;
  }

  get count(): number {
    return this.vectors.size;
  }

  put(id: number, vector: Float64Array): void {
    this.vectors.set(id, vector.slice());
  }

  delete(id: number): void {
    this.vectors.delete(id);
  }

  hasRoom(): boolean {
    return true;
  }

  search(query: Float64Array, k: number, options: { allow?: AllowList } = {}): Candidates {
    this.asked.push(k);
    const { allow } = options;
    const isAllowed = (id: number) =>
      allow === undefined || ((allow.words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;
    const found = [...this.vectors]
      .filter(([id]) => isAllowed(id))
      .map(([id, vector]) => ({ id, ...similarity(this.options.metric, query, vector) }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, k);
    return {
      count: found.length,
      ids: Uint32Array.from(found, (hit) => hit.id),
      distances: Float32Array.from(found, (hit) => hit.distance),
      distanceError: 0,
    };
  }

  handle(): IndexHandle {
    throw new RangeError('a naive index stays on its thread');
  }
}
