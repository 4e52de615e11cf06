// The calling thread's end of the writer: starts its thread, queues writes for it, gives it orders
// (reload, preview, snapshot, close) and hears what it has to say. Invariant: an order leaves after every
// write that was queued before it.
import type { PackedProgram } from '../call/serialized-program.js';
import { type ErrorData, TrellisError, errorOf, fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { IndexHandle } from '../../vector/index.js';
import type { Call, Cost, Whose } from '../call/call.js';
import { FairQueue, type Queued } from '../call/fair-queue.js';
import { type QueueBounds, makeRoom, refusalOf } from '../call/queue-share.js';
import type { DatabaseOptions } from '../call/options.js';
import type { ControlBlock, SlotPool } from '../call/control-block.js';
import { Deadlines } from './deadlines.js';
import { Lane } from './lane.js';
import type { Batch, ReplyExtra } from './message-batch.js';
import { buffersOf } from '../load/row/batch-buffers.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { CheckMark, ClusterOrder } from '../replication/check-mark.js';
import { LongWrites } from './long-writes.js';
import type { LoadOrder } from '../load/load-writer.js';
import type { AddIndex, FromLane, HelpBuild } from './message.js';
import type { SnapshotInfo } from '../vectors/vector-snapshot.js';
import type { ThreadPool } from './thread-pool.js';
import type { WriterSetup } from './message.js';

/** Calls in flight at the writer; more wait here, so that a slow commit shows as a full queue. */
export const flightMax = 4096;

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The write queue' } };

export interface WriterEvents {
  /** Every index there is. */
  onIndexes: (list: readonly { label: number; handle: IndexHandle }[]) => void;
  /** A memory that the readers lack. */
  onNewIndex: (message: AddIndex) => void;
  onBuild: (message: HelpBuild) => void;
  onSnapshot: (info: SnapshotInfo) => void;
  /** A call came back. */
  onSettled: (call: Call, cost: Cost) => void;
  /** Of a database in a cluster: an entry waits for the program of these sources. */
  onSources: (sources: Uint8Array) => void;
  /** Likewise: the log has such a mark there. */
  onMark: (mark: CheckMark, position: ClusterPosition) => void;
  /** Likewise: it cannot be followed any more. */
  onClusterFault: (error: ErrorData) => void;
  /** Likewise: why this node takes no writes now. */
  refusal: () => ErrorData | undefined;
  /** The disk is full, which a commit may have met, or has room again. */
  onRoom: (shortage: ErrorData | undefined, errno: string | undefined) => void;
  /** Nothing is written any more. */
  onStopped: (reason: string, errno: string) => void;
  onProgress: (progress: number, phase: string) => void;
  log: DatabaseOptions['log'];
}

type WriterCommand =
  | { kind: 'reload'; program: PackedProgram; generation: number; sources?: Uint8Array | undefined }
  | ClusterOrder
  | { kind: 'preview'; program: unknown }
  | { kind: 'snapshot' }
  | { kind: 'release' }
  | { kind: 'load'; order: LoadOrder }
  | { kind: 'close'; snapshot: boolean };

interface QueuedCommand {
  order: WriterCommand;
  /** How many had come before it: they leave before it. */
  after: number;
  resolve: (result?: unknown) => void;
  reject: (error: TrellisError) => void;
  /** Of a piece of a load. */
  turn?: LoadTurn;
}

/** A piece of a load: it has its turn among the writes, behind those that came before it. */
interface LoadTurn extends Queued {
  given: QueuedCommand;
  sentAt: number;
  reject: (error: TrellisError) => void;
}

type Turned = (Call & { given?: never }) | LoadTurn;

/** Whoever loads: there is one at a time. */
const loader = '\u0000load';
const noBytes = new Uint8Array(0);
/** The writer makes one group at a time of what is there. */
const threads = { count: 1, idle: 1 };
/** Of a caller who is alone: what the writer has at hand, in micros and in calls. */
const handMicros = 50_000;
const handCalls = 2;
/** What a caller has too many of. */
const waiting = 'writes in the queue';

export class WriterClient {
  /** Why writes are off, or undefined. */
  readOnlyReason: string | undefined;
  accepted = 0;
  #lane: Lane | undefined;
  #ended = false;
  #closing = false;
  #lastId = 0;
  readonly #queue = new FairQueue<Turned>();
  readonly #bounds: QueueBounds;
  readonly #long = new LongWrites();
  /** When the writer was last done with something. */
  #heardAt = 0;
  #holding: { timer: NodeJS.Timeout; since: number } | undefined;
  readonly #deadlines: Deadlines;
  /** Orders that wait for the calls before them. */
  #due: QueuedCommand[] = [];
  /** Orders that the writer has. */
  readonly #orders = new Map<number, QueuedCommand>();

  constructor(
    private readonly gate: ControlBlock,
    private readonly slots: SlotPool,
    limits: Limits,
    private readonly events: WriterEvents,
  ) {
    this.#deadlines = new Deadlines(gate);
    this.#bounds = { calls: limits.write_queue, bytes: limits.write_queue_bytes };
    this.#queue.allowOrders();
    this.#queue.holds = (item) => item.given === undefined && this.#long.holds(item);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Resolves when schema and vectors are in order; fails with what kept them from it. */
  start(threads: ThreadPool, setup: Omit<WriterSetup, 'port'>): Promise<void> {
    return new Promise((resolve, reject) => {
      const port = threads.startWriter(setup, (error, fault) => {
        this.#onEnd(error);
        if (fault) reject(errorOf(fault.error, fault.stack));
        else if (error) reject(error);
      });
      this.#lane = new Lane(port, this.gate, this.slots, {
        onLost: (call) => {
          this.#long.back(call);
          this.#queue.back(call, performance.now());
        },
        onSettled: (call, cost) => {
          this.events.onSettled(call, cost);
          this.#heardAt = performance.now();
          this.#long.back(call, cost.own);
          this.#queue.back(call, this.#heardAt, cost.micros);
          this.#feed();
        },
        onMessage: (message) => {
          if (message.kind === 'ready') {
            this.#lane!.release();
            resolve();
          }
          this.#receive(message);
        },
      });
    });
  }

  #receive(message: Exclude<FromLane, Batch<ReplyExtra>>): void {
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
        return this.events.onClusterFault(message.error);
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
    }
  }

  #fulfil(id: number, error: TrellisError | undefined, result?: unknown): void {
    const given = this.#orders.get(id);
    if (this.#orders.delete(id)) this.#lane!.release();
    if (given?.turn !== undefined) this.#back(given.turn);
    if (error) given?.reject(error);
    else given?.resolve(result);
    if (given?.order.kind !== 'close') return;
    const gone = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const { reject } of this.#orders.values()) reject(gone);
    this.#orders.clear();
  }

  /** A piece of a load is done: it took the time since it was sent, or since the work before it was done. */
  #back(turn: LoadTurn): void {
    const now = performance.now();
    this.#queue.back(turn, now, (now - Math.max(this.#heardAt, turn.sentAt)) * 1000);
    this.#heardAt = now;
  }

  /** Nothing that came in stays without an answer. */
  #onEnd(error?: Error): void {
    this.#ended = true;
    this.#deadlines.stop();
    if (this.#closing && !error) return;
    this.readOnlyReason ??= 'the writer has ended';
    if (error) this.events.log('error', 'the writer has ended', { reason: error.message });
    const gone = { code: 'READ_ONLY' as const, args: { reason: this.readOnlyReason } };
    this.#lane?.abandon(gone);
    for (const call of this.#queue.drain()) {
      call.settled = true;
      call.reject(new TrellisError(gone));
    }
    for (const { reject } of this.#due.splice(0)) reject(new TrellisError(gone));
    for (const id of this.#orders.keys()) this.#fulfil(id, new TrellisError(gone));
  }

  /** Why a write cannot be taken, or undefined. */
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

  /** Sends what may go: orders behind all that came before them, writes by their callers' turns. */
  #feed(): void {
    this.#holdNoMore();
    const lane = this.#lane!;
    for (;;) {
      const given = this.#due[0];
      if (given !== undefined && !this.#queue.hasBefore(given.after)) {
        this.#due.shift();
        this.#send(given);
        continue;
      }
      if (this.#queue.length === 0 || lane.inFlight >= flightMax) return;
      const now = performance.now();
      if (given === undefined && lane.inFlight >= handCalls && this.#hasEnough(now)) return;
      const turn = this.#queue.next(now, threads, given?.after);
      if (turn === undefined) return;
      if ('waitMs' in turn) {
        this.#holding = { timer: setTimeout(() => this.#feed(), turn.waitMs), since: now };
        return;
      }
      if (!turn.item.settled) this.#go(turn.item, now);
    }
  }

  /** Who comes meanwhile shall not wait for all that one caller has. */
  #hasEnough(now: number): boolean {
    const { only } = this.#queue.presence(now);
    return only !== undefined && this.#queue.isFar(only, handMicros, handCalls);
  }

  #go(item: Turned, now: number): void {
    this.#queue.sent(item, now);
    if (item.given === undefined) {
      this.#long.sent(item);
      this.#lane!.submit(item);
    } else {
      item.sentAt = now;
      this.#send(item.given);
    }
  }

  #holdNoMore(): void {
    if (this.#holding === undefined) return;
    clearTimeout(this.#holding.timer);
    this.#queue.waited(performance.now() - this.#holding.since);
    this.#holding = undefined;
  }

  #send(given: QueuedCommand): void {
    const { order } = given;
    const id = ++this.#lastId;
    this.#orders.set(id, given);
    const batch = order.kind === 'load' && 'batch' in order.order ? order.order.batch : undefined;
    this.#lane!.post({ ...order, id }, batch && buffersOf(batch));
  }

  /** Gives an order and waits until it is done; gives its result, if it has one. */
  async order(order: WriterCommand): Promise<unknown> {
    if (this.#ended && order.kind === 'close') return undefined;
    if (this.#ended) fail('READ_ONLY', { reason: this.readOnlyReason ?? 'the writer has ended' });
    if (this.#closing) fail('SHUTTING_DOWN');
    if (order.kind === 'close') this.#closing = true;
    this.#lane!.hold();
    return new Promise((resolve, reject) => {
      const given = { order, after: this.#queue.came, resolve, reject };
      if (order.kind === 'load') this.#queueLoad(given);
      else this.#due.push(given);
      this.#feed();
    });
  }

  #queueLoad(given: QueuedCommand): void {
    const { reject } = given;
    const turn: LoadTurn = {
      ...{ given, reject, caller: loader, body: noBytes, cost: 'C' },
      ...{ settled: false, isOrder: true, sentAt: 0 },
    };
    given.turn = turn;
    this.#queue.push(turn, performance.now());
  }
}
