// One approximate nearest-neighbour index per vector type, over shared memory. The writer thread
// inserts and deletes; every thread searches. The index only proposes: callers re-score hits and
// drop those LMDB does not have.

export type Metric = 'cosine' | 'dot' | 'l2';
export type Layout = 'auto' | 'fast' | 'compact' | 'flat';

export interface IndexOptions {
  metric: Metric;
  /** HNSW meaning (Malkov & Yashunin 2018); mapped to our own pool sizes. */
  m: number;
  efConstruction: number;
  efSearch: number;
  layout: Layout;
  /** False: of a compact layout only 4-bit codes and edges are kept; whoever searches reads the vectors. */
  resident?: boolean;
  exact: boolean;
  /** This node of a cluster serves no search of the type, and keeps nothing for one. */
  skipped?: boolean;
  /** Most bytes this index may take in memory; insertion beyond is refused by `hasRoom`. */
  memoryBytes: number;
}

/** What another thread needs to attach: options and shared memories. Structured-cloneable. */
export interface IndexHandle {
  /** Of this process: an index that is made anew, or renamed, has another. */
  number: number;
  name: string;
  options: IndexOptions;
  memories: WebAssembly.Memory[];
  control: SharedArrayBuffer;
}

/** Element ids, nearest first, with distances that tell no more than their order. */
export interface Candidates {
  count: number;
  ids: Uint32Array;
  distances: Float32Array;
  /** By how much distances may be wrong, beyond the rounding of sums: what the codes of a layout leave open. */
  distanceError: number;
}

/**
 * Which elements a search may return: one bit per dense element id, bit (id & 31) of word (id >>>
 * 5). Ids beyond the words are not allowed. `count` is the number of bits set.
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
  /** 0 before the first vector. */
  readonly dimension: number;
  /** Live vectors. */
  readonly count: number;
  /** It holds nothing, for want of room: whoever searches looks at the vectors themselves. */
  readonly isDisabled: boolean;
  /**
   * Writer only. Inserts, or replaces when the id is present (tombstone + insert). Never throws on
   * any finite vector.
   */
  put(id: number, vector: Float64Array): void;
  /** Writer only. No effect when absent. */
  delete(id: number): void;
  /** Whether `more` vectors of `dimension` fit; asked before a commit. */
  hasRoom(more: number, dimension: number): boolean;
  /**
   * The k best candidates (fewer only when fewer live, allowed vectors exist). Without `ef` the width
   * is options.efSearch or what the data were found to need, and the way the cheapest. The query is as
   * given (not normalised) and of the index's dimension.
   */
  search(query: Float64Array, k: number, options?: SearchOptions): Candidates;
  handle(): IndexHandle;
}
