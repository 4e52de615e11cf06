// Runs reads on the calling thread: inline-policy.ts decides which, and a read that turns out to be long is
// moved to a lane.
// Invariant: when lanes exist, no read holds this thread for much longer than `inlineMsMax`, whatever its
// plan promised. It is dropped without side effects and starts again in a lane.
import { wallMs } from '../../base/clock.js';
import type { ExecutionResult } from '../../exec/runtime/execute.js';
import type { Plan } from '../../plan/plan.js';
import type { RefreshableView } from '../../storage/open-storage.js';
import { InlinePolicy, type LaneState } from './inline-policy.js';
import { DeferredReads } from '../call/deferred-reads.js';
import { InlineTurns } from '../call/inline-turns.js';
import type { CallInput, Cost } from '../call/call.js';
import type { CallOptions } from '../call/options.js';
import { indexOf } from '../call/query-table.js';
import { type ExecutorServices, run } from '../call/run-request.js';

/** Milliseconds. Checked about every thousand steps of a plan. */
const inlineMsMax = 2;

export class InlineReads {
  /** Number of reads begun here. */
  count = 0;
  readonly costs: InlinePolicy;
  readonly turns: InlineTurns;
  readonly deferred: DeferredReads;
  readonly #msMax: number;

  /** `workers` is the maximum number of lanes. */
  constructor(
    lanes: LaneState,
    private readonly workers: number,
    private readonly services: ExecutorServices,
    private readonly queryMetrics: { recordCall(index: number, cost: Cost): void },
  ) {
    this.costs = new InlinePolicy(lanes, workers);
    this.turns = new InlineTurns(() => this.costs.arm());
    this.deferred = new DeferredReads(() => this.costs.arm());
    this.costs.onTurn = () => {
      this.turns.begin();
      this.deferred.runSome();
    };
    this.#msMax = workers === 0 ? Number.POSITIVE_INFINITY : inlineMsMax;
  }

  allows(query: number, plan: Plan, bytes: number): boolean {
    return this.workers === 0 || this.costs.mayInline(indexOf(query), plan.cost, bytes);
  }

  /** Returns true if the read may wait for a later turn of this thread instead of going to a lane. */
  mayDefer(query: number, plan: Plan, bytes: number): boolean {
    return !this.deferred.isFull && this.costs.mayDefer(indexOf(query), plan.cost, bytes);
  }

  /** Returns the reply, or undefined when the read must run in a lane. */
  run(
    view: RefreshableView,
    plan: Plan,
    input: CallInput,
    budgetMs: number,
    options: CallOptions,
  ): ExecutionResult | undefined {
    const started = performance.now();
    let isLong = false;
    this.count++;
    const request = {
      plan,
      args: input.args!,
      items: input.items,
      embeddings: input.embeddings && new Map(input.embeddings),
      nowMicros: wallMs() * 1000,
      deadline: started + budgetMs,
      budgetMs,
      isCancelled: () => (isLong = performance.now() - started > this.#msMax),
    };
    let result: ExecutionResult | undefined;
    try {
      result = run(request, view, this.services);
    } catch (error) {
      if (!isLong) throw error;
    } finally {
      const index = indexOf(input.query);
      const micros = (performance.now() - started) * 1000;
      this.costs.spend(index, micros, isLong);
      this.turns.spend(options.caller, micros);
      if (!isLong) {
        const cost = { micros, rows: result?.rows ?? 0, visits: result?.visits ?? 0 };
        this.queryMetrics.recordCall(index, cost);
        options.onWork?.(cost);
      }
    }
    return result;
  }
}
