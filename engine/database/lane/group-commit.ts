// Commits one group of writes, from the transaction to visibility: one durable commit for all of them. A
// write that fails is undone alone. Then the commit is published.
//
// Invariant: every request of a group has one outcome, and the outcome is true. A committed request is never
// reported as failed, and a failed request has changed nothing.
import { wallMs } from '../../base/clock.js';
import { TrellisError, fail } from '../../base/errors.js';
import { findShortage } from '../../base/os/shortage.js';
import { failpoint } from '../../base/failpoint.js';
import type { ExecutionResult } from '../../exec/runtime/execute.js';
import { type LogClient, isRefusal } from '../../cluster/ipc/log-client.js';
import { onlyDeletes } from '../../plan/deletes.js';
import type { Plan } from '../../plan/plan.js';
import type { Storage } from '../../storage/open-storage.js';
import type { WriteFence } from '../../storage/lock/write-fence.js';
import type { VectorChange, WriteView } from '../../storage/table/view-types.js';
import type { WriteGroup } from '../../storage/view/writer.js';
import { runIdempotent, reserveKey } from '../idempotency/idempotent-write.js';
import type { RequestExtra } from './message-batch.js';
import type { WriterMetrics } from '../metrics/writer-metrics.js';
import type { ControlBlock } from '../call/control-block.js';
import { longMicros } from './long-writes.js';
import type { LoadWriter } from '../load/load-writer.js';
import { unpack } from '../call/serialize-plan.js';
import type { QueryTable } from '../call/query-table.js';
import { type ExecutorServices, decodeCall, run } from '../call/run-request.js';
import type { VectorStore } from '../vectors/vector-store.js';

/** A write that waits for its group. */
export interface QueuedWrite {
  slot: number;
  query: number;
  body: Uint8Array;
  deadline: number;
  budgetMs: number;
  /** Expected microseconds on the writer thread. */
  expected: number;
  /** Number of the caller. The calls of one caller keep their order. */
  caller: number;
  /** True if the write has let others pass once. */
  hasYielded?: boolean;
  extra?: RequestExtra;
}

export type Outcome = ({ ok: true; result: ExecutionResult } | { ok: false; error: unknown }) & {
  /** Microseconds that the request took, without the commit. */
  micros?: number;
};

export interface CommitParts {
  storage: Storage;
  fence: WriteFence;
  writerMetrics: WriterMetrics;
  control: ControlBlock;
  queries: QueryTable;
  services: ExecutorServices;
  vectors: VectorStore;
  loads: LoadWriter;
  /** Set for a database in a cluster. */
  log: LogClient | undefined;
}

export class GroupCommit {
  /**
   * Errors for lack of space while the current group runs: for writes that add data, and for writes that only
   * delete.
   */
  #shortage: TrellisError | undefined;
  #shortageOfDeletes: TrellisError | undefined;

  constructor(private readonly parts: CommitParts) {}

  /**
   * Runs a group and returns the outcomes of its first requests, or of all of them: a long write ends the
   * group.
   *
   */
  run(group: QueuedWrite[]): Outcome[] {
    const { log } = this.parts;
    if (this.parts.fence.closedBecause !== undefined) return this.#refuse(group);
    if (log?.isLeading === false) return failAll(group, log.refusal);
    let commit: { outcomes: Outcome[]; changes: VectorChange[] };
    const { room } = this.parts.storage.env;
    this.#shortage = room.shortage(group.reduce((sum, { body }) => sum + body.length, 0));
    this.#shortageOfDeletes = this.#shortage && room.shortageOfDeletes();
    try {
      commit = this.#commit(group);
    } catch (error) {
      if (isRefusal(error)) return failAll(group, error);
      if (isShortage(error) && this.parts.fence.closedBecause === undefined)
        return this.#runDeletes(group, error);
      // The commit failed before its commit point, for lack of a resource that the next commit may get.
      const isOpen = this.parts.fence.closedBecause === undefined;
      if (isOpen && findShortage(error) !== undefined) return failAll(group, error);
      if (!isOfSome(error)) {
        this.parts.fence.failed(error);
        return this.#refuse(group);
      }
      if (group.length === 1) return [{ ok: false, error }];
      const half = group.length >> 1;
      const first = this.run(group.slice(0, half));
      return first.length < half ? first : [...first, ...this.run(group.slice(half))];
    }
    try {
      this.#publish(commit.changes);
    } catch (error) {
      // The writes are durable, so they must not be reported as failed. But searches would not see later
      // writes, so no more are accepted.
      this.parts.fence.failed(error);
    }
    this.parts.control.publishCommit();
    log?.publish();
    return commit.outcomes;
  }

