// One group of writes from transaction to visibility: one durable commit for all of them, each undone
// alone when it fails, then the publication of what was committed.
//
// Invariant: every request of a group has one outcome, and it is the truth: what is committed is never
// said to have failed, what failed has changed nothing.
import { wallMs } from '../../base/clock.js';
import { TrellisError, fail } from '../../base/errors.js';
import { shortageOf } from '../../base/os/shortage.js';
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
  /** Micros that it is likely to take. */
  expected: number;
  /** Tells callers apart: the calls of one keep their order. */
  caller: number;
  /** Others went before it, once. */
  hasYielded?: boolean;
  extra?: RequestExtra;
}

export type Outcome = ({ ok: true; result: ExecutionResult } | { ok: false; error: unknown }) & {
  /** What the request took by itself. */
  micros?: number;
};

export interface CommitParts {
  storage: Storage;
  permit: WriteFence;
  figures: WriterMetrics;
  gate: ControlBlock;
  queries: QueryTable;
  equipment: ExecutorServices;
  vectors: VectorStore;
  loads: LoadWriter;
  /** Of a database in a cluster. */
  link: LogClient | undefined;
}

export class GroupCommit {
  /** Why there is no room for what adds data, and for what only deletes, while the present group runs. */
  #shortage: TrellisError | undefined;
  #shortageOfDeletes: TrellisError | undefined;

  constructor(private readonly parts: CommitParts) {}

  /**
   * Outcomes of the first of the group, or of all: behind a long write it ends.
   *
   * Where the disk turns out to be full, what only deletes is tried again without the others: it may find pages in
   * the file itself. Damage that no request can be blamed for, as of a page of a tree, fails the whole transaction:
   * then halves of the group are tried alone, down to the requests that meet it.
   */
  run(group: QueuedWrite[]): Outcome[] {
    const { link } = this.parts;
    if (this.parts.permit.closedBecause !== undefined) return this.#refuse(group);
    if (link?.isLeading === false) return failAll(group, link.refusal);
    let commit: { outcomes: Outcome[]; changes: VectorChange[] };
    const { room } = this.parts.storage.env;
    this.#shortage = room.shortage(group.reduce((sum, { body }) => sum + body.length, 0));
    this.#shortageOfDeletes = this.#shortage && room.shortageOfDeletes();
    try {
      commit = this.#commit(group);
    } catch (error) {
      if (isRefusal(error)) return failAll(group, error);
      if (isShortage(error) && this.parts.permit.closedBecause === undefined)
        return this.#runDeletes(group, error);
      // It failed before its commit point, for want of what the next one may find.
      const isWhole = this.parts.permit.closedBecause === undefined;
      if (isWhole && shortageOf(error) !== undefined) return failAll(group, error);
      if (!isOfSome(error)) {
        this.parts.permit.failed(error);
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
      // The writes are done: nobody may hear that they are not. But no search would see further ones.
      this.parts.permit.failed(error);
    }
    this.parts.gate.publishCommit();
    link?.publish();
    return commit.outcomes;
  }

  /** W5 to W9 of operations.md 6.1. */
  #commit(group: QueuedWrite[]): { outcomes: Outcome[]; changes: VectorChange[] } {
    let outcomes: Outcome[] = [];
    const figures = this.parts.figures;
    const { puts } = this.parts.storage;
    const nowMs = wallMs();
    const started = performance.now();
    let worked = started;
    const changes = this.parts.storage.commitGroup((transaction) => {
      outcomes = [];
      this.parts.vectors.beginReserving();
      figures.during(() => {
        const from = performance.now();
        let before = from;
        for (const waiting of group) {
          const outcome = this.#runOne(waiting, nowMs, transaction);
          const after = performance.now();
          outcome.micros = (after - before) * 1000;
          before = after;
          outcomes.push(outcome);
          // Who is behind a long write would be answered after their own work, too: that is another group.
          if ((after - from) * 1000 >= longMicros) break;
        }
      });
      worked = performance.now();
    });
    const done = performance.now();
    figures.committed(
      done - started,
      done - worked,
      outcomes.length,
      this.parts.storage.puts - puts,
    );
    return { outcomes, changes };
  }

  /** W10 and W11: what is committed becomes visible. */
  #publish(changes: VectorChange[]): void {
    const figures = this.parts.figures;
    failpoint('W10');
    this.parts.loads.invalidateNames();
    figures.during(() => this.parts.vectors.publish(changes));
    figures.set('applied_seq', this.parts.storage.committedSeq());
    failpoint('W11');
  }

  #runOne(waiting: QueuedWrite, nowMs: number, transaction: WriteGroup): Outcome {
    const once = waiting.extra?.once;
    const { limits } = this.parts.equipment;
    try {
      // Whoever asked has heard that nothing of it was done.
      if (!this.parts.gate.begin(waiting.slot)) fail('QUERY_TIMEOUT', { ms: waiting.budgetMs });
      if (this.#shortage !== undefined) this.#checkRoom(waiting);
      const result = transaction.request(nowMs, (view) => {
        const now = { ms: nowMs, limits };
        if (once?.claim !== undefined) return reserveKey(view, once, waiting.body, now);
        const work = () => this.#execute(waiting, nowMs, view);
        const answer = once ? runIdempotent(view, once, waiting.body, now, work) : work();
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
    // It was made for data that are no more: whoever asked may ask the present program.
    if (schema !== this.parts.gate.schema()) fail('SCHEMA_CHANGED');
    const plan = entry ? entry.plan : unpack<NonNullable<typeof entry>['plan']>(extra!.plan);
    const args = entry
      ? decodeCall(entry, waiting.body, this.parts.equipment)
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
        isCancelled: () => this.parts.gate.isCancelled(slot),
      },
      view,
      this.parts.equipment,
    );
  }

  /** Of a group that found no room. */
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
    if (extra?.once !== undefined) return false;
    const plan = query < 0 ? unpack<Plan>(extra!.plan) : this.parts.queries.at(query)?.plan;
    return plan !== undefined && onlyDeletes(plan);
  }

  #refuse(group: QueuedWrite[]): Outcome[] {
    return failAll(group, this.parts.permit.refusal);
  }
}

const failAll = (group: readonly QueuedWrite[], error: unknown): Outcome[] =>
  group.map(() => ({ ok: false, error }));

const isShortage = (error: unknown): error is TrellisError =>
  error instanceof TrellisError && error.code === 'INSUFFICIENT_STORAGE';

/** Whether part of a group may do where all of it did not: of damage, and of an entry beyond its size. */
const isOfSome = (error: unknown): boolean =>
  error instanceof TrellisError && ['DATA_CORRUPT', 'TXN_TOO_LARGE'].includes(error.code);

/** A write that does next to nothing has its part in the commit all the same. */
const leastMicros = 20;

/** What each request of a group took: of what they took together, the more the more it did itself. */
export function workOf(outcomes: readonly Outcome[], micros: number): number[] {
  const parts = outcomes.map((outcome) => (outcome.micros ?? 0) + leastMicros);
  const all = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => (part * micros) / all);
}
