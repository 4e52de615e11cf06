// Measures on a segment the search width (ef) at which a graph search finds nearly all nearest neighbors.
// Vectors without structure in many dimensions, or of different lengths, need a larger width than others.
//
// The queries are made of stored vectors. Under cosine and l2, each query is one vector, because user queries
// lie among the vectors. Under dot, queries are also the direction of one vector minus another. If lengths
// differ, they also add two and four vectors, because user queries often differ from all of the longest
// vectors. Ground truth is a scan by sketches, so a calibration costs about as much as two to four hundred
// searches.
//
// The writer thread runs it when idle, one or two searches at a time, and again when a third of the vectors
// has changed. It runs for 10 and for 100 results, because a width that finds ten need not find a hundred.
//
// Invariant: searches never wait for a calibration; until it is complete they use the configured width. An
// interrupted calibration is still due.
import {
  H_CHANGED,
  H_SCORED,
  H_METRIC,
  METRIC_DOT,
  N_FLAGS,
  N_NORM,
  NODE_DELETED,
  NODE_FREE,
  POOL_MAX,
} from '../../wasm/layout.js';
import { marginOver, scanMicros, graphMicros } from './search-cost.js';
import { graphFrom } from './options.js';
import { few, many, graphSearchParams, defaultEf } from './search-params.js';
import { searchGraph } from './search.js';
import type { Segment } from './segment.js';

/** Number of queries of each kind. */
const queriesPerKind = 48;
/**
 * Weights with which a query of each kind adds the directions of vectors. The first two kinds serve vectors
 * of equal length.
 */
const kinds = [[1], [1, -1], [1, 1], [1, -1, 1, -1]];
/** Standard deviation of the lengths, as a part of their mean, below which they count as equal. */
const evenDeviation = 0.1;
/** Recall that every kind of queries must reach. Under dot, other queries than these are still harder. */
const targetRecall = 0.98;
const targetRecallDot = 0.985;
/** Number of scans after which the calibration decides whether any width is worth measuring. */
const firstScans = 12;
const widths = [defaultEf, 192, 256, 384, 512, 768, 1024, 1536, 2048];
/** Number of slots that are examined to find one in use. */
const examinedSlots = 4096;

interface Query {
  kind: number;
  slots: number[];
  /** Distance of the last true neighbor. */
  last: number;
}

/**
 * Returns the number of results for which a calibration is due, because there was none or the segment has
 * changed too much. Undefined if none is due.
 */
export function calibrationDue(segment: Segment): number | undefined {
  if (!segment.hasGraph || segment.live < graphFrom) return undefined;
  if (segment.width === 0 || segment.field(H_CHANGED) * 3 > segment.live) return few;
  return segment.widthForMany === 0 ? many : undefined;
}

export class EfCalibration {
  readonly #queries: Query[];
  /** Largest number of neighbors that a kind of queries may miss. */
  readonly #missesMax: number;
  readonly #misses = kinds.map(() => 0);
  /** Widths left to try, narrowest first; undefined during the search for ground truth. */
  #widths: number[] | undefined;
  /** Number of changes when the calibration began. Later changes count for the next one. */
  readonly #changed: number;
  #scored = 0;
  #scanned = 0;
  #done = 0;

