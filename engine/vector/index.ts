// The interface of the approximate nearest-neighbor index: one index per vector type, in shared memory. The
// writer thread inserts and deletes; every thread searches. Results are candidates: the caller scores them by
// the stored vectors and drops those that LMDB does not have.

export type Metric = 'cosine' | 'dot' | 'l2';
export type Layout = 'auto' | 'fast' | 'compact' | 'flat';

export interface IndexOptions {
  metric: Metric;
  /** Parameters of HNSW (Malkov & Yashunin 2018); search-params.ts maps them to this index. */
  m: number;
  efConstruction: number;
  efSearch: number;
  layout: Layout;
  /**
   * False: a compact layout keeps only 4-bit codes and edges in memory, and the caller scores candidates by
   * the stored vectors.
   */
  resident?: boolean;
  exact: boolean;
  /** This node of a cluster serves no search of the type and keeps no index for it. */
  skipped?: boolean;
  /** Largest size of the index in memory, in bytes. `hasRoom` refuses insertions beyond it. */
  memoryBytes: number;
}

/** What another thread needs to attach: options and shared memories. Can be cloned to another thread. */
export interface IndexHandle {
  /** Number of the index in this process. A rebuilt or renamed index gets a new one. */
  number: number;
  name: string;
  options: IndexOptions;
  memories: WebAssembly.Memory[];
  control: SharedArrayBuffer;
}

/** Result of a search: element ids, nearest first, with distances. Only their order is meaningful. */
export interface Candidates {
  count: number;
  ids: Uint32Array;
  distances: Float32Array;
  /**
   * Upper bound of the quantization error of `distances`, in their own unit; 0 if they are exact.
   */
  distanceError: number;
}

/**
 * The elements that a search may return: one bit per dense element id, bit (id & 31) of word (id >>> 5). Ids
 * beyond the words are not allowed. `count`: number of set bits.
 */
export interface AllowList {
  words: Uint32Array;
  count: number;
}

export interface SearchOptions {
  ef?: number | undefined;
  allow?: AllowList | undefined;
}

export interface VectorIndex {
  readonly name: string;
  readonly options: IndexOptions;
  /** Number of coordinates; 0 before the first vector. */
  readonly dimension: number;
  /** Number of live vectors. */
  readonly count: number;
  /**
   * True when the index was dropped because it exceeded `memoryBytes`. Searches then scan the stored vectors.
   */
  readonly isDisabled: boolean;
  /**
   * Writer thread only. Inserts a vector, or replaces the one of this id. Accepts every finite vector of the
   * index's dimension.
   */
  put(id: number, vector: Float64Array): void;
  /** Writer thread only. Deletes a vector; does nothing if the id is absent. */
  delete(id: number): void;
  /** Whether `more` vectors of `dimension` coordinates fit into `memoryBytes`. Called before a commit. */
  hasRoom(more: number, dimension: number): boolean;
  /**
   * Returns the k best candidates; fewer only if fewer live, allowed vectors exist. Without `ef`, the width
   * is `efSearch` or the calibrated one (calibrate-ef.ts), and the cheapest method is chosen. The query has
   * the dimension of the index and need not be normalized. Fails QUERY_MEMORY if a filter does not fit into
   * the segment's memory.
   */
  search(query: Float64Array, k: number, options?: SearchOptions): Candidates;
  handle(): IndexHandle;
}
