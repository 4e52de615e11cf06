// One request on its way through the database, as it waits for a lane and is there.
import { TrellisError } from '../../base/errors.js';
import { drops } from '../../plan/deletes.js';
import type { Argument, ExecutionResult, ItemList } from '../../exec/runtime/execute.js';
import type { CostClass, Plan } from '../../plan/plan.js';
import type { Once } from '../idempotency/idempotency-key.js';
import { pack } from './serialize-plan.js';

/** What a call took: micros of work, rows printed, elements visited. */
export interface Cost {
  micros: number;
  rows: number;
  visits: number;
  /** Micros of a write without its part in the commit, which it shares. */
  own?: number;
}

/** What a plan is run with. */
export interface CallInput {
  /** Index of the query in the program; -1: the plan itself travels. */
  query: number;
  /** Number of the schema that query or plan were made for. */
  schema: number;
  body: Uint8Array;
  args?: readonly Argument[];
  items?: ItemList;
  embeddings?: [string, Float64Array][];
  once?: Once;
}

export interface Call {
  /** As query-table.ts numbers them; -1: the packed plan is in `plan`. */
  query: number;
  body: Uint8Array;
  plan?: unknown;
  args?: unknown;
  /** Number of the schema that a packed plan was made for. */
  schema?: number;
  items?: ItemList;
  embeddings?: [string, Float64Array][];
  /** Of a write under a key. */
  once?: Once;
  cost: CostClass;
  /** Milliseconds of performance.now() on the main thread. */
  deadline: number;
  budgetMs: number;
  /** Gate slot while in flight, else -1. */
  slot: number;
  settled: boolean;
  /** Whatever tells callers apart; empty where nobody does. */
  caller: string;
  /** See fair-queue.ts. */
  account: unknown;
  charged: number;
  place: number;
  /** Of a write: whether it drops elements, and what the writer is going to need for it, in micros. */
  drops: boolean;
  expected: number;
  callerNumber: number;
  /** See CallOptions. */
  onWork?: ((cost: Cost) => void) | undefined;
  resolve: (result: ExecutionResult) => void;
  reject: (error: TrellisError) => void;
}

/** The name of a caller: what gives it to whoever needs it, where that is not for free. */
export type Whose = string | { readonly holder: string };

export const nameOf = (whose: Whose = ''): string =>
  typeof whose === 'string' ? whose : whose.holder;

/** A call that is on its way to a lane. */
export function callOf(
  plan: Plan,
  { query, body, embeddings, args, schema, items, once }: CallInput,
  {
    budgetMs,
    caller,
    onWork,
    resolve,
    reject,
  }: Pick<Call, 'budgetMs' | 'caller' | 'onWork' | 'resolve' | 'reject'>,
): Call {
  const isNamed = query >= 0;
  // All members at once and in one order: spread together, they took as long as all else of a call.
  return {
    query,
    body,
    plan: isNamed ? undefined : pack(plan),
    args: isNamed ? undefined : pack(args),
    schema: isNamed ? undefined : schema,
    items: isNamed ? undefined : items,
    embeddings,
    once,
    cost: plan.writes ? 'W' : plan.cost,
    deadline: performance.now() + budgetMs,
    budgetMs,
    slot: -1,
    settled: false,
    caller,
    account: undefined,
    charged: 0,
    place: 0,
    drops: plan.writes && drops(plan),
    expected: 0,
    callerNumber: 0,
    onWork,
    resolve,
    reject,
  };
}

/** Its time is over, and nothing of it was done. */
export function timeOut(call: Call): void {
  call.settled = true;
  call.reject(new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms: call.budgetMs } }));
}
