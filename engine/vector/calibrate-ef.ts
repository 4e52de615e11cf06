// How wide a graph must be walked to find nearly all, measured on the segment itself: where vectors lie
// without order in many dimensions, or are of many lengths, the width that is enough for others is not.
// Queries are made of stored vectors: each alone, as what is asked for under cosine and l2 lies among them;
// under dot also the direction of one less that of another, and where lengths differ those of two and of
// four added up, since what is asked for then is often unlike any of the longest. The truth is a scan by
// sketches, so that a measurement costs about as much as two to four hundred searches. It is made by the
// writer when it has nothing else to do, a search or two at a time, and again when the vectors have
// changed by a third. Twice: what finds ten need not find a hundred.
// Invariant: searches never wait for it; until it is made they walk as wide as they are told. A measurement
// that was not made to its end, as when the process stopped, is still due.
import {
  H_CHANGED,
  H_JUDGED,
  H_METRIC,
  METRIC_DOT,
  N_FLAGS,
  N_NORM,
  NODE_DELETED,
  NODE_FREE,
  POOL_MAX,
} from '../../wasm/layout.js';
import { marginOver, scanMicros, walkMicros } from './search-cost.js';
import { graphFrom } from './options.js';
import { few, many, searchWalk, defaultEf } from './search-params.js';
import { walkGraph } from './search.js';
import type { Segment } from './segment.js';

/** How many queries of each kind. */
const perKind = 48;
/** What queries of a kind have of the directions of so many vectors; the first two for equal lengths. */
const kinds = [[1], [1, -1], [1, 1], [1, -1, 1, -1]];
/** Part of the mean length by which lengths deviate where they are as good as equal. */
const evenly = 0.1;
/**
 * Share of the true nearest that every kind of queries must find. Under dot other queries than these
 * are harder still.
 */
const enough = 0.98;
const enoughInner = 0.985;
/** Scans after which it is told whether any walk is worth measuring. */
const firstScans = 12;
const widths = [defaultEf, 192, 256, 384, 512, 768, 1024, 1536, 2048];
/** Slots that are looked at for one that is in use. */
const lookedAt = 4096;

interface Query {
  kind: number;
  slots: number[];
  /** Distance of the last of the true nearest. */
  last: number;
}

/** For how many answers a segment is to be measured: it never was, or has changed too much since. */
export function calibrationDue(segment: Segment): number | undefined {
  if (!segment.hasGraph || segment.live < graphFrom) return undefined;
  if (segment.width === 0 || segment.field(H_CHANGED) * 3 > segment.live) return few;
  return segment.widthForMany === 0 ? many : undefined;
}

export class EfCalibration {
  readonly #queries: Query[];
  /** How many of the nearest a kind of queries may miss. */
  readonly #missesMax: number;
  readonly #misses = kinds.map(() => 0);
  /** Widths that are left to try, narrowest first; undefined while the truth is being found. */
  #widths: number[] | undefined;
  /** What had changed when it began: of that it tells, of what changed meanwhile it does not. */
  readonly #changed: number;
  #judged = 0;
  #scanned = 0;
  #done = 0;

  /** For the `k` nearest, which is `few` or `many`. */
  constructor(
    private readonly segment: Segment,
    readonly k: number,
  ) {
    this.#queries = queriesOf(segment);
    const isInner = segment.field(H_METRIC) === METRIC_DOT;
    this.#missesMax = Math.floor((1 - (isInner ? enoughInner : enough)) * k * perKind);
    this.#changed = segment.field(H_CHANGED);
  }

  /** One search or two; false when the measurement is made. */
  step(): boolean {
    const query = this.#queries[this.#done];
    if (query === undefined) return this.#widths === undefined ? this.#compare() : this.#accept();
    this.#done++;
    if (!this.#begin(query)) return true;
    if (this.#widths !== undefined) return this.#walk(query, this.#widths[0]!);
    this.#scan(query);
    // Where a scan is cheaper than the narrowest walk, no walk is worth measuring.
    return this.#done === firstScans && this.#candidates().length === 0 ? this.#compare() : true;
  }

  #begin({ kind, slots }: Query): boolean {
    const { kernel, lane } = this.segment;
    kernel.clearQuery(lane.address);
    const parts = kinds[kind]!;
    const isMade = parts.every((part, i) => kernel.addToQuery(lane.address, slots[i]!, part));
    if (isMade) kernel.codeQuery(lane.address);
    return isMade;
  }

  #scan(query: Query): void {
    const { k } = this;
    const { kernel, lane } = this.segment;
    const count = kernel.searchScan(lane.address, k);
    query.last = count < k ? Number.POSITIVE_INFINITY : lane.distances[k - 1]!;
    this.#judged += this.segment.judged;
    this.#scanned++;
  }

