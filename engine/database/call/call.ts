// Defines a call on its way through the database: while it waits for a lane, and while it runs there.
import { TrellisError } from '../../base/errors.js';
import { drops } from '../../plan/deletes.js';
import type { Argument, ExecutionResult, ItemList } from '../../exec/runtime/execute.js';
import type { CostClass, Plan } from '../../plan/plan.js';
import type { IdempotencyKey } from '../idempotency/idempotency-key.js';
import { pack } from './serialize-plan.js';

/** Cost of a call: microseconds of work, rows printed, elements visited. */
export interface Cost {
  micros: number;
  rows: number;
  visits: number;
  /** Writes only: microseconds without its share of the commit. */
  own?: number;
}

/** Input of a plan. */
export interface CallInput {
  /** Index of the query in the program; -1 when the plan itself is sent. */
  query: number;
  /** Schema version for which the query or plan was compiled. */
  schema: number;
  body: Uint8Array;
  args?: readonly Argument[];
  items?: ItemList;
  embeddings?: [string, Float64Array][];
  idempotency?: IdempotencyKey;
}

export interface Call {
  /** Number of the query as in query-table.ts; -1 when `plan` has the packed plan. */
  query: number;
  body: Uint8Array;
  plan?: unknown;
  args?: unknown;
  /** Schema version for which a packed plan was compiled. */
  schema?: number;
  items?: ItemList;
  embeddings?: [string, Float64Array][];
  /** Set for a write with an idempotency key. */
  idempotency?: IdempotencyKey;
  cost: CostClass;
  /** On the clock performance.now() of the main thread, in milliseconds. */
  deadline: number;
  budgetMs: number;
  /** Slot in the control block while in flight, otherwise -1. */
  slot: number;
  settled: boolean;
  /** Identity of the caller; empty when callers are not distinguished. */
  caller: string;
  /** See fair-queue.ts. */
  account: unknown;
  charged: number;
  arrival: number;
  /**
   * Writes only: true if the query drops elements; and the expected time on the writer thread, in
   * microseconds.
   */
  drops: boolean;
  expected: number;
  callerNumber: number;
  /** See CallOptions. */
  onWork?: ((cost: Cost) => void) | undefined;
  resolve: (result: ExecutionResult) => void;
  reject: (error: TrellisError) => void;
}

/** Name of a caller, or an object that computes the name on demand when that is expensive. */
export type Whose = string | { readonly holder: string };

export const nameOf = (whose: Whose = ''): string =>
  typeof whose === 'string' ? whose : whose.holder;

/** Creates a call for a lane. */
export function callOf(
  plan: Plan,
  { query, body, embeddings, args, schema, items, idempotency }: CallInput,
  {
    budgetMs,
    caller,
    onWork,
    resolve,
    reject,
  }: Pick<Call, 'budgetMs' | 'caller' | 'onWork' | 'resolve' | 'reject'>,
): Call {
  const isNamed = query >= 0;
  // One literal with a fixed member order. Object spreads took as long as the rest of the call.
  return {
    query,
    body,
    plan: isNamed ? undefined : pack(plan),
    args: isNamed ? undefined : pack(args),
    schema: isNamed ? undefined : schema,
    items: isNamed ? undefined : items,
    embeddings,
    idempotency,
    cost: plan.writes ? 'W' : plan.cost,
    deadline: performance.now() + budgetMs,
    budgetMs,
    slot: -1,
    settled: false,
    caller,
    account: undefined,
    charged: 0,
    arrival: 0,
    drops: plan.writes && drops(plan),
    expected: 0,
    callerNumber: 0,
    onWork,
    resolve,
    reject,
  };
}

/** Fails a call that has exceeded its time before any of it was done. */
export function timeOut(call: Call): void {
  call.settled = true;
  call.reject(new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms: call.budgetMs } }));
}