  /** Executes the group and commits it durably. */
  #commit(group: QueuedWrite[]): { outcomes: Outcome[]; changes: VectorChange[] } {
    let outcomes: Outcome[] = [];
    const writerMetrics = this.parts.writerMetrics;
    const { puts } = this.parts.storage;
    const nowMs = wallMs();
    const started = performance.now();
    let worked = started;
    const changes = this.parts.storage.commitGroup((transaction) => {
      outcomes = [];
      this.parts.vectors.beginReserving();
      writerMetrics.during(() => {
        const from = performance.now();
        let before = from;
        for (const waiting of group) {
          const outcome = this.#runOne(waiting, nowMs, transaction);
          const after = performance.now();
          outcome.micros = (after - before) * 1000;
          before = after;
          outcomes.push(outcome);
          // Requests after a long write would wait for it after their own work. They form another group.
          if ((after - from) * 1000 >= longMicros) break;
        }
      });
      worked = performance.now();
    }, group.length === 1);
    const done = performance.now();
    writerMetrics.committed(
      done - started,
      done - worked,
      outcomes.length,
      this.parts.storage.puts - puts,
    );
    return { outcomes, changes };
  }

  /** Makes the committed changes visible. */
  #publish(changes: VectorChange[]): void {
    const writerMetrics = this.parts.writerMetrics;
    failpoint('W10');
    this.parts.loads.invalidateNames();
    writerMetrics.during(() => this.parts.vectors.publish(changes));
    writerMetrics.set('applied_seq', this.parts.storage.committedSeq());
    failpoint('W11');
  }

  #runOne(waiting: QueuedWrite, nowMs: number, transaction: WriteGroup): Outcome {
    const idempotency = waiting.extra?.idempotency;
    const { limits } = this.parts.services;
    try {
      // The caller already has the error QUERY_TIMEOUT, so the write must not run.
      if (!this.parts.control.begin(waiting.slot)) fail('QUERY_TIMEOUT', { ms: waiting.budgetMs });
      if (this.#shortage !== undefined) this.#checkRoom(waiting);
      const result = transaction.request(nowMs, (view) => {
        const now = { ms: nowMs, limits };
        if (idempotency?.claim !== undefined)
          return reserveKey(view, idempotency, waiting.body, now);
        const work = () => this.#execute(waiting, nowMs, view);
        const answer = idempotency
          ? runIdempotent(view, idempotency, waiting.body, now, work)
          : work();
        this.parts.vectors.reserve(view.pending);
        return answer;
      });
      return { ok: true, result };
    } catch (error) {
      return { ok: false, error };
    }
  }

  #execute(waiting: QueuedWrite, nowMs: number, view: WriteView): ExecutionResult {
    const { extra, slot } = waiting;
    const entry = waiting.query < 0 ? undefined : this.parts.queries.at(waiting.query);
    const schema = entry ? this.parts.queries.schemaOf(waiting.query) : extra!.schema;
    // The plan was made for an earlier schema. The caller may repeat the call with the current program.
    if (schema !== this.parts.control.schema()) fail('SCHEMA_CHANGED');
    const plan = entry ? entry.plan : unpack<NonNullable<typeof entry>['plan']>(extra!.plan);
    const args = entry
      ? decodeCall(entry, waiting.body, this.parts.services)
      : unpack<ReturnType<typeof decodeCall>>(extra!.args);
    return run(
      {
        plan,
        args,
        items: extra?.items,
        embeddings: extra?.embeddings && new Map(extra.embeddings),
        nowMicros: nowMs * 1000,
        deadline: waiting.deadline,
        budgetMs: waiting.budgetMs,
        isCancelled: () => this.parts.control.isCancelled(slot),
      },
      view,
      this.parts.services,
    );
  }

  /** Runs the requests of a group for which the disk had no space. */
  #runDeletes(group: QueuedWrite[], error: TrellisError): Outcome[] {
    const deletes = group.filter((waiting) => this.#onlyDeletes(waiting));
    if (deletes.length === 0) return failAll(group, error);
    if (deletes.length === group.length) {
      this.parts.storage.env.room.denyDeletes();
      return failAll(group, error);
    }
    const done = new Map<QueuedWrite, Outcome>();
    while (done.size < deletes.length) {
      const rest = deletes.slice(done.size);
      for (const [at, outcome] of this.run(rest).entries()) done.set(rest[at]!, outcome);
    }
    return group.map((waiting) => done.get(waiting) ?? { ok: false, error });
  }

  #checkRoom(waiting: QueuedWrite): void {
    const shortage = this.#onlyDeletes(waiting) ? this.#shortageOfDeletes : this.#shortage;
    if (shortage !== undefined) throw shortage;
  }

  #onlyDeletes({ extra, query }: QueuedWrite): boolean {
    if (extra?.idempotency !== undefined) return false;
    const plan = query < 0 ? unpack<Plan>(extra!.plan) : this.parts.queries.at(query)?.plan;
    return plan !== undefined && onlyDeletes(plan);
  }

  #refuse(group: QueuedWrite[]): Outcome[] {
    return failAll(group, this.parts.fence.refusal);
  }
}

const failAll = (group: readonly QueuedWrite[], error: unknown): Outcome[] =>
  group.map(() => ({ ok: false, error }));

const isShortage = (error: unknown): error is TrellisError =>
  error instanceof TrellisError && error.code === 'INSUFFICIENT_STORAGE';

/** Returns true for errors that a smaller group may avoid: DATA_CORRUPT and TXN_TOO_LARGE. */
const isOfSome = (error: unknown): boolean =>
  error instanceof TrellisError && ['DATA_CORRUPT', 'TXN_TOO_LARGE'].includes(error.code);

/** Minimum microseconds per write, so that every write gets a share of the commit. */
const minMicros = 20;

/** Distributes the time of a group over its requests, in proportion to their own time. */
export function workOf(outcomes: readonly Outcome[], micros: number): number[] {
  const parts = outcomes.map((outcome) => (outcome.micros ?? 0) + minMicros);
  const all = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => (part * micros) / all);
}
