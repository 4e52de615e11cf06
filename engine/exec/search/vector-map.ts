// Computes a map of the vectors of one type from a sample by a hash of the ids. The map has the positions of
// the sample on the two principal axes, and the neighbors of each vector within the sample as the index finds
// them. It also reports the recall of these neighbors.
// Invariant: the same data and seed give the same map. Vectors do not leave this file.
import type { Label } from '../../storage/table/view-types.js';
import type { AllowList, Metric } from '../../vector/index.js';
import { searchWithMargin } from '../../vector/oversampling.js';
import type { Frame } from '../runtime/frame.js';
import { similarity } from '../runtime/similarity.js';
import { coordinatesOf } from './pca.js';
import { servedIndex } from './vector-search.js';

export interface MapRequest {
  label: Label;
  /** Size of the sample, and number of neighbors of each vector. */
  samples: number;
  neighbours: number;
  seed: number;
  /** Ids that must be in the sample. */
  wanted: readonly number[];
}

export interface MapEdge {
  /** Positions in `ids`, the lower first. */
  ends: [number, number];
  score: number;
}

export interface VectorMap {
  /** Ascending. */
  ids: number[];
  /** x and y of each vector, alternating. */
  coordinates: Float64Array;
  /** Best first. */
  edges: MapEdge[];
  /** Share of the ten true nearest that the index found, within the sample. Null when there are none. */
  recall: number | null;
}

/** Number of vectors that are compared with all others for the recall, and number of nearest. */
const measured = 100;
const nearest = 10;

export function mapOf(frame: Frame, request: MapRequest): VectorMap {
  const { label, neighbours } = request;
  const dimension = frame.view.dimension(label.id);
  const ids = sampleOf(frame, request);
  frame.reserveMemory(ids.length * dimension * Float64Array.BYTES_PER_ELEMENT);
  const rows = ids.map((id) => frame.expected(frame.view.vector(id), id)!);
  const metric = frame.context.vectors(label.id)?.options.metric ?? 'cosine';
  const sample = new Sample(frame, label, ids, rows, metric);
  return {
    ids,
    coordinates: coordinatesOf(metric === 'cosine' ? rows.map(directionOf) : rows, (n) =>
      frame.tick(n),
    ),
    edges: edgesOf(sample, neighbours),
    recall: recallOf(sample),
  };
}

/** Mixes the bits of an id and a seed. */
function hashOf(id: number, seed: number): number {
  let bits = Math.imul(id ^ Math.imul(seed + 1, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * Returns the ids with the smallest hashes. Whether an id is in the sample does not depend on the number of
 * other ids.
 */
function sampleOf(frame: Frame, { label, samples, seed, wanted }: MapRequest): number[] {
  const all: number[] = [];
  for (const batch of frame.view.scan(label.id)) {
    frame.tick(batch.length);
    for (const id of batch) all.push(id);
  }
  if (all.length <= samples) return all;
  const chosen = new Set(wanted.slice(0, samples));
  const hashed = all.map((id) => [hashOf(id, seed), id] as const);
  for (const [, id] of hashed.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (chosen.size >= samples) break;
    chosen.add(id);
  }
  return [...chosen].sort((a, b) => a - b);
}

function directionOf(row: Float64Array): Float64Array {
  let square = 0;
  for (const value of row) square += value * value;
  const size = Math.sqrt(square);
  return size === 0 ? row : row.map((value) => value / size);
}

interface Near {
  at: number;
  score: number;
  distance: number;
}

const byDistance = (a: Near, b: Near): number => a.distance - b.distance || a.at - b.at;

/** The sampled vectors and their neighbors. */
class Sample {
  readonly #coordinates: ReadonlyMap<number, number>;
  readonly #allow: AllowList | undefined;

  constructor(
    readonly frame: Frame,
    private readonly label: Label,
    readonly ids: readonly number[],
    readonly rows: readonly Float64Array[],
    private readonly metric: Metric,
  ) {
    this.#coordinates = new Map(ids.map((id, at) => [id, at]));
    const isWhole = ids.length === frame.view.count(label.id);
    this.#allow = isWhole ? undefined : allowOf(ids);
  }

  #near(at: number, other: number): Near {
    return { at: other, ...similarity(this.metric, this.rows[at]!, this.rows[other]!) };
  }

  /** Returns the neighbors that the index finds, scored by the stored vectors. */
  found(at: number, count: number): Near[] {
    const index = servedIndex(this.frame, this.label);
    const row = this.rows[at]!;
    if (index === undefined || index.isDisabled) return this.exact(at, count);
    if (index.dimension !== row.length) return [];
    const found = searchWithMargin(index, row, count + 1, { allow: this.#allow });
    this.frame.tick(found.count);
    const near: Near[] = [];
    for (const id of found.ids.subarray(0, found.count)) {
      const other = this.#coordinates.get(id);
      if (other !== undefined && other !== at) near.push(this.#near(at, other));
    }
    return near.sort(byDistance).slice(0, count);
  }

  /** Returns the neighbors by an exact scan. */
  exact(at: number, count: number): Near[] {
    this.frame.tick(this.ids.length);
    const all = this.ids.flatMap((_, other) => (other === at ? [] : [this.#near(at, other)]));
    return all.sort(byDistance).slice(0, count);
  }
}

function allowOf(ids: readonly number[]): AllowList {
  const words = new Uint32Array(((ids.at(-1) ?? 0) >>> 5) + 1);
  for (const id of ids) words[id >>> 5]! |= 1 << (id & 31);
  return { words, count: ids.length };
}

/** Returns each pair once. */
function edgesOf(sample: Sample, neighbours: number): MapEdge[] {
  const edges = new Map<number, MapEdge>();
  const { length } = sample.ids;
  for (let at = 0; at < length; at++) {
    for (const { at: other, score } of sample.found(at, neighbours)) {
      const ends: [number, number] = at < other ? [at, other] : [other, at];
      edges.set(ends[0] * length + ends[1], { ends, score });
    }
  }
  return [...edges.values()].sort((a, b) => b.score - a.score);
}

function recallOf(sample: Sample): number | null {
  const { length } = sample.ids;
  let [hits, wanted] = [0, 0];
  const step = Math.max(1, length / measured);
  for (let at = 0; at < length; at += step) {
    const truth = sample.exact(Math.floor(at), nearest);
    const last = truth.at(-1)?.distance ?? 0;
    // Neighbors at equal distance are equally correct.
    const limit = last + Math.abs(last) * 1e-9 + 1e-12;
    const found = sample.found(Math.floor(at), nearest);
    hits += found.filter(({ distance }) => distance <= limit).length;
    wanted += truth.length;
  }
  return wanted === 0 ? null : hits / wanted;
}
