// The thread side of the writer lane: the only thread that changes LMDB. It commits all waiting writes in one
// durable transaction (group commit), publishes the vectors, increments commitSeq, and only then replies.
// Nothing may terminate it.
//
// Invariant: a reply means that the write is synced to disk and visible to every later read, including
// vectors and keywords.
import { join } from 'node:path';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { sharedOriginMs, wallMs } from '../../base/clock.js';
import { unreachable } from '../../base/assert.js';
import { type ErrorData, toErrorData, errorMessage } from '../../base/errors.js';
import { armFailpoint, failpoint } from '../../base/failpoint.js';
import { LogClient, loadTimeoutMs } from '../../cluster/ipc/log-client.js';
import { asDiskError } from '../../storage/lock/disk-error.js';
import { fileIdentity } from '../../storage/lock/file-identity.js';
import type { Declarations } from '../../storage/schema/apply-schema.js';
import { type SchemaPreview, type Storage, openStorage } from '../../storage/open-storage.js';
import type { VectorChange } from '../../storage/table/view-types.js';
import { WriteFence } from '../../storage/lock/write-fence.js';
import { createTextIndex } from '../../text/text-index.js';
import type { TextIndex } from '../../text/text-index-types.js';
import { WriterMetrics } from '../metrics/writer-metrics.js';
import { ControlBlock } from '../call/control-block.js';
import {
  type Batch,
  type RequestExtra,
  isBatch,
  openBatch,
  requestWords,
} from './message-batch.js';
import { CommitDelay, notRun, takeGroup } from './commit-delay.js';
import { transactionHold } from './safe-exit.js';
import { GroupCommit, type QueuedWrite, workOf } from './group-commit.js';
import { IdleMaintenance } from '../maintenance/idle-maintenance.js';
import { LoadWriter } from '../load/load-writer.js';
import { runReembed } from '../reembed/reembed-writer.js';
import type { FromWriter, LaneError, ToWriter, WriterSetup } from './message.js';
import { unpack } from '../call/serialize-plan.js';
import { headOf, PackedQueries } from '../call/serialized-program.js';
import { ReplyBatch } from './reply-batch.js';
import { watchDiskSpace } from './disk-space-retry.js';
import { QueryTable } from '../call/query-table.js';
import { changeSchema, fitSchema, openSchema } from '../schema/migrate-store.js';
import { LogFollower } from '../replication/log-follower.js';
import { asSchemaEntry } from '../replication/schema-entry.js';
import { appendTableHashes } from '../replication/table-check.js';
import type { ExecutorServices } from '../call/run-request.js';
import { type VectorStore, openVectorStore } from '../vectors/vector-store.js';

/** Milliseconds between two heartbeats of the writer. */
const beatMs = 500;

/** Resolves when the lane has closed: with undefined, or with the fault that kept it from opening. */
export function serveWrites(setup: WriterSetup): Promise<LaneError | undefined> {
  return new Promise((resolve) => {
    try {
      armFailpoint(setup.failpoint);
      new WriterLane(setup, () => resolve(undefined));
    } catch (error) {
      setup.port.close();
      const target = { path: setup.graphPath, name: 'the data directory', bytes: 2 ** 20 };
      resolve(toErrorData(asDiskError(error, target)));
    }
  });
}

