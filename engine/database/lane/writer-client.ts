// The main thread's client of the writer thread. It starts the thread, queues writes, sends commands (reload,
// preview, snapshot, close) and receives reports.
// Invariant: a command leaves after every write that was queued before it.
import type { PackedProgram } from '../call/serialized-program.js';
import { unreachable } from '../../base/assert.js';
import { type ErrorData, TrellisError, restoreError, fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { IndexHandle } from '../../vector/index.js';
import type { Call, Cost, Whose } from '../call/call.js';
import { FairQueue, type Queued } from '../call/fair-queue.js';
import { type QueueBounds, makeRoom, refusalOf } from '../call/queue-share.js';
import type { DatabaseOptions } from '../call/options.js';
import type { ControlBlock, SlotPool } from '../call/control-block.js';
import { Deadlines } from './deadlines.js';
import { Lane } from './lane.js';
import { buffersOf } from '../load/row/batch-buffers.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { CheckMark, ClusterCommand } from '../replication/check-mark.js';
import { LongWrites } from './long-writes.js';
import type { ReembedCommand } from '../reembed/reembed-writer.js';
import type { LoadCommand } from '../load/load-writer.js';
import type { AddIndex, FromWriter, ToWriter } from './message.js';
import type { SnapshotInfo } from '../vectors/vector-snapshot.js';
import type { ThreadPool } from './thread-pool.js';
import type { WriterSetup } from './message.js';

/**
 * Maximum calls in flight at the writer. More calls wait here, so that a slow commit shows as a full queue.
 */
export const flightMax = 4096;

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The write queue' } };

export interface WriterEvents {
  /** Called with all vector indexes. */
  onIndexes: (list: readonly { label: number; handle: IndexHandle }[]) => void;
  /** Called with index memory that the readers lack. */
  onNewIndex: (message: AddIndex) => void;
  onBuild: (message: Extract<FromWriter, { kind: 'build' }>) => void;
  onSnapshot: (info: SnapshotInfo) => void;
  /** Called when a call returns. */
  onSettled: (call: Call, cost: Cost) => void;
  /** Cluster only. Called when a log entry needs a program compiled from these sources. */
  onSources: (sources: Uint8Array) => void;
  /** Cluster only. Called when the log has this mark of a comparison at this position. */
  onMark: (mark: CheckMark, position: ClusterPosition) => void;
  /** Cluster only. Called when the log can no longer be applied. */
  onClusterError: (error: ErrorData) => void;
  /** Cluster only. Returns why this node refuses writes now, or undefined. */
  refusal: () => ErrorData | undefined;
  /**
   * Called when the disk is full, which a commit may have met, and again without `shortage` when there is
   * space.
   */
  onRoom: (shortage: ErrorData | undefined, errno: string | undefined) => void;
  /** Called when the writer has stopped writing. */
  onStopped: (reason: string, errno: string) => void;
  onProgress: (progress: number, phase: string) => void;
  log: DatabaseOptions['log'];
}

type WriterCommand =
  | { kind: 'reload'; program: PackedProgram; generation: number; sources?: Uint8Array | undefined }
  | ClusterCommand
  | { kind: 'preview'; program: unknown }
  | { kind: 'snapshot' }
  | { kind: 'release' }
  | { kind: 'load'; command: LoadCommand }
  | { kind: 'reembed'; command: ReembedCommand }
  | { kind: 'close'; snapshot: boolean };

interface QueuedCommand {
  command: WriterCommand;
  /** Number of items that came before the command. They leave before it. */
  after: number;
  resolve: (result?: unknown) => void;
  reject: (error: TrellisError) => void;
  /** For a chunk of a load. */
  chunk?: QueuedChunk;
}

/** A chunk of a bulk load. It takes its turn among the writes, after those that came before it. */
interface QueuedChunk extends Queued {
  queuedCommand: QueuedCommand;
  sentAt: number;
  reject: (error: TrellisError) => void;
}

type QueuedItem = (Call & { queuedCommand?: never }) | QueuedChunk;

/** Caller name of bulk loads. The writer runs one chunk at a time. */
const loader = '\u0000load';
const noBytes = new Uint8Array(0);
/** The writer is one thread and commits one group at a time. */
const threads = { count: 1, idle: 1 };
/**
 * For a caller that is alone: work at the writer above which more calls wait here, in microseconds and in
 * calls.
 */
const handMicros = 50_000;
const handCalls = 2;
/** Name of the resource in the error SHARE_EXCEEDED. */
const waiting = 'writes in the queue';

export class WriterClient {
  /** Why writes are refused, or undefined. */
  readOnlyReason: string | undefined;
  accepted = 0;
  #lane: Lane<ToWriter, FromWriter> | undefined;
  #ended = false;
  #closing = false;
  #lastId = 0;
  readonly #queue = new FairQueue<QueuedItem>();
  readonly #bounds: QueueBounds;
  readonly #long = new LongWrites();
  /** Time when the writer last finished something. */
  #doneAt = 0;
  #holding: { timer: NodeJS.Timeout; since: number } | undefined;
  readonly #deadlines: Deadlines;
  /** Commands that wait for the calls before them. */
  #due: QueuedCommand[] = [];
  /** Commands sent to the writer and not yet answered, by id. */
  readonly #commands = new Map<number, QueuedCommand>();

  constructor(
    private readonly control: ControlBlock,
    private readonly slots: SlotPool,
    limits: Limits,
    private readonly events: WriterEvents,
  ) {
    this.#deadlines = new Deadlines(control);
    this.#bounds = { calls: limits.write_queue, bytes: limits.write_queue_bytes };
    this.#queue.allowCommands();
    this.#queue.holds = (item) => item.queuedCommand === undefined && this.#long.holds(item);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Resolves when schema and vectors are ready. Fails with the error that prevented it. */
  start(threads: ThreadPool, setup: Omit<WriterSetup, 'port'>): Promise<void> {
    return new Promise((resolve, reject) => {
      const port = threads.startWriter(setup, (error, laneError) => {
        this.#onEnd(error);
        if (laneError) reject(restoreError(laneError.error, laneError.stack));
        else if (error) reject(error);
      });
      this.#lane = new Lane(port, this.control, this.slots, {
        onLost: (call) => {
          this.#long.back(call);
          this.#queue.back(call, performance.now());
        },
        onSettled: (call, cost) => {
          this.events.onSettled(call, cost);
          this.#doneAt = performance.now();
          this.#long.back(call, cost.own);
          this.#queue.back(call, this.#doneAt, cost.micros);
          this.#feed();
        },
        onMessage: (message) => {
          if (message.kind === 'ready') {
            this.#lane!.unref();
            resolve();
          }
          this.#receive(message);
        },
      });
    });
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'ready':
        return this.events.onIndexes(message.indexes);
      case 'index':
        return this.events.onNewIndex(message);
      case 'build':
        return this.events.onBuild(message);
      case 'snapshot':
        return this.events.onSnapshot(message.info);
      case 'progress':
        return this.events.onProgress(message.progress, message.phase);
      case 'readOnly':
        this.readOnlyReason = message.reason;
        this.events.onStopped(message.reason, message.errno);
        return this.events.log('error', 'writing has stopped', { reason: message.reason });
      case 'room':
        return this.events.onRoom(message.shortage, message.errno);
      case 'sources':
        return this.events.onSources(message.sources);
      case 'mark':
        return this.events.onMark(message.mark, message.position);
      case 'clusterFault':
        return this.events.onClusterError(message.error);
      case 'log':
        return this.events.log(message.level, message.message, message.fields);
      case 'done':
        if (message.indexes) this.events.onIndexes(message.indexes);
        if (message.stack !== undefined) {
          this.events.log('error', 'the writer failed an order', { stack: message.stack });
        }
        this.#fulfil(message.id, message.error && new TrellisError(message.error), message.result);
        return this.#feed();
      default:
        return unreachable(message);
    }
  }

  #fulfil(id: number, error: TrellisError | undefined, result?: unknown): void {
    const queuedCommand = this.#commands.get(id);
    if (this.#commands.delete(id)) this.#lane!.unref();
    if (queuedCommand?.chunk !== undefined) this.#returnChunk(queuedCommand.chunk);
    if (error) queuedCommand?.reject(error);
    else queuedCommand?.resolve(result);
    if (queuedCommand?.command.kind !== 'close') return;
    const closed = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const { reject } of this.#commands.values()) reject(closed);
    this.#commands.clear();
  }

  /**
   * Records that a chunk of a load is done. Its time counts from when it was sent, or from the end of the
   * work before it.
   */
  #returnChunk(chunk: QueuedChunk): void {
    const now = performance.now();
    this.#queue.back(chunk, now, (now - Math.max(this.#doneAt, chunk.sentAt)) * 1000);
    this.#doneAt = now;
  }

  /** Settles every call and command when the writer thread has ended. */
  #onEnd(error?: Error): void {
    this.#ended = true;
    this.#deadlines.stop();
    if (this.#closing && !error) return;
    this.readOnlyReason ??= 'the writer has ended';
    if (error) this.events.log('error', 'the writer has ended', { reason: error.message });
    const closed = { code: 'READ_ONLY' as const, args: { reason: this.readOnlyReason } };
    this.#lane?.abandon(closed);
    for (const call of this.#queue.drain()) {
      call.settled = true;
      call.reject(new TrellisError(closed));
    }
    for (const { reject } of this.#due.splice(0)) reject(new TrellisError(closed));
    for (const id of this.#commands.keys()) this.#fulfil(id, new TrellisError(closed));
  }

  /** Returns why a write cannot be accepted, or undefined. */
  refusalFor(caller?: Whose): ErrorData | undefined {
    const { readOnlyReason: reason } = this;
    if (reason !== undefined) return { code: 'READ_ONLY', args: { reason } };
    const refusal = this.events.refusal();
    if (refusal !== undefined) return refusal;
    return refusalOf(this.#queue, caller, this.#bounds, isFull, waiting);
  }

  /** Queues a write. */
  submit(call: Call): void {
    this.accepted++;
    makeRoom(this.#queue, this.#bounds, waiting);
    this.#queue.push(call, performance.now());
    this.#deadlines.watch(call);
    this.#feed();
  }

  /**
   * Sends what may leave: commands after everything that came before them, writes by the turns of their
   * callers.
   */
  #feed(): void {
    this.#stopWaiting();
    const lane = this.#lane!;
    for (;;) {
      const queuedCommand = this.#due[0];
      if (queuedCommand !== undefined && !this.#queue.hasBefore(queuedCommand.after)) {
        this.#due.shift();
        this.#send(queuedCommand);
        continue;
      }
      if (this.#queue.length === 0 || lane.inFlight >= flightMax) return;
      const now = performance.now();
      if (queuedCommand === undefined && lane.inFlight >= handCalls && this.#hasEnough(now)) return;
      const next = this.#queue.next(now, threads, queuedCommand?.after);
      if (next === undefined) return;
      if ('waitMs' in next) {
        this.#holding = { timer: setTimeout(() => this.#feed(), next.waitMs), since: now };
        return;
      }
      if (!next.item.settled) this.#go(next.item, now);
    }
  }

  /**
   * Returns true if one caller alone has enough work at the writer. Callers that arrive meanwhile then need
   * not wait for all of its calls.
   */
  #hasEnough(now: number): boolean {
    const { only } = this.#queue.presence(now);
    return only !== undefined && this.#queue.isFar(only, handMicros, handCalls);
  }

  #go(item: QueuedItem, now: number): void {
    this.#queue.sent(item, now);
    if (item.queuedCommand === undefined) {
      this.#long.sent(item);
      this.#lane!.submit(item);
    } else {
      item.sentAt = now;
      this.#send(item.queuedCommand);
    }
  }

  #stopWaiting(): void {
    if (this.#holding === undefined) return;
    clearTimeout(this.#holding.timer);
    this.#queue.waited(performance.now() - this.#holding.since);
    this.#holding = undefined;
  }

  #send(queuedCommand: QueuedCommand): void {
    const { command } = queuedCommand;
    const id = ++this.#lastId;
    this.#commands.set(id, queuedCommand);
    const batch =
      command.kind === 'load' && 'batch' in command.command ? command.command.batch : undefined;
    this.#lane!.post({ ...command, id }, batch && buffersOf(batch));
  }

  /** Sends a command. Resolves with its result when it is done. */
  async execute(command: WriterCommand): Promise<unknown> {
    if (this.#ended && command.kind === 'close') return undefined;
    if (this.#ended) fail('READ_ONLY', { reason: this.readOnlyReason ?? 'the writer has ended' });
    if (this.#closing) fail('SHUTTING_DOWN');
    if (command.kind === 'close') this.#closing = true;
    this.#lane!.ref();
    return new Promise((resolve, reject) => {
      const queuedCommand = { command, after: this.#queue.came, resolve, reject };
      if (command.kind === 'load') this.#queueLoad(queuedCommand);
      else this.#due.push(queuedCommand);
      this.#feed();
    });
  }

  #queueLoad(queuedCommand: QueuedCommand): void {
    const { reject } = queuedCommand;
    const chunk: QueuedChunk = {
      ...{ queuedCommand, reject, caller: loader, body: noBytes, cost: 'C' },
      ...{ settled: false, isCommand: true, sentAt: 0 },
    };
    queuedCommand.chunk = chunk;
    this.#queue.push(chunk, performance.now());
  }
}