  /** `k`: number of nearest neighbors, `few` or `many`. */
  constructor(
    private readonly segment: Segment,
    readonly k: number,
  ) {
    this.#queries = buildQueries(segment);
    const isInner = segment.field(H_METRIC) === METRIC_DOT;
    this.#missesMax = Math.floor(
      (1 - (isInner ? targetRecallDot : targetRecall)) * k * queriesPerKind,
    );
    this.#changed = segment.field(H_CHANGED);
  }

  /** Runs one search or two. Returns false when the calibration is complete. */
  step(): boolean {
    const query = this.#queries[this.#done];
    if (query === undefined) return this.#widths === undefined ? this.#compare() : this.#accept();
    this.#done++;
    if (!this.#begin(query)) return true;
    if (this.#widths !== undefined) return this.#searchWidth(query, this.#widths[0]!);
    this.#scan(query);
    // If a scan is cheaper than the narrowest search, no width is worth measuring.
    return this.#done === firstScans && this.#candidates().length === 0 ? this.#compare() : true;
  }

  #begin({ kind, slots }: Query): boolean {
    const { kernel, scratch } = this.segment;
    kernel.clearQuery(scratch.address);
    const parts = kinds[kind]!;
    const isMade = parts.every((part, i) => kernel.addToQuery(scratch.address, slots[i]!, part));
    if (isMade) kernel.codeQuery(scratch.address);
    return isMade;
  }

  #scan(query: Query): void {
    const { k } = this;
    const { kernel, scratch } = this.segment;
    const count = kernel.searchScan(scratch.address, k);
    query.last = count < k ? Number.POSITIVE_INFINITY : scratch.distances[k - 1]!;
    this.#scored += this.segment.scored;
    this.#scanned++;
  }

  #searchWidth(query: Query, width: number): boolean {
    const { segment, k } = this;
    const { scratch, canFollow, padded } = segment;
    const count = searchGraph(segment, width, k, graphSearchParams(width, k, canFollow, padded));
    let found = 0;
    while (found < count && scratch.distances[found]! <= query.last) found++;
    this.#misses[query.kind]! += k - found;
    return this.#misses[query.kind]! > this.#missesMax ? this.#widen() : true;
  }

  /** Returns the widths at which a graph search is cheaper than a scan. */
  #candidates(): number[] {
    const { segment, k } = this;
    // As in a search, the value for `many` uses the measurement for `few`.
    const scored = k === few ? this.#meanScored() : segment.field(H_SCORED) - 1;
    const scan = scanMicros(segment, k, scored);
    const micros = (width: number): number =>
      graphMicros(segment.padded, graphSearchParams(width, k, segment.canFollow, segment.padded));
    return widths.filter((width) => micros(width) < scan * marginOver(segment, width));
  }

  /** Mean number of vectors that a scan scores; all of them if no query could be made. */
  #meanScored(): number {
    return this.#scanned === 0 ? this.segment.live : this.#scored / this.#scanned;
  }

  /** Starts the graph searches after the ground truth, if there are widths to try. */
  #compare(): boolean {
    this.#widths = this.#candidates();
    return this.#restart();
  }

  #widen(): boolean {
    this.#widths!.shift();
    return this.#restart();
  }

  #restart(): boolean {
    this.#done = 0;
    this.#misses.fill(0);
    return this.#widths!.length > 0 || this.#accept();
  }

  /** Stores the smallest width that was sufficient; without one, a width that no search takes. */
  #accept(): boolean {
    const { segment } = this;
    const width = this.#widths?.[0] ?? POOL_MAX;
    if (this.k === many) segment.widthForMany = width;
    else {
      Atomics.sub(segment.header, H_CHANGED >> 2, this.#changed);
      Atomics.store(segment.header, H_SCORED >> 2, Math.ceil(this.#meanScored()) + 1);
      segment.width = width;
      segment.widthForMany = 0;
    }
    return false;
  }
}

/**
 * Builds queries of all kinds in rotation. The first vectors of each kind are spread evenly over the slots.
 */
function buildQueries(segment: Segment): Query[] {
  const { slots } = segment;
  const nodes = new Nodes(segment);
  const firsts = Array.from({ length: queriesPerKind }, (_, i) =>
    nodes.usedFrom(Math.floor(((i + 0.5) * slots) / queriesPerKind)),
  );
  const usedKinds = kindCount(
    segment,
    firsts.map((slot) => nodes.lengthOf(slot)),
  );
  return Array.from({ length: usedKinds * queriesPerKind }, (_, i) => {
    // Far from the first slot, and different for each query.
    const others = kinds[i % usedKinds]!.slice(1).map((_, j) =>
      nodes.usedFrom(Math.floor((((4 * i + j) * 0.618 + 0.3) % 1) * slots)),
    );
    const first = firsts[Math.floor(i / usedKinds)]!;
    return { kind: i % usedKinds, slots: [first, ...others], last: Number.POSITIVE_INFINITY };
  });
}

/** Returns how many of the kinds to use. */
function kindCount(segment: Segment, lengths: readonly number[]): number {
  if (segment.field(H_METRIC) !== METRIC_DOT) return 1;
  return isUneven(lengths) ? kinds.length : 2;
}

function isUneven(lengths: readonly number[]): boolean {
  const mean = lengths.reduce((sum, length) => sum + length / lengths.length, 0);
  const square = lengths.reduce((sum, length) => sum + (length - mean) ** 2 / lengths.length, 0);
  return Math.sqrt(square) > evenDeviation * mean;
}

/** Reads the records of a segment, as far as queries need them. */
class Nodes {
  readonly #flags: Uint32Array;
  readonly #lengths: Float32Array;

  constructor(private readonly segment: Segment) {
    const { bytes } = segment;
    this.#flags = new Uint32Array(segment.buffer(bytes), 0, bytes >>> 2);
    this.#lengths = new Float32Array(segment.buffer(bytes), 0, bytes >>> 2);
  }

  #at(slot: number, field: number): number {
    return ((this.segment.kernel.nodeAt(slot) >>> 0) + field) >>> 2;
  }

  lengthOf(slot: number): number {
    return this.#lengths[this.#at(slot, N_NORM)]!;
  }

  /** Returns the first slot in use from `slot` on; `slot` itself if there is none nearby. */
  usedFrom(slot: number): number {
    const { slots } = this.segment;
    for (let i = 0; i < examinedSlots; i++) {
      const at = (slot + i) % slots;
      const flags = this.#flags[this.#at(at, N_FLAGS)]!;
      if ((flags & (NODE_DELETED | NODE_FREE)) === 0) return at;
    }
    return slot;
  }
}