class WriterLane {
  readonly #port: MessagePort;
  readonly #control: ControlBlock;
  readonly #writerMetrics: WriterMetrics;
  readonly #storage: Storage;
  readonly #services: ExecutorServices;
  readonly #queries = new QueryTable();
  readonly #vectors: VectorStore;
  readonly #loads: LoadWriter;
  readonly #replies: ReplyBatch;
  readonly #commits: GroupCommit;
  #waiting: QueuedWrite[] = [];
  /** Commands that arrived while a group was drained, with the messages after them. */
  #waitingCommands: ToWriter[] = [];
  readonly #commitDelay: CommitDelay | undefined;
  #scheduled = false;
  #isReleased = false;
  readonly #logClient: LogClient | undefined;
  #follower: LogFollower | undefined;
  readonly #fence: WriteFence;
  readonly #maintenance = new IdleMaintenance({
    isStopped: () => this.#mayNotWrite,
    maintainVectors: (ms) => this.#vectors.maintain(ms),
    repack: (isBusy) => this.#storage.repack(isBusy),
  });
  #lastSnapshotAt = performance.now();

  constructor(
    private readonly setup: WriterSetup,
    private readonly onClosed: () => void,
  ) {
    this.#port = setup.port;
    this.#control = new ControlBlock(setup.control);
    this.#writerMetrics = new WriterMetrics(setup.writerMetrics);
    this.#replies = new ReplyBatch(setup.port);
    this.#fence = new WriteFence(
      setup.lock,
      (reason, cause) => this.#stopWriting(reason, cause),
      setup.readOnlyReason,
      fileIdentity(join(setup.graphPath, 'data.mdb')),
    );
    this.#logClient =
      setup.cluster && new LogClient(setup.cluster, () => this.#writerMetrics.beat());
    this.#commitDelay = setup.cluster && new CommitDelay();
    this.#storage = openStorage(setup.graphPath, {
      limits: setup.limits,
      mode: 'attach',
      vectorTypes: setup.vectors.types,
      permit: this.#fence,
      visibility: this.#control,
      notes: this.#control.notes,
      hold: transactionHold,
      ...(this.#logClient && { replication: this.#logClient }),
      ...(setup.shard && { shard: setup.shard }),
    });
    const text = setup.textEnabled ? createTextIndex(setup.limits, setup.textLanguage) : undefined;
    this.#openSchema(headOf(setup.program), text);
    const isFollowing = setup.cluster !== undefined;
    const vectors = { ...setup.vectors, failpoint: setup.failpoint, isFollowing };
    this.#vectors = openVectorStore(this.#storage, vectors, {
      progress: (phase, progress) => this.#send({ kind: 'progress', phase, progress }),
      onIndex: (label, handle) => this.#send({ kind: 'index', label, handle }),
      onBuild: (label, handle) => this.#send({ kind: 'build', label, handle }),
      onRebuilt: (reason) => this.#writerMetrics.add(reason),
      onReplayed: (changes) => this.#writerMetrics.add('replayed_operations', changes),
      onSnapshot: (info) => this.#send({ kind: 'snapshot', info }),
      log: (level, message, fields) => this.#log(level, message, fields),
    });
    this.#queries.add(0, new PackedQueries(setup.program), this.#control.schema());
    const loads = {
      reserve: (changes: readonly VectorChange[]) => {
        this.#vectors.beginReserving();
        this.#vectors.reserve(changes);
      },
      publish: (changes: readonly VectorChange[]) => this.#vectors.publish(changes),
      settle: () => this.#vectors.finishMaintenance(),
    };
    this.#loads = new LoadWriter(this.#storage, loads, text);
    this.#services = {
      limits: setup.limits,
      strict: setup.strict,
      text,
      vectors: this.#vectors.indexes,
    };
    this.#commits = new GroupCommit({
      storage: this.#storage,
      fence: this.#fence,
      writerMetrics: this.#writerMetrics,
      control: this.#control,
      queries: this.#queries,
      services: this.#services,
      vectors: this.#vectors,
      loads: this.#loads,
      log: this.#logClient,
    });
    this.#begin();
  }

  get #mayNotWrite(): boolean {
    return this.#fence.closedBecause !== undefined || this.#storage.env.room.isFull;
  }

  #log(
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    fields: Record<string, unknown>,
  ): void {
    this.#send({ kind: 'log', level, message, fields });
  }

  /** Starts to take messages, when everything is ready. */
  #begin(): void {
    const { cluster } = this.setup;
    this.#writerMetrics.set('applied_seq', this.#storage.committedSeq());
    this.#writerMetrics.beat();
    setInterval(() => this.#writerMetrics.beat(), beatMs).unref();
    watchDiskSpace(this.#storage, this.#port);
    this.#port.on('message', (message: ToWriter) => this.#receive(message));
    this.#send({ kind: 'ready', indexes: this.#vectors.handles() });
    this.#maintenance.schedule();
    if (cluster && this.#logClient) this.#follow(cluster.port, this.#logClient);
  }

  /** Joins the cluster. */
  #follow(port: MessagePort, log: LogClient): void {
    this.#follower = new LogFollower({
      port,
      log,
      storage: this.#storage,
      vectors: this.#vectors,
      writerMetrics: this.#writerMetrics,
      control: this.#control,
      loads: this.#loads,
      onSources: (sources) => this.#send({ kind: 'sources', sources }),
      onMark: (mark, position) => this.#send({ kind: 'mark', mark, position }),
      onError: (error, stack) => {
        this.#send({ kind: 'clusterFault', error });
        if (stack !== undefined) this.#log('error', 'an entry cannot be applied', { stack });
      },
      onApplied: () => this.#maintain(),
    });
    log.start(this.#storage.position());
  }

  /** Changes the data to the program's schema, and builds or drops the keyword index as configured. */
  #openSchema(program: Declarations, text: TextIndex | undefined): void {
    const isPreset = this.#fence.closedBecause !== undefined || this.#logClient !== undefined;
    if (isPreset) return fitSchema(this.#storage, program, text, this.setup);
    const { listedAtOpen: edges } = this.#storage;
    const cutOff = 'listed the edges of an import that was cut off';
    if (edges > 0) this.#log('info', cutOff, { edges });
    const started = performance.now();
    const documents = openSchema(this.#storage, program, text, this.setup, wallMs());
    if (documents === 0) return;
    const ms = Math.round(performance.now() - started);
    this.#log('info', 'made the keyword index', { documents, ms });
  }

  #send(message: FromWriter): void {
    this.#port.postMessage(message);
  }

  #receive(message: ToWriter): void {
    if (this.#waitingCommands.length > 0) this.#waitingCommands.push(message);
    else this.#execute(message);
  }

  #execute(message: ToWriter): void {
    if (isBatch(message)) {
      this.#accept(message);
      return this.#schedule();
    }
    switch (message.kind) {
      case 'reload':
        return this.#answer(message.id, () => this.#reload(message));
      case 'preview':
        return this.#answer(message.id, () => this.#preview(message.program));
      case 'tell':
      case 'mark':
      case 'pass':
        return this.#answer(message.id, () => this.#follower!.execute(message));
      case 'snapshot':
        return this.#answerSnapshot(message.id);
      case 'load':
        return this.#answer(message.id, () =>
          this.#change(() => this.#loads.execute(message.command, wallMs())),
        );
      case 'reembed':
        return this.#answer(message.id, () =>
          this.#change(() => runReembed(this.#storage, this.#vectors, message.command)),
        );
      case 'release':
        return this.#release(message.id);
      case 'close':
        return this.#close(message.id, message.snapshot);
      default:
        return unreachable(message);
    }
  }

  #accept(batch: Batch<RequestExtra>): void {
    const { heads, bytes, extras } = openBatch(batch);
    for (let at = 0; at < heads.length; at += requestWords) {
      const slot = heads[at]!;
      this.#waiting.push({
        slot,
        query: heads[at + 1]!,
        body: bytes.subarray(heads[at + 2]!, heads[at + 3]!),
        deadline: heads[at + 4]! - sharedOriginMs,
        budgetMs: heads[at + 5]!,
        expected: heads[at + 6]!,
        caller: heads[at + 7]!,
        extra: extras.get(slot),
      });
    }
  }

  /** Runs one group per event-loop turn, because LMDB needs the event loop between groups. */
  #schedule(): void {
    if (this.#scheduled && this.#commitDelay?.isComplete(this.#waiting.length))
      return this.#runGroup();
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#runGroup());
  }

  #runGroup(): void {
    this.#drainPort();
    if (this.#commitDelay?.waits(this.#waiting.length, () => this.#runGroup())) return;
    this.#scheduled = false;
    this.#commitGroup(takeGroup(this.#waiting));
    this.#schedule();
    this.#maintain();
  }

  /** Writes that arrived during the last commit join the next group. */
  #drainPort(): void {
    while (this.#waitingCommands.length === 0) {
      const received = receiveMessageOnPort(this.#port) as { message: ToWriter } | undefined;
      if (!received) return;
      if (isBatch(received.message)) this.#accept(received.message);
      else {
        // A command waits for the writes that came before it, and later messages wait for the command.
        this.#waitingCommands.push(received.message);
        setImmediate(() => this.#executeWaiting());
      }
    }
  }

  #executeWaiting(): void {
    for (const message of this.#waitingCommands.splice(0)) this.#execute(message);
  }

  #commitGroup(group: QueuedWrite[]): void {
    if (group.length === 0) return;
    const started = performance.now();
    const outcomes = this.#commits.run(group);
    const micros = workOf(outcomes, (performance.now() - started) * 1000);
    this.#waiting.unshift(...notRun(group, outcomes));
    this.#replies.answer(group, outcomes, micros);
    failpoint('W12');
    this.#replies.flush();
    this.#commitDelay?.answered(outcomes.length, performance.now() - started, this.#waiting.length);
  }

  /** After a failed commit, or when the directory belongs to another process: stops all writing. */
  #stopWriting(reason: string, cause: unknown): void {
    this.#vectors?.snapshots.abandon();
    this.#follower?.stop(this.#fence.refusal);
    const { code } = (cause ?? {}) as { code?: unknown };
    const errno = typeof code === 'string' || typeof code === 'number' ? String(code) : 'unknown';
    this.#send({ kind: 'readOnly', reason, errno });
  }

  #answer(id: number, work: () => unknown): void {
    try {
      if (this.#isReleased) throw this.#fence.refusal;
      this.#finishWrites();
      const result = this.#writerMetrics.during(work);
      this.#send({ kind: 'done', id, indexes: this.#vectors.handles(), result });
    } catch (error) {
      this.#send({ kind: 'done', id, ...toErrorData(error) });
    }
  }

  #preview(program: unknown): SchemaPreview {
    return this.#storage.previewSchema(unpack<Declarations>(program), wallMs());
  }

  /** Responds when the snapshots are complete. Writes continue meanwhile. */
  #answerSnapshot(id: number): void {
    if (this.#isReleased) return this.#answer(id, () => undefined);
    this.#finishWrites();
    this.#snapshot().then(
      () => this.#send({ kind: 'done', id }),
      (error: unknown) => this.#send({ kind: 'done', id, ...toErrorData(error) }),
    );
  }

  #finishWrites(): void {
    while (this.#waiting.length > 0) this.#commitGroup(takeGroup(this.#waiting));
  }

  /** Applies the program. Returns the schema version. */
  #reload(message: Extract<ToWriter, { kind: 'reload' }>): number {
    const program = headOf(message.program);
    const queries = new PackedQueries(message.program);
    failpoint('midReload');
    const { text } = this.#services;
    const apply = (): void =>
      this.#queries.add(message.generation, queries, this.#control.schema());
    if (this.#follower && message.sources === undefined) {
      this.#follower.applySchema(program, text, apply);
      return this.#control.schema();
    }
    const { sources } = message;
    const nowMs = wallMs();
    asSchemaEntry(this.#logClient, { nowMs, sources }, () =>
      changeSchema(this.#storage, this.#vectors, program, text, nowMs, this.#control, sources),
    );
    apply();
    this.#control.publishCommit();
    this.#logClient?.publish();
    // Append the table hashes before the next write, so that all nodes can verify that they made the same
    // changes.
    if (this.#logClient?.needsTableCheck) appendTableHashes(this.#storage, this.#logClient);
    return this.#control.schema();
  }

  /** Runs a command that commits on its own. */
  #change(work: () => unknown): unknown {
    try {
      const options = { timeoutMs: loadTimeoutMs };
      const result =
        this.#logClient === undefined ? work() : this.#logClient.withAppendOptions(options, work);
      this.#writerMetrics.set('applied_seq', this.#storage.committedSeq());
      this.#control.publishCommit();
      this.#logClient?.publish();
      this.#maintenance.noteWrite();
      return result;
    } catch (error) {
      this.#fence.failedBefore(error);
      throw error;
    }
  }

  #snapshot(): Promise<void> {
    this.#lastSnapshotAt = performance.now();
    return this.#vectors.snapshots.round().catch((error: unknown) => {
      this.#writerMetrics.add('snapshot_failures_total');
      // A later commit failed. That is no defect of the snapshot.
      throw this.#fence.closedBecause === undefined ? error : this.#fence.refusal;
    });
  }

  /**
   * Starts a snapshot that no caller waits for. A failure is logged, and the snapshot is tried again when it
   * is next due.
   */
  #snapshotIfDue(): void {
    const { intervalMs, afterWrites } = this.setup.vectors.snapshot;
    const { changes, isRunning } = this.#vectors.snapshots;
    const age = performance.now() - this.#lastSnapshotAt;
    const isDue = changes >= afterWrites || (changes > 0 && age >= intervalMs);
    if (!isDue || isRunning) return;
    this.#snapshot().catch((error: unknown) => this.#logFailedSnapshot(error));
  }

  #logFailedSnapshot(error: unknown): void {
    const { stack, error: data } = toErrorData(error);
    const fields = { code: data.code, reason: errorMessage(data), stack };
    this.#log('warn', 'snapshot failed', fields);
  }

  /**
   * Takes a due snapshot in an idle moment. Maintenance of the indexes and of the data file takes a small
   * share of the time of a writer that is never idle.
   */
  #maintain(): void {
    if (this.#mayNotWrite) return;
    if (!this.#scheduled) this.#snapshotIfDue();
    this.#maintenance.noteWrite();
  }

  /** Without its last snapshot a database still opens, only more slowly. */
  #finishSnapshots(): void {
    try {
      this.#vectors.snapshots.finish();
    } catch (error) {
      this.#writerMetrics.add('snapshot_failures_total');
      this.#logFailedSnapshot(error);
    }
  }

  /** Releases the file after writing has stopped: see reopen-after-failure.ts. */
  #release(id: number): void {
    this.#finishWrites();
    this.#isReleased = true;
    void this.#storage.close().then(() => this.#send({ kind: 'done', id }));
  }

  #close(id: number, snapshot: boolean): void {
    let error: ErrorData | undefined;
    try {
      this.#finishWrites();
      failpoint('inShutdown');
      if (snapshot && this.#fence.closedBecause === undefined)
        this.#writerMetrics.during(() => this.#finishSnapshots());
      else this.#vectors.snapshots.abandon();
      this.#follower?.close();
      this.#storage.close();
    } catch (caught) {
      error = toErrorData(caught).error;
    }
    this.#send({ kind: 'done', id, error });
    this.#port.close();
    this.onClosed();
  }
}
