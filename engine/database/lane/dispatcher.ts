// Distributes read calls over the reader lanes. There is one central queue, and each lane has a bounded
// amount of work in flight, so that a heavy query delays few others. It also owns the life of the lanes. No
// lane exists at first. A lane is started when a call finds all existing lanes busy. When a reader dies, its
// calls fail, and the lane is replaced.
// Invariant: lanes that are still starting receive broadcasts too.
import { setTimeout as pause } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { unreachable } from '../../base/assert.js';
import { type ErrorData, TrellisError, toErrorData } from '../../base/errors.js';
import { type Call, type Cost, type Whose, timeOut } from '../call/call.js';
import { FairQueue } from '../call/fair-queue.js';
import { type QueueBounds, makeRoom, refusalOf } from '../call/queue-share.js';
import type { ControlBlock, SlotPool } from '../call/control-block.js';
import { Lane } from './lane.js';
import type { ConfigureLane, FromReader, ToReader } from './message.js';

/**
 * Maximum cost units in flight per lane: many cheap calls, or two heavy ones. Each call counts at least one,
 * so this also bounds the number of calls.
 */
export const loadMax = 64;

/** Milliseconds to wait after a thread ended before it could take calls. Doubles with each failure. */
const pauseMs = 25;
const pauseMsMax = 5_000;
/** Upper bound of the wait when the system lacks resources, which may be free again soon. */
const shortPauseMsMax = 1_000;

/** Name of the resource in the error SHARE_EXCEEDED. */
const waiting = 'reads in the queue';

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The read queue' } };

type ReaderLane = Lane<ToReader, FromReader>;

export interface DispatcherOptions {
  /** Maximum number of lanes. */
  count: number;
  queueMax: number;
  start: (onEnd: (error?: Error) => void) => MessagePort;
  /** Called when a lane can take calls. */
  onReady?: () => void;
  /**
   * Returns the configuration of a new lane. It includes earlier programs, because calls of them may still
   * arrive.
   */
  configuration: () => ConfigureLane;
  onSettled: (call: Call, cost: Cost) => void;
  onRestart: (reason: string) => void;
}

export class Dispatcher {
  /** Lanes that can take calls. */
  readonly #lanes: ReaderLane[] = [];
  readonly #starting = new Set<ReaderLane>();
  readonly #queue = new FairQueue<Call>();
  readonly #bounds: QueueBounds;
  /** Set while a lane is kept idle for a caller that is likely to call again. */
  #holding: { timer: NodeJS.Timeout; since: number } | undefined;
  /** Number of lanes that restart after a pause. */
  #replacing = 0;
  #closing = false;
  /** Error while no lane exists and the system lacks the resources to start one. */
  #shortage: ErrorData | undefined;
  /** Lanes that have not released the data file yet. Undefined when no release is requested. */
  #releasing: Set<ReaderLane> | undefined;
  #onReleased: () => void = () => undefined;
  restarts = 0;

  constructor(
    private readonly control: ControlBlock,
    private readonly slots: SlotPool,
    private readonly options: DispatcherOptions,
  ) {
    this.#bounds = { calls: options.queueMax, bytes: Number.POSITIVE_INFINITY };
  }

  get queued(): number {
    return this.#queue.length;
  }

