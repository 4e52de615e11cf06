// Counts the costs of calls for /metrics: time, rows and visits per query, and waiting time per lane. Runs on
// the calling thread, and adds the reads that other threads have run themselves.
// Invariant: the counts of a query outlive reloads, and the threads that added to them.
import { Histogram } from '../../base/metric.js';
import type { Call, Cost } from '../call/call.js';
import type { DatabaseSample } from './definitions.js';
import type { ReadTotals, SharedQueryMetrics } from './shared-query-metrics.js';

class QueryTotals {
  readonly seconds = new Histogram();
  rows = 0;
  visits = 0;

  add({ micros, rows, visits }: Cost): void {
    this.seconds.observe(micros / 1e6);
    this.rows += rows;
    this.visits += visits;
  }

  addAll({ seconds, rows, visits }: ReadTotals): void {
    this.seconds.add(seconds);
    this.rows += rows;
    this.visits += visits;
  }
}

export class QueryMetrics {
  readonly #byName = new Map<string, QueryTotals>();
  /** By query index in the program. */
  #byIndex: QueryTotals[] = [];
  readonly #waits = { read: new Histogram(), write: new Histogram() };
  readonly #commitErrors = new Map<string, number>();
  /** Counts of threads that run reads themselves. */
  readonly #others = new Set<SharedQueryMetrics>();
  /** Number of reads of those threads that have stopped counting. */
  #otherReads = 0;
  cancelled = 0;

  /** Switches to the queries of a new program. */
  setQueries(names: readonly string[]): void {
    this.#byIndex = names.map((name) => {
      const known = this.#byName.get(name) ?? new QueryTotals();
      this.#byName.set(name, known);
      return known;
    });
  }

  /** Records a call of a query, or of a plan without a name (index -1). */
  recordCall(index: number, cost: Cost): void {
    this.#byIndex[index]?.add(cost);
  }

  /** From now on, includes the reads of another thread. */
  follow(other: SharedQueryMetrics): void {
    this.#others.add(other);
  }

  /** The other thread will add nothing more to these counts. */
  unfollow(other: SharedQueryMetrics): void {
    if (!this.#others.delete(other)) return;
    this.#otherReads += other.reads;
    addTo(this.#byName, other);
  }

  /** Number of reads that other threads ran themselves. */
  get readsOnThreads(): number {
    let sum = this.#otherReads;
    for (const other of this.#others) sum += other.reads;
    return sum;
  }

  /** Records a call that returned from a lane. */
  returned(index: number, call: Call, cost: Cost): void {
    this.recordCall(index, cost);
    call.onWork?.(cost);
    const since = performance.now() - (call.deadline - call.budgetMs);
    const lane = call.cost === 'W' ? 'write' : 'read';
    this.#waits[lane].observe(Math.max(0, since / 1000 - cost.micros / 1e6));
  }

  /** Counts a failed commit by its errno. */
  failedCommit(errno: string): void {
    this.#commitErrors.set(errno, (this.#commitErrors.get(errno) ?? 0) + 1);
  }

  metrics(): DatabaseSample[] {
    const list: DatabaseSample[] = [{ name: 'tasks_cancelled_total', value: this.cancelled }];
    for (const lane of ['read', 'write'] as const) {
      const labels = { lane, thread: lane === 'read' ? 'reader' : 'writer' };
      list.push(...this.#waits[lane].samples('queue_wait_seconds', labels));
    }
    for (const [errno, value] of this.#commitErrors) {
      list.push({ name: 'commit_errors_total', labels: { errno }, value });
    }
    for (const [query, { seconds, rows, visits }] of this.#sums()) {
      if (seconds.isEmpty) continue;
      const labels = { query };
      list.push(...seconds.samples('query_duration_seconds', labels));
      list.push({ name: 'query_rows_total', labels, value: rows });
      list.push({ name: 'query_visits_total', labels, value: visits });
    }
    return list;
  }

  /** Sums by query, over all threads. */
  #sums(): ReadonlyMap<string, QueryTotals> {
    if (this.#others.size === 0) return this.#byName;
    const sums = new Map<string, QueryTotals>();
    for (const [name, own] of this.#byName) {
      const sum = new QueryTotals();
      sum.addAll(own);
      sums.set(name, sum);
    }
    for (const other of this.#others) addTo(sums, other);
    return sums;
  }
}

function addTo(sums: Map<string, QueryTotals>, other: SharedQueryMetrics): void {
  for (const [name, totals] of other.totals()) {
    const sum = sums.get(name) ?? new QueryTotals();
    sums.set(name, sum);
    sum.addAll(totals);
  }
}
