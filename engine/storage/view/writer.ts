// The writer thread's side of the store: one durable transaction for a group of requests, each of which can
// be undone alone.
//
// Order of a group (operations.md 6.1): W5 transaction open · W6 the puts of every request · totals and state
// · commit (W7 to W9, inside LMDB).
// Invariant: after `commit` returns, all changes are on disk. If it throws, none are.
import { assert } from '../../base/assert.js';
import { TrellisError } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import { type ShardIndex, UuidGenerator } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { FullCatalog } from '../catalog/catalog.js';
import { UndoLog } from '../table/undo-log.js';
import { NoEdgesHint } from '../graph/no-edges-hint.js';
import type { Env } from '../table/env.js';
import { DeferredWork } from '../table/deferred-work.js';
import { LoadView } from './load-view.js';
import type { VectorChange, WriteView } from '../table/view-types.js';
import { StoreCounters } from './counters.js';
import { LmdbWriteView } from './write-view.js';
import { DeferredAdjacency } from './deferred-adjacency.js';
import type { VectorTypeOptions, WriteContext } from './write-context.js';
import { readTrimmed, writeTrimmed } from '../table/vector-log-trim.js';

export interface WriteGroup {
  /** Runs one request. If `work` throws, exactly its changes are undone and the error is rethrown. */
  request<T>(nowMs: number, work: (view: WriteView) => T): T;
}

export interface Loaded<T> {
  result: T;
  changes: VectorChange[];
}

export class Writer {
  readonly context: WriteContext;
  readonly deferredAdjacency: DeferredAdjacency;
  #trimmedSeq: number | undefined;

  constructor(
    env: Env,
    limits: Limits,
    vectorTypes: Readonly<Record<string, VectorTypeOptions>>,
    shard?: ShardIndex,
  ) {
    const totals = new StoreCounters(env);
    const { lastUuid } = totals.state;
    const last = lastUuid.some((byte) => byte !== 0) ? lastUuid : undefined;
    const uuids = new UuidGenerator(last, Math.random, shard);
    this.context = {
      env,
      log: new UndoLog(limits),
      totals,
      uuids,
      hints: new NoEdgesHint(totals.state.nextId),
      newValues: new Set(),
      limits,
      vectorTypes,
    };
    this.deferredAdjacency = new DeferredAdjacency(this.context, (work) => this.transact(work));
  }

  /**
   * Runs `work` in one transaction; returns the committed vector changes in sequence order. If deferred work
   * of all requests fails, `work` is run again without deferring. Then only those requests fail that touch
   * damaged data. `isSingle`: `work` makes one request, which is undone with its transaction.
   */
  commit(
    catalog: FullCatalog,
    work: (group: WriteGroup) => void,
    isSingle = false,
  ): VectorChange[] {
    const group = new DeferredWork(this.context.env);
    try {
      return this.#commit(catalog, work, isSingle, group);
    } catch (error) {
      if (!group.hasFailed) throw error;
      return this.#commit(catalog, work, isSingle);
    }
  }

  #commit(
    catalog: FullCatalog,
    work: (group: WriteGroup) => void,
    isSingle: boolean,
    group?: DeferredWork,
  ): VectorChange[] {
    const { env, totals } = this.context;
    const changes: VectorChange[] = [];
    let isDirty = false;
    // A failed undo leaves the transaction in an unknown state, so it must not be committed.
    let broken: { error: unknown } | undefined;
    let requests = 0;
    const request = <T>(nowMs: number, run: (view: WriteView) => T): T => {
      if (broken) throw broken.error;
      assert(!isSingle || requests++ === 0, 'a single request has its own transaction');
      const view = new LmdbWriteView(this.context, catalog, nowMs, group);
      view.unpublished = changes;
      this.#begin(!isSingle);
      group?.begin();
      try {
        const result = run(view);
        view.finish();
        failpoint('W6');
        isDirty ||= !this.context.log.isEmpty;
        for (const change of view.pending) changes.push(change);
        return result;
      } catch (error) {
        try {
          if (group?.hasFailed) throw error;
          this.#undo();
          group?.undo();
        } catch (undoError) {
          // After a page that could not be written, LMDB refuses the undo too. The first error explains the
          // failure.
          broken = { error: error instanceof TrellisError ? undoError : error };
        }
        throw error;
      }
    };
    try {
      env.transact(() => {
        failpoint('W5');
        work({ request });
        if (broken) throw broken.error;
        if (isDirty) {
          group?.finish();
          totals.store();
        }
        failpoint('beforeSyncDataPages');
        return isDirty;
      });
    } catch (error) {
      totals.reload();
      throw error;
    }
    failpoint('W9');
    return changes;
  }

  /**
   * Runs one durable transaction of a bulk load, undone as a whole. Returns the result of `work` and the
   * committed vector changes in sequence order. `isAlone`: adjacency lists may be deferred.
   */
  load<T>(
    catalog: FullCatalog,
    nowMs: number,
    work: (view: LoadView) => T,
    isAlone?: boolean,
  ): Loaded<T> {
    const view = new LoadView(this.context, catalog, nowMs, isAlone);
    let result: T | undefined;
    this.transact(() => {
      result = work(view);
      view.finish();
    });
    failpoint('W9');
    if (view.deferred) this.deferredAdjacency.take(view.deferred);
    return { result: result as T, changes: view.changes };
  }

  /**
   * Runs one separate transaction, undone as a whole, without the limits of requests. `keep: false` undoes it
   * in any case.
   */
  transact(work: () => void, { keep = true } = {}): void {
    const { env, log, totals } = this.context;
    log.begin({ keep: false, isLimited: false });
    totals.begin();
    try {
      env.transact(() => {
        work();
        totals.store();
        return keep;
      });
    } catch (error) {
      totals.reload();
      throw error;
    }
    if (!keep) totals.reload();
  }

  /** Sequence up to which entries of the vector log are deleted. */
  get trimmedSeq(): number {
    return (this.#trimmedSeq ??= readTrimmed(this.context.env.meta));
  }

  /**
   * Deletes entries of the vector log up to and including a sequence. Only files of this node change, so the
   * commit number stays and caches remain valid.
   */
  trimLog(upToSeq: number): void {
    const { env, totals } = this.context;
    const last = Math.min(upToSeq, totals.state.nextSeq - 1);
    const first = this.trimmedSeq + 1;
    if (last < first) return;
    env.transactLocally(() => {
      for (let seq = first; seq <= last; seq++) env.vlog.remove(seq);
      writeTrimmed(env.meta, last);
      return true;
    });
    this.#trimmedSeq = last;
  }

  /** Without `keep`, a failed request is not undone: the whole transaction is aborted. */
  #begin(keep: boolean): void {
    this.context.log.begin({ keep, isLimited: true });
    this.context.totals.begin();
  }

  #undo(): void {
    this.context.log.undo();
    this.context.totals.undo();
  }
}
