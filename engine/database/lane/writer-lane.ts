// The thread side of the write lane: the only thread that changes LMDB. It drains everything that
// waits into one durable transaction (group commit), publishes the vectors, bumps commitSeq and
// only then replies. Nothing may kill it.
//
// Invariant: a reply means fsynced and visible to every later read of anybody, vectors and keywords
// included.
import { join } from 'node:path';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { sharedOriginMs, wallMs } from '../../base/clock.js';
import {
  type ErrorData,
  TrellisError,
  errorDataOf,
  errorMessage,
  fail,
} from '../../base/errors.js';
import { armFailpoint, failpoint } from '../../base/failpoint.js';
import type { Limits } from '../../base/limits.js';
import type { Program } from '../../plan/program.js';
import { diskTrouble } from '../../storage/lock/disk-trouble.js';
import { fileIdentity } from '../../storage/lock/file-identity.js';
import type { LockToken } from '../../storage/lock/lock-file.js';
import type { Declarations } from '../../storage/schema/schema-commit.js';
import { type SchemaPreview, type Storage, openStorage } from '../../storage/open-storage.js';
import type { VectorChange } from '../../storage/table/store.js';
import { WritePermit } from '../../storage/lock/permit.js';
import { createTextIndex } from '../../text/text-index-lmdb.js';
import type { TextIndex } from '../../text/text-index.js';
import { Figures } from '../meter/figures.js';
import { Gate } from '../call/gate.js';
import { type Batch, type RequestExtra, isBatch, openBatch, requestWords } from './batch.js';
import { GroupCommit, type Waiting } from './group-commit.js';
import { type LoadOrder, LoadWriter } from '../load/load-writer.js';
import type { LaneFault, ToLane } from './message.js';
import { unpack } from '../call/pack.js';
import { ReplyBatch } from './reply-batch.js';
import { QueryTable } from '../call/query-table.js';
import { changeSchema, openSchema } from '../schema/schema-swap.js';
import { keepsTexts } from '../care/text-upkeep.js';
import type { Equipment } from '../call/runner.js';
import {
  type VectorStore,
  type VectorStoreOptions,
  openVectorStore,
} from '../vectors/vector-store.js';

export interface WriterSetup {
  role: 'writer';
  port: MessagePort;
  gate: SharedArrayBuffer;
  graphPath: string;
  limits: Limits;
  textEnabled: boolean;
  /** Shared: see figures.ts. */
  figures: SharedArrayBuffer;
  strict: boolean;
  /** Packed Program. */
  program: unknown;
  vectors: VectorStoreOptions;
  failpoint?: string;
  /** Looked for before every commit. */
  lock: LockToken;
  /** Why nothing may be written from the start. */
  readOnlyReason?: string | undefined;
}

/** A group closes at this many requests or bytes of bodies, so that one commit stays short. */
const groupRequests = 1000;
const groupBytes = 4 * 1024 * 1024;

/** Upkeep of the vector indexes runs in slices this long, with pauses between them. */
const upkeepMs = 5;
const upkeepPauseMs = 100;

/** The writer says that it is alive. */
const beatMs = 500;

/** Resolves when the lane has closed: with nothing, or with the fault that kept it from opening. */
export function serveWrites(setup: WriterSetup): Promise<LaneFault | undefined> {
  return new Promise((resolve) => {
    try {
      armFailpoint(setup.failpoint);
      new WriterLane(setup, () => resolve(undefined));
    } catch (error) {
      setup.port.close();
      const place = { path: setup.graphPath, name: 'the data directory', bytes: 0 };
      resolve(errorDataOf(diskTrouble(error, place)));
    }
  });
}

class WriterLane {
  readonly #port: MessagePort;
  readonly #gate: Gate;
  readonly #figures: Figures;
  readonly #storage: Storage;
  readonly #equipment: Equipment;
  readonly #queries = new QueryTable();
  readonly #vectors: VectorStore;
  readonly #loads: LoadWriter;
  readonly #replies: ReplyBatch;
  readonly #commits: GroupCommit;
  #waiting: Waiting[] = [];
  /** An order that came while a group was drained, and what came after it. */
  #held: ToLane[] = [];
  #scheduled = false;
  #isReleased = false;
  readonly #permit: WritePermit;
  #keeping: NodeJS.Timeout | undefined;
  #lastSnapshotAt = performance.now();

