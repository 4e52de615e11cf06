// One request on its way through the database, and the queue of those that wait for a lane.
import type { TrellisError } from '../../base/errors.js';
import type { Argument, ExecutionResult, ItemList } from '../../exec/row/execute.js';
import type { CostClass, Plan } from '../../plan/plan.js';
import type { Once } from '../answer/once.js';
import { pack } from './pack.js';

/** What a call took: micros of work, rows printed, elements visited. */
export interface Cost {
  micros: number;
  rows: number;
  visits: number;
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
  /** See CallOptions. */
  onWork?: ((cost: Cost) => void) | undefined;
  resolve: (result: ExecutionResult) => void;
  reject: (error: TrellisError) => void;
}

/** A call that is on its way to a lane. */
export function callOf(
  plan: Plan,
  { query, body, embeddings, args, schema, items, once }: CallInput,
  { budgetMs, onWork, resolve, reject }: Pick<Call, 'budgetMs' | 'onWork' | 'resolve' | 'reject'>,
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
    onWork,
    resolve,
    reject,
  };
}

/** First in, first out, without the cost of Array.shift on long queues. */
export class CallQueue {
  #items: (Call | undefined)[] = [];
  #head = 0;
  /** Bytes of the bodies that wait. */
  bytes = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(call: Call): void {
    this.#items.push(call);
    this.bytes += call.body.length;
  }

  shift(): Call | undefined {
    if (this.#head === this.#items.length) return undefined;
    const call = this.#items[this.#head]!;
    this.#items[this.#head++] = undefined;
    this.bytes -= call.body.length;
    if (this.#head === this.#items.length || this.#head > 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return call;
  }

  /** Removes and returns everything that waits. */
  drain(): Call[] {
    const rest = this.#items.slice(this.#head) as Call[];
    this.#items = [];
    this.#head = 0;
    this.bytes = 0;
    return rest;
  }
}
