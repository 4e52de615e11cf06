// Rerankers. Reciprocal rank: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion", SIGIR 2009. Maximal
// marginal relevance: Carbonell, Goldstein, SIGIR 1998, greedy selection.
import { excerpt, fail } from '../../base/errors.js';
import type { Metric } from '../../vector/index.js';
import { readNumber } from '../runtime/step-argument.js';
import type { Flow, RowFlow } from '../runtime/flow.js';
import { collect } from '../runtime/collect.js';
import type { Frame } from '../runtime/frame.js';
import { copyOf, vectorOf } from '../runtime/bound-element.js';
import { similarity } from '../runtime/similarity.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

export const rankConstant = 60;

/** Returns a copy of the hit with another score. */
export function withScores(frame: Frame, element: Element, score: number): Element {
  const copy = copyOf(frame, element);
  const { distance, found } = element.hit;
  copy.hit = { score, distance, reranked: true, share: Number.NaN, ...(found && { found }) };
  return copy;
}

/** Keeps the order. The score becomes 1 / (n + rank). */
export function rerankRRF(input: Flow, constant: Evaluate | undefined): RowFlow {
  return { kind: 'rows', open: (frame) => rerankRRFRows(frame, input, constant) };
}

function* rerankRRFRows(
  frame: Frame,
  input: Flow,
  constant: Evaluate | undefined,
): Iterable<readonly Value[]> {
  const value = constant?.(frame) ?? null;
  const n = value === null ? rankConstant : readNumber('k', value, 0, Number.MAX_VALUE, false);
  yield collect(input, frame).map((row, i) =>
    row instanceof Element ? withScores(frame, row, 1 / (n + i + 1)) : row,
  );
}

const metrics: Record<string, Metric> = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'dot' };

function readMetric(value: Value): Metric {
  if (value === null) return 'cosine';
  const metric = typeof value === 'string' && Object.hasOwn(metrics, value) && metrics[value];
  if (!metric) {
    const allowed = '"cosine", "euclidean" or "dotproduct"';
    const got = typeof value === 'string' ? `"${excerpt(value)}"` : String(value);
    fail('PARAM_VALUE', { param: 'distance', allowed, got });
  }
  return metric;
}

/** Reorders by maximal marginal relevance. The score becomes the marginal relevance. */
export function rerankMMR(input: Flow, lambda: Evaluate, distance: Evaluate | undefined): RowFlow {
  return { kind: 'rows', open: (frame) => rerankMMRRows(frame, input, lambda, distance) };
}

function* rerankMMRRows(
  frame: Frame,
  input: Flow,
  lambda: Evaluate,
  distance: Evaluate | undefined,
): Iterable<readonly Value[]> {
  const weight = lambda(frame);
  if (weight === null) fail('PARAM_MISSING', { owner: 'RerankMMR', param: 'lambda', type: 'F64' });
  const metric = readMetric(distance?.(frame) ?? null);
  const hits = collect(input, frame).filter((row): row is Element => row instanceof Element);
  yield select(frame, hits, readNumber('lambda', weight, 0, 1, false), metric);
}

/**
 * Returns the relevance that is weighed against similarity. A fused hit uses its share of the maximum,
 * because fused scores are all small.
 */
function relevanceOf({ hit: { score, share } }: Element): number {
  if (!Number.isNaN(share)) return share;
  return Number.isNaN(score) ? 0 : score;
}

function select(frame: Frame, hits: Element[], lambda: number, metric: Metric): Element[] {
  const vectors = hits.map((hit) => vectorOf(frame, hit));
  frame.reserveMemory(vectors.reduce((sum, vector) => sum + 8 * (vector?.length ?? 0), 0));
  const closest = new Float64Array(hits.length).fill(Number.NEGATIVE_INFINITY);
  const left = hits.map((_, i) => i);
  const taken: Element[] = [];
  while (left.length > 0) {
    frame.tick(left.length);
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < left.length; at++) {
      const i = left[at]!;
      const relevance = relevanceOf(hits[i]!);
      const penalty = taken.length === 0 ? 0 : closest[i]!;
      const score = lambda * relevance - (1 - lambda) * penalty;
      if (best < 0 || score > bestScore) [best, bestScore] = [at, score];
    }
    const [chosen] = left.splice(best, 1) as [number];
    taken.push(withScores(frame, hits[chosen]!, bestScore));
    for (const i of left)
      closest[i] = Math.max(closest[i]!, between(metric, vectors[chosen], vectors[i]));
  }
  return taken;
}

function between(metric: Metric, a: Float64Array | undefined, b: Float64Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return 0;
  return similarity(metric, a, b).score;
}
