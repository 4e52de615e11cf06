// What may vary about a vector index, as axes of a grid.
import type { Layout, Metric } from '../../engine/vector/index.js';

/** Distance within a cluster over distance between clusters; at 10 there are none to be seen. */
const spreads = [10, 1, 0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001] as const;

/** How long vectors are, in the order in which they are put. */
const norms = [
  'equal',
  'lognormal.3',
  'lognormal1',
  'two',
  'growing',
  'zeros',
  'tiny',
  'huge',
  'mixed',
] as const;

/** `elsewhere`: all but the cluster that the query lies in. */
export const filters = ['none', 'tenth', 'hundredth', 'cluster', 'elsewhere'] as const;

/** How the index came to hold its vectors. */
const histories = ['bulk', 'single', 'halved', 'restarted'] as const;

export type Norms = (typeof norms)[number];
export type FilterKind = (typeof filters)[number];
type History = (typeof histories)[number];

/**
 * One index that is built; it is searched under every filter of the selection. `stored`: with codes of 4
 * bits only, of vectors that are in the store.
 */
export interface Cell {
  metric: Metric;
  spread: number;
  norms: Norms;
  dimension: number;
  layout: Layout | 'stored';
  history: History;
}

export type Selection = { [Axis in keyof Cell]: readonly Cell[Axis][] };

export const wholeGrid: Selection = {
  metric: ['cosine', 'l2', 'dot'],
  spread: spreads,
  norms,
  dimension: [3, 64, 128, 384, 768, 1536],
  layout: ['fast', 'compact', 'stored', 'flat'],
  history: histories,
};
