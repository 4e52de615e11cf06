// The executor as others see it: a plan, its arguments, and what it may touch.
import type { Limits } from '../../base/limits.js';
import type { Instant, Uuid } from '../../base/value.js';
import type { Argument } from '../../json/decoded-argument.js';
import type { Plan } from '../../plan/plan.js';
import type { ReadView, WriteView } from '../../storage/table/view-types.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { VectorIndex } from '../../vector/index.js';

/**
 * Items of a session's traversal: parallel arrays. `scores` holds pairs (score, distance), NaN = none;
 * `hops` -1 = none; absent: no item has any. Backed by SharedArrayBuffer, so that handing them to a
 * worker copies nothing.
 */
export interface ItemList {
  ids: Uint32Array;
  scores?: Float64Array;
  hops?: Int32Array;
}

/** Everything an execution may look at. `now` and the deadline are given. */
export interface ExecutionContext {
  view: ReadView | WriteView;
  vectors: (label: number) => VectorIndex | undefined;
  text: TextIndex | undefined;
  now: Instant;
  limits: Limits;
  /** Polled every 1,024 steps: true = stop with QUERY_TIMEOUT. */
  cancelled: () => boolean;
  /** Milliseconds the deadline allowed, for the error message. */
  budgetMs: number;
  /** By `embeddingKey`. */
  embeddings: ReadonlyMap<string, Float64Array>;
  items?: ItemList;
  /** Milliseconds, for profiles. */
  clock?: () => number;
}

export interface ExecutionResult {
  /** The reply body, complete JSON. */
  body: Uint8Array;
  /** Plans with `items` output: the new traversal. */
  items?: ItemList;
  /** Items printed and elements visited, for those who count. */
  rows?: number;
  visits?: number;
}

export type Execute = (
  plan: Plan,
  args: readonly Argument[],
  context: ExecutionContext,
) => ExecutionResult;
export type CollectTexts = (plan: Plan, args: readonly Argument[]) => string[];
export type { Argument, Uuid };

/** By the vector type, which may have a model of its own, and the text. No name of a type has the byte between. */
export const embeddingKey = (type: string | undefined, text: string): string =>
  `${type ?? ''}\0${text}`;
