// Measures the recall of a vector index on the data themselves. Stored vectors are the queries, an exact scan
// of the stored rows is the truth, and a vector does not count as its own neighbor. It runs in slices on a
// thread with other work.
import type { ReadView } from '../../storage/table/view-types.js';
import { similarity } from '../../exec/runtime/similarity.js';
import { searchWithMargin } from '../../vector/oversampling.js';
import type { SharedIndex } from '../../vector/shared-index.js';
import { idsOf } from './vector-build.js';

export interface RecallRequest {
  samples: number;
  k: number;
}

export interface Recall extends RecallRequest {
  type: string;
  /** Number of vectors that were compared. */
  vectors: number;
  /** Mean share of the k nearest that were found, 0 to 1. It is 1 when there is nothing to find. */
  recall: number;
  /** Mean microseconds of one index search. */
  searchMicros: number;
}

/** Milliseconds of work per slice, and of the pause after it. */
const sliceMs = 2;
const restMs = 2;

interface Sample {
  id: number;
  vector: Float64Array;
  /** Distances of the k nearest other vectors so far, ascending. */
  nearest: Float64Array;
}

/** Measures one index. `view` returns a view of the newest commit at each call. */
export async function measureRecall(
  index: SharedIndex,
  label: { id: number; name: string },
  view: () => ReadView,
  { samples, k }: RecallRequest,
): Promise<Recall> {
  const ids = idsOf(view(), label);
  const taken = takeSamples(view(), ids, samples, k);
  const rest = pacer();
  for (const id of ids) {
    await rest();
    const vector = view().vector(id);
    if (!vector) continue;
    for (const sample of taken) {
      if (sample.id !== id) offer(sample.nearest, distanceOf(index, sample, vector));
    }
  }
  let found = 0;
  let wanted = 0;
  let micros = 0;
  for (const sample of taken) {
    await rest();
    const started = performance.now();
    const candidates = searchWithMargin(index, sample.vector, k + 1, {});
    micros += (performance.now() - started) * 1000;
    const minima = sample.nearest.filter(Number.isFinite);
    wanted += minima.length;
    found += hitsOf(index, view(), sample, candidates.ids.subarray(0, candidates.count), minima);
  }
  return {
    type: label.name,
    vectors: ids.length,
    samples: taken.length,
    k,
    recall: wanted === 0 ? 1 : found / wanted,
    searchMicros: taken.length === 0 ? 0 : micros / taken.length,
  };
}

/** Takes every n-th vector, so that old and new ones are equally represented. */
function takeSamples(view: ReadView, ids: Uint32Array, samples: number, k: number): Sample[] {
  const taken: Sample[] = [];
  const step = Math.max(1, ids.length / samples);
  for (let at = step / 2; at < ids.length && taken.length < samples; at += step) {
    const id = ids[Math.floor(at)]!;
    const vector = view.vector(id);
    const nearest = new Float64Array(k).fill(Number.POSITIVE_INFINITY);
    if (vector) taken.push({ id, vector, nearest });
  }
  return taken;
}

const distanceOf = (index: SharedIndex, { vector }: Sample, other: Float64Array): number =>
  similarity(index.options.metric, vector, other).distance;

/** Keeps the smallest distances, ascending. */
function offer(nearest: Float64Array, distance: number): void {
  let at = nearest.length - 1;
  if (!(distance < nearest[at]!)) return;
  for (; at > 0 && nearest[at - 1]! > distance; at--) nearest[at] = nearest[at - 1]!;
  nearest[at] = distance;
}

/** Returns how many results are at most as far as the last true neighbor. Equal distances count as equal. */
function hitsOf(
  index: SharedIndex,
  view: ReadView,
  sample: Sample,
  ids: Uint32Array,
  minima: Float64Array,
): number {
  if (minima.length === 0) return 0;
  const last = minima.at(-1)!;
  const limit = last + Math.abs(last) * 1e-9 + 1e-12;
  let hits = 0;
  for (const id of ids) {
    const vector = id === sample.id ? undefined : view.vector(id);
    if (vector && distanceOf(index, sample, vector) <= limit) hits++;
  }
  return Math.min(hits, minima.length);
}

/** Yields to other work after every slice. */
function pacer(): () => Promise<void> | undefined {
  let until = performance.now() + sliceMs;
  return () => {
    if (performance.now() < until) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        until = performance.now() + sliceMs;
        resolve();
      }, restMs);
    });
  };
}