  #walk(query: Query, width: number): boolean {
    const { segment, k } = this;
    const { lane, canFollow, padded } = segment;
    const count = walkGraph(segment, width, k, searchWalk(width, k, canFollow, padded));
    let found = 0;
    while (found < count && lane.distances[found]! <= query.last) found++;
    this.#misses[query.kind]! += k - found;
    return this.#misses[query.kind]! > this.#missesMax ? this.#widen() : true;
  }

  /** The widths at which a walk is cheaper than a scan. */
  #candidates(): number[] {
    const { segment, k } = this;
    // As a search reckons: for many by what was found for few.
    const judged = k === few ? this.#meanJudged() : segment.field(H_JUDGED) - 1;
    const scan = scanMicros(segment, k, judged);
    const micros = (width: number): number =>
      walkMicros(segment.padded, searchWalk(width, k, segment.canFollow, segment.padded));
    return widths.filter((width) => micros(width) < scan * marginOver(segment, width));
  }

  /** Vectors that a scan judges; all, when no query could be made. */
  #meanJudged(): number {
    return this.#scanned === 0 ? this.segment.live : this.#judged / this.#scanned;
  }

  /** The truth is known: walks are next, where there are any to try. */
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

  /** Keeps the least width that was enough; without one, that which nobody walks. */
  #accept(): boolean {
    const { segment } = this;
    const width = this.#widths?.[0] ?? POOL_MAX;
    if (this.k === many) segment.widthForMany = width;
    else {
      Atomics.sub(segment.header, H_CHANGED >> 2, this.#changed);
      Atomics.store(segment.header, H_JUDGED >> 2, Math.ceil(this.#meanJudged()) + 1);
      segment.width = width;
      segment.widthForMany = 0;
    }
    return false;
  }
}

/** Queries of all kinds by turns; the first vector of each lies evenly among all. */
function queriesOf(segment: Segment): Query[] {
  const { slots } = segment;
  const nodes = new Nodes(segment);
  const firsts = Array.from({ length: perKind }, (_, i) =>
    nodes.usedFrom(Math.floor(((i + 0.5) * slots) / perKind)),
  );
  const asked = kindsAsked(
    segment,
    firsts.map((slot) => nodes.lengthOf(slot)),
  );
  return Array.from({ length: asked * perKind }, (_, i) => {
    // Far from the first, and different each time.
    const others = kinds[i % asked]!.slice(1).map((_, j) =>
      nodes.usedFrom(Math.floor((((4 * i + j) * 0.618 + 0.3) % 1) * slots)),
    );
    const first = firsts[Math.floor(i / asked)]!;
    return { kind: i % asked, slots: [first, ...others], last: Number.POSITIVE_INFINITY };
  });
}

/** How many of the kinds. */
function kindsAsked(segment: Segment, lengths: readonly number[]): number {
  if (segment.field(H_METRIC) !== METRIC_DOT) return 1;
  return isUneven(lengths) ? kinds.length : 2;
}

function isUneven(lengths: readonly number[]): boolean {
  const mean = lengths.reduce((sum, length) => sum + length / lengths.length, 0);
  const square = lengths.reduce((sum, length) => sum + (length - mean) ** 2 / lengths.length, 0);
  return Math.sqrt(square) > evenly * mean;
}

/** The records of a segment as far as queries are made of them. */
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

  /** The first slot from `slot` on that is in use; `slot` itself where none is near. */
  usedFrom(slot: number): number {
    const { slots } = this.segment;
    for (let i = 0; i < lookedAt; i++) {
      const at = (slot + i) % slots;
      const flags = this.#flags[this.#at(at, N_FLAGS)]!;
      if ((flags & (NODE_DELETED | NODE_FREE)) === 0) return at;
    }
    return slot;
  }
}
