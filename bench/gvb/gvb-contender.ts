// What every contender of the graph-vector benchmark offers, and how its answers are judged.
import type { GvbRequest } from './gvb-data.js';

export const workloads = [
  'PointGet',
  'OneHop',
  'OneHopFilter',
  'Vector',
  'VectorHopFilter',
] as const;
export type Workload = (typeof workloads)[number];

export interface GvbContender {
  readonly name: string;
  /** What stands under the table about this contender. */
  readonly note?: string;
  /** Users whose edges it holds: requests for others are not put to it. */
  readonly users: number;
  /** A workload that is missing is not offered. The answer is in the contender's own form. */
  readonly run: Partial<Record<Workload, (request: GvbRequest) => unknown>>;
  /** Item numbers of an answer. */
  itemsOf(answer: unknown): number[];
  close(): Promise<unknown>;
}

const judgedMsMax = 4_000;

const rightAnswer: Record<Workload, (request: GvbRequest) => ArrayLike<number>> = {
  PointGet: ({ item }) => [item],
  OneHop: ({ oneHop }) => oneHop,
  OneHopFilter: ({ oneHopFilter }) => oneHopFilter,
  Vector: ({ nearest }) => nearest,
  VectorHopFilter: ({ nearestOfCountry }) => nearestOfCountry,
};

/**
 * Share of the right items that a contender finds, over `requests`, or as many of them as it answers
 * in some seconds. Graph workloads must be exact (1), searches may miss: that is recall. An item too
 * many counts as one missed.
 */
export async function recallOf(
  contender: GvbContender,
  workload: Workload,
  requests: readonly GvbRequest[],
): Promise<number> {
  let hits = 0;
  let wanted = 0;
  const end = performance.now() + judgedMsMax;
  for (const request of requests) {
    if (performance.now() > end) break;
    const right = new Set(Array.from(rightAnswer[workload](request)));
    const found = contender.itemsOf(await contender.run[workload]!(request));
    const good = found.filter((item) => right.delete(item)).length;
    hits += good;
    wanted += Math.max(good + right.size, found.length);
  }
  return wanted === 0 ? 1 : hits / wanted;
}