  get inFlight(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.inFlight, 0);
  }

  /** Seconds since the oldest read in flight arrived; 0 when there is none. */
  get oldestSeconds(): number {
    const oldest = Math.min(...this.#lanes.map((lane) => lane.oldest));
    return Number.isFinite(oldest) ? (performance.now() - oldest) / 1000 : 0;
  }

  /** True while calls are refused because the system provides no thread for a lane. */
  get isShort(): boolean {
    return this.#shortage !== undefined;
  }

  /** Returns true if a lane can take calls. */
  hasLane(): boolean {
    return this.#lanes.length > 0;
  }

  /** Returns true if no call is in a lane or waits for one. */
  isIdle(): boolean {
    return this.inFlight + this.queued === 0;
  }

  /** Starts one more lane if the maximum allows it. Calls need not wait for it. */
  #grow(): void {
    if (this.#closing || this.#releasing || this.#starting.size > 0) return;
    if (this.#lanes.length + this.#replacing < this.options.count) this.#startLane(0);
  }

  /** Starts all lanes up to the maximum, and sends the message to every lane. */
  growFully(message: ToReader): void {
    const missing = this.options.count - this.#lanes.length - this.#starting.size - this.#replacing;
    for (let i = 0; i < missing && !this.#closing; i++) this.#startLane(0);
    this.broadcast(message);
  }

  /** `failures` is the number of consecutive threads that ended before they could take calls. */
  #startLane(failures: number): void {
    let isReady = false;
    const port = this.options.start((error) => {
      void this.#ended(lane, isReady ? 0 : failures + 1, error);
    });
    const lane: ReaderLane = new Lane(port, this.control, this.slots, {
      onLost: (call) => this.#queue.back(call, performance.now()),
      onSettled: (call, cost) => {
        this.options.onSettled(call, cost);
        this.#queue.back(call, performance.now(), cost.micros);
        this.#feed();
      },
      onMessage: (message) => {
        if (message.kind === 'released') return this.#released(lane);
        if (message.kind !== 'ready') return unreachable(message);
        // A lane sends `ready` after each program that it receives.
        if (!isReady) {
          isReady = true;
          this.#shortage = undefined;
          this.#starting.delete(lane);
          this.#lanes.push(lane);
          lane.unref();
          this.options.onReady?.();
        }
        this.#feed();
      },
    });
    this.#starting.add(lane);
    lane.post(this.options.configuration());
  }

  /** Fails the calls of a lane whose thread has ended, and starts another lane. */
  async #ended(lane: ReaderLane, failures: number, error?: Error): Promise<void> {
    const at = this.#lanes.indexOf(lane);
    if (at >= 0) this.#lanes.splice(at, 1);
    this.#starting.delete(lane);
    this.#released(lane);
    if (this.#closing) return;
    const reason = endOf(error);
    lane.abandon(reason);
    const isShort = reason.code === 'RESOURCE_EXHAUSTED';
    if (isShort) this.#refuseQueued(reason);
    this.restarts++;
    // Log repeated failures only at the first, second, fourth, eighth time and so on.
    if ((failures & (failures - 1)) === 0) this.options.onRestart(error?.message ?? 'ended');
    if (failures > 0) {
      this.#replacing++;
      const pauseMax = isShort ? shortPauseMsMax : pauseMsMax;
      await pause(Math.min(pauseMs * 2 ** failures, pauseMax));
      this.#replacing--;
    }
    if (!this.#closing) this.#startLane(failures);
  }

  /** No lane will take the waiting calls, so they fail now. */
  #refuseQueued(shortage: ErrorData): void {
    if (this.#lanes.length > 0) return;
    this.#shortage = shortage;
    for (const call of this.#queue.drain()) {
      if (call.settled) continue;
      call.settled = true;
      call.reject(new TrellisError(shortage));
    }
  }

  /** Returns why a call cannot be accepted, or undefined. */
  refusalFor(caller: Whose | undefined): ErrorData | undefined {
    if (this.#shortage !== undefined) return this.#shortage;
    return refusalOf(this.#queue, caller, this.#bounds, isFull, waiting);
  }

  submit(call: Call): void {
    const lane = this.#idlest();
    const now = performance.now();
    if (lane === undefined || lane.load > 0) this.#grow();
    if (lane && this.#queue.length === 0 && this.#queue.isOnlyCaller(call.caller, now)) {
      this.#queue.sent(call, now);
      lane.submit(call);
      return;
    }
    makeRoom(this.#queue, this.#bounds, waiting);
    this.#queue.push(call, now);
    this.#feed();
  }

  #idlest(): ReaderLane | undefined {
    let best: ReaderLane | undefined;
    if (this.#releasing) return undefined;
    for (const lane of this.#lanes) {
      if (lane.load < loadMax && (best === undefined || lane.load < best.load)) best = lane;
    }
    return best;
  }

  #feed(): void {
    this.#stopWaiting();
    while (this.#queue.length > 0) {
      const lane = this.#idlest();
      if (!lane) return;
      const now = performance.now();
      const next = this.#queue.next(now, { count: this.options.count, idle: this.#idle() });
      if (next === undefined) return;
      if ('waitMs' in next) return this.#waitForCaller(next.waitMs, now);
      const call = next.item;
      if (call.settled) continue;
      if (now > call.deadline) timeOut(call);
      else {
        this.#queue.sent(call, now);
        lane.submit(call);
      }
    }
  }

  /** Number of idle lanes, including lanes that are not started yet. */
  #idle(): number {
    const busy = this.#lanes.filter(({ load }) => load > 0).length;
    return this.options.count - busy;
  }

  /** Waits for a caller that is likely to call again. */
  #waitForCaller(ms: number, since: number): void {
    this.#holding = { timer: setTimeout(() => this.#feed(), ms), since };
  }

  #stopWaiting(): void {
    if (this.#holding === undefined) return;
    clearTimeout(this.#holding.timer);
    if (this.#idle() > 0) this.#queue.waited(performance.now() - this.#holding.since);
    this.#holding = undefined;
  }

  /**
   * Makes every lane finish its calls and release the data file. New calls wait meanwhile. Resolves when all
   * have released it.
   */
  release(): Promise<void> {
    return new Promise((resolve) => {
      this.#releasing = new Set(this.#all());
      this.#onReleased = resolve;
      // Calls submitted in this event-loop turn leave first.
      setImmediate(() => this.broadcast({ kind: 'release' }));
      if (this.#releasing.size === 0) resolve();
    });
  }

  #released(lane: ReaderLane): void {
    if (this.#releasing?.delete(lane) && this.#releasing.size === 0) this.#onReleased();
  }

  /** Makes every lane open the data file again, and resumes. */
  reopen(): void {
    this.broadcast({ kind: 'reopen' });
    this.broadcast(this.options.configuration());
    this.#releasing = undefined;
    if (this.#queue.length > 0) this.#grow();
    this.#feed();
  }

  #all(): ReaderLane[] {
    return [...this.#lanes, ...this.#starting];
  }

  broadcast(message: ToReader): void {
    for (const lane of this.#all()) lane.post(message);
  }

  /** Cancels a call. A call that still waits in the queue fails immediately. */
  cancel(call: Call): void {
    if (call.slot >= 0) this.control.cancel(call.slot);
    else if (!call.settled) timeOut(call);
  }

  close(): void {
    this.#closing = true;
    clearTimeout(this.#holding?.timer);
    const error = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const call of this.#queue.drain()) call.reject(error);
    this.broadcast({ kind: 'close' });
  }
}

/** Returns the error of the calls in flight when their thread ends. */
function endOf(error: Error | undefined): ErrorData {
  if (error === undefined) return { code: 'INTERNAL', args: {} };
  if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { code: 'QUERY_MEMORY', args: { max: 'the heap of one reader, in' } };
  return toErrorData(error).error;
}
