// Defines the interface of the executor: a plan, its arguments, and what it may use.
import type { Limits } from '../../base/limits.js';
import type { Instant, Uuid } from '../../base/value.js';
import type { Argument } from '../../json/decoded-argument.js';
import type { Plan } from '../../plan/plan.js';
import type { ReadView, WriteView } from '../../storage/table/view-types.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { VectorIndex } from '../../vector/index.js';

/**
 * Items of a session's traversal, as parallel arrays. `scores` holds pairs (score, distance), NaN = none.
 * `hops` -1 = none; absent: no item has any. The arrays use shared memory, so that passing them to a worker
 * copies nothing.
 */
export interface ItemList {
  ids: Uint32Array;
  scores?: Float64Array;
  hops?: Int32Array;
}

/** Everything that an execution may use, including the current time and the deadline. */
export interface ExecutionContext {
  view: ReadView | WriteView;
  vectors: (label: number) => VectorIndex | undefined;
  text: TextIndex | undefined;
  now: Instant;
  limits: Limits;
  /** Called every 1,024 steps. If it returns true, the execution fails QUERY_TIMEOUT. */
  cancelled: () => boolean;
  /** Time limit in milliseconds, for the error message. */
  budgetMs: number;
  /** Embeddings by `embeddingKey`. */
  embeddings: ReadonlyMap<string, Float64Array>;
  items?: ItemList;
  /** Returns milliseconds, for profiles. */
  clock?: () => number;
}

export interface ExecutionResult {
  /** The reply body, complete JSON. */
  body: Uint8Array;
  /** The new traversal, for plans with `items` output. */
  items?: ItemList;
  /** Number of items printed and of elements visited. */
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

/**
 * Key of the vector type, which may have its own model, of the text, and of whether its vector is searched
 * for. No type name contains the zero byte between them.
 */
export const embeddingKey = (type: string | undefined, text: string, isQuery = false): string =>
  `${type ?? ''}\0${isQuery ? '?' : ''}\0${text}`;