  constructor(
    private readonly setup: WriterSetup,
    private readonly onClosed: () => void,
  ) {
    this.#port = setup.port;
    this.#gate = new Gate(setup.gate);
    this.#figures = new Figures(setup.figures);
    this.#replies = new ReplyBatch(setup.port);
    this.#permit = new WritePermit(
      setup.lock,
      (reason, cause) => this.#stopWriting(reason, cause),
      setup.readOnlyReason,
      fileIdentity(join(setup.graphPath, 'data.mdb')),
    );
    const program = unpack<Program>(setup.program);
    this.#storage = openStorage(setup.graphPath, {
      limits: setup.limits,
      mode: 'attach',
      vectorTypes: setup.vectors.types,
      permit: this.#permit,
      visibility: this.#gate,
    });
    const text = setup.textEnabled ? createTextIndex(setup.limits) : undefined;
    this.#openSchema(program, text);
    const vectors = { ...setup.vectors, failpoint: setup.failpoint };
    this.#vectors = openVectorStore(this.#storage, vectors, {
      progress: (phase, progress) => this.#port.postMessage({ kind: 'progress', phase, progress }),
      onIndex: (label, handle) => this.#port.postMessage({ kind: 'index', label, handle }),
      onBuild: (label, handle) => this.#port.postMessage({ kind: 'build', label, handle }),
      onRebuilt: (reason) => this.#figures.add(reason),
      onReplayed: (changes) => this.#figures.add('replayed_ops', changes),
      onSnapshot: (info) => this.#port.postMessage({ kind: 'snapshot', info }),
      log: (level, message, fields) =>
        this.#port.postMessage({ kind: 'log', level, message, fields }),
    });
    this.#queries.add(0, program.queries, this.#gate.schema());
    const loads = {
      reserve: (changes: readonly VectorChange[]) => {
        this.#vectors.beginReserving();
        this.#vectors.reserve(changes);
      },
      publish: (changes: readonly VectorChange[]) => this.#vectors.publish(changes),
    };
    this.#loads = new LoadWriter(this.#storage, loads, text);
    this.#equipment = {
      limits: setup.limits,
      strict: setup.strict,
      text,
      vectors: this.#vectors.indexes,
    };
    this.#commits = new GroupCommit({
      storage: this.#storage,
      permit: this.#permit,
      figures: this.#figures,
      gate: this.#gate,
      queries: this.#queries,
      equipment: this.#equipment,
      vectors: this.#vectors,
      loads: this.#loads,
    });
    this.#figures.set('applied_seq', this.#storage.committedSeq());
    this.#figures.beat();
    setInterval(() => this.#figures.beat(), beatMs).unref();
    this.#port.on('message', (message: ToLane) => this.#receive(message));
    this.#port.postMessage({ kind: 'ready', indexes: this.#vectors.handles() });
  }

  /** Brings the data to the program's schema, and the keyword index to its switch. */
  #openSchema(program: Program, text: TextIndex | undefined): void {
    if (this.#permit.denied !== undefined) return this.#fitSchema(program, text);
    const started = performance.now();
    const documents = openSchema(this.#storage, program, text, this.setup, wallMs());
    if (documents === 0) return;
    const ms = Math.round(performance.now() - started);
    const message = 'made the keyword index';
    this.#port.postMessage({ kind: 'log', level: 'info', message, fields: { documents, ms } });
  }

  /** Read-only: the program and the data go together as they are, or not at all. */
  #fitSchema(program: Program, text: TextIndex | undefined): void {
    const hint = 'Start once without `storage.read_only`, or bring the former sources back.';
    if (text !== undefined && !keepsTexts(this.#storage, this.setup)) {
      fail('SCHEMA_INCOMPATIBLE', { what: 'The keyword index is yet to be made.' }, { hint });
    }
    try {
      this.#storage.applySchema(program, { text, nowMs: 0 });
    } catch (error) {
      if (!(error instanceof TrellisError) || error.code !== 'READ_ONLY') throw error;
      const what = 'The data have another schema, and nothing may be written.';
      fail('SCHEMA_INCOMPATIBLE', { what }, { hint });
    }
  }

  #receive(message: ToLane): void {
    if (this.#held.length > 0) this.#held.push(message);
    else this.#obey(message);
  }

  #obey(message: ToLane): void {
    if (isBatch(message)) {
      this.#accept(message);
      return this.#schedule();
    }
    switch (message.kind) {
      case 'reload':
        return this.#answer(message.id, () => this.#reload(message));
      case 'preview':
        return this.#answer(message.id, () => this.#preview(message.program));
      case 'snapshot':
        return this.#answerSnapshot(message.id);
      case 'load':
        return this.#answer(message.id, () => this.#load(message.order));
      case 'release':
        return this.#release(message.id);
      case 'close':
        return this.#close(message.id, message.snapshot);
      default:
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
        extra: extras.get(slot),
      });
    }
  }

  /** One group per turn: LMDB needs the event loop between groups. */
  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#drainPort();
      this.#commitGroup(this.#nextGroup());
      this.#schedule();
      this.#maintain();
    });
  }

  /** What arrived while the last commit ran joins the next group. */
  #drainPort(): void {
    while (this.#held.length === 0) {
      const received = receiveMessageOnPort(this.#port) as { message: ToLane } | undefined;
      if (!received) return;
      if (isBatch(received.message)) this.#accept(received.message);
      else {
        // An order waits for the writes that came before it, and what follows waits for it.
        this.#held.push(received.message);
        setImmediate(() => this.#obeyHeld());
      }
    }
  }

  #obeyHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const message of held) this.#obey(message);
  }

  #nextGroup(): Waiting[] {
    let count = 0;
    let size = 0;
    const waiting = this.#waiting;
    while (count < waiting.length && count < groupRequests && size < groupBytes) {
      size += waiting[count++]!.body.length;
    }
    return count === waiting.length ? waiting.splice(0) : waiting.splice(0, count);
  }

  #commitGroup(group: Waiting[]): void {
    if (group.length === 0) return;
    const started = performance.now();
    const outcomes = this.#commits.run(group);
    const micros = ((performance.now() - started) * 1000) / group.length;
    for (let i = 0; i < group.length; i++) {
      const outcome = outcomes[i]!;
      if (outcome.ok) this.#replies.succeed(group[i]!.slot, outcome.result, micros);
      else this.#replies.failWith(group[i]!.slot, outcome.error, micros);
    }
    failpoint('W12');
    this.#replies.flush();
  }

  /** Of a commit that failed, or a directory that is another's: nothing is written any more. */
  #stopWriting(reason: string, cause: unknown): void {
    this.#vectors?.snapshots.abandon();
    const { code } = (cause ?? {}) as { code?: unknown };
    const errno = typeof code === 'string' || typeof code === 'number' ? String(code) : 'unknown';
    this.#port.postMessage({ kind: 'readOnly', reason, errno });
  }

  #answer(id: number, work: () => unknown): void {
    try {
      if (this.#isReleased) throw this.#permit.refusal;
      this.#finishWrites();
      const result = this.#figures.during(work);
      this.#port.postMessage({ kind: 'done', id, indexes: this.#vectors.handles(), result });
    } catch (error) {
      this.#port.postMessage({ kind: 'done', id, ...errorDataOf(error) });
    }
  }

  #preview(program: unknown): SchemaPreview {
    return this.#storage.previewSchema(unpack<Declarations>(program), wallMs());
  }

  /** Answers when the snapshots are made; writes go on meanwhile. */
  #answerSnapshot(id: number): void {
    if (this.#isReleased) return this.#answer(id, () => undefined);
    this.#finishWrites();
    this.#snapshot().then(
      () => this.#port.postMessage({ kind: 'done', id }),
      (error: unknown) => this.#port.postMessage({ kind: 'done', id, ...errorDataOf(error) }),
    );
  }

  #finishWrites(): void {
    while (this.#waiting.length > 0) this.#commitGroup(this.#nextGroup());
  }

  /** Returns the number of the schema. */
  #reload(message: { program: unknown; generation: number }): number {
    const program = unpack<Program>(message.program);
    failpoint('midReload');
    const { text } = this.#equipment;
    changeSchema(this.#storage, this.#vectors, program, text, wallMs(), this.#gate);
    const schema = this.#gate.schema();
    this.#queries.add(message.generation, program.queries, schema);
    this.#gate.advance();
    return schema;
  }

  #load(order: LoadOrder): unknown {
    try {
      const result = this.#loads.obey(order, wallMs());
      this.#figures.set('applied_seq', this.#storage.committedSeq());
      this.#gate.advance();
      return result;
    } catch (error) {
      if (!(error instanceof TrellisError)) this.#permit.failed(error);
      throw error;
    }
  }

  #snapshot(): Promise<void> {
    this.#lastSnapshotAt = performance.now();
    return this.#vectors.snapshots.round().catch((error: unknown) => {
      this.#figures.add('snapshot_failures_total');
      // A commit behind it failed: that is no defect of the snapshot.
      throw this.#permit.denied === undefined ? error : this.#permit.refusal;
    });
  }

  /** A snapshot that nobody waits for: its failure is told, and tried again at its next turn. */
  #snapshotIfDue(): void {
    const { intervalMs, afterWrites } = this.setup.vectors.snapshot;
    const { changes, isRunning } = this.#vectors.snapshots;
    const age = performance.now() - this.#lastSnapshotAt;
    const isDue = changes >= afterWrites || (changes > 0 && age >= intervalMs);
    if (!isDue || isRunning) return;
    this.#snapshot().catch((error: unknown) => this.#logFailedSnapshot(error));
  }

  #logFailedSnapshot(error: unknown): void {
    const { stack, error: data } = errorDataOf(error);
    const fields = { code: data.code, reason: errorMessage(data), stack };
    this.#port.postMessage({ kind: 'log', level: 'warn', message: 'snapshot failed', fields });
  }

  /**
   * A due snapshot waits for an idle moment. The upkeep of the indexes and of the data file takes a
   * small share of the time of a writer that never has one.
   */
  #maintain(): void {
    if (this.#permit.denied !== undefined) return;
    if (!this.#scheduled) this.#snapshotIfDue();
    this.#keeping ??= setTimeout(() => {
      this.#keeping = undefined;
      const isMore = this.#vectors.maintain(upkeepMs);
      if (this.#repack() || isMore) this.#maintain();
    }, upkeepPauseMs).unref();
  }

  /** A step of repacking; damage in its way leaves the data as they are, to be met by requests. */
  #repack(): boolean {
    if (this.#permit.denied !== undefined) return false;
    try {
      return this.#storage.repack();
    } catch {
      // The permit has heard of a commit that failed.
      return false;
    }
  }

  /** Without its last snapshot a database opens all the same, only later. */
  #finishSnapshots(): void {
    try {
      this.#vectors.snapshots.finish();
    } catch (error) {
      this.#figures.add('snapshot_failures_total');
      this.#logFailedSnapshot(error);
    }
  }

  /** Lets go of the file, into which nothing is written any more: see reopen.ts. */
  #release(id: number): void {
    this.#finishWrites();
    this.#isReleased = true;
    void this.#storage.close().then(() => this.#port.postMessage({ kind: 'done', id }));
  }

  #close(id: number, snapshot: boolean): void {
    let error: ErrorData | undefined;
    try {
      this.#finishWrites();
      failpoint('inShutdown');
      if (snapshot && this.#permit.denied === undefined)
        this.#figures.during(() => this.#finishSnapshots());
      else this.#vectors.snapshots.abandon();
      this.#storage.close();
    } catch (caught) {
      error = errorDataOf(caught).error;
    }
    this.#port.postMessage({ kind: 'done', id, error });
    this.#port.close();
    this.onClosed();
  }
}
