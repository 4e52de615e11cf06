// Spreads read calls over the reader lanes: a central queue, and per lane a bounded amount of work
// in flight, so that a heavy query delays few others. Owns the lanes' lives: none is there from the start,
// one is started when a call finds all there are busy, and a reader that dies is replaced, its calls
// fail. Invariant: what is broadcast is heard by lanes that are only being started, too.
import { setTimeout as pause } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { type ErrorData, TrellisError, errorDataOf } from '../../base/errors.js';
import { type Call, type Cost, type Whose, timeOut } from '../call/call.js';
import { FairQueue } from '../call/fair-queue.js';
import { type QueueBounds, makeRoom, refusalOf } from '../call/queue-share.js';
import type { ControlBlock, SlotPool } from '../call/control-block.js';
import { Lane } from './lane.js';
import type { ConfigureLane, ToLane } from './message.js';

/**
 * Cost units a lane may have in flight: many cheap calls, or two heavy ones. A call takes one at
 * least: it bounds the calls in flight, too.
 */
export const loadMax = 64;

/** Between two ends of threads before they could take calls; it doubles. */
const pauseMs = 25;
const pauseMsMax = 5_000;
/** What the system lacks may be there again soon. */
const shortPauseMsMax = 1_000;

/** What a caller has too many of. */
const waiting = 'reads in the queue';

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The read queue' } };

export interface DispatcherOptions {
  /** The most lanes there are. */
  count: number;
  queueMax: number;
  start: (onEnd: (error?: Error) => void) => MessagePort;
  /** A lane can take calls. */
  onReady?: () => void;
  /** What a fresh lane must know: calls of earlier programs may still come to it. */
  equip: () => ConfigureLane;
  onSettled: (call: Call, cost: Cost) => void;
  onRestart: (reason: string) => void;
}

export class Dispatcher {
  /** Those that can take calls. */
  readonly #lanes: Lane[] = [];
  readonly #starting = new Set<Lane>();
  readonly #queue = new FairQueue<Call>();
  readonly #bounds: QueueBounds;
  /** While a lane is kept idle for somebody who is likely to ask again. */
  #holding: { timer: NodeJS.Timeout; since: number } | undefined;
  /** Lanes that are started anew after a pause. */
  #replacing = 0;
  #closing = false;
  /** Why no lane can be started, while none is there and the system lacks what it takes. */
  #shortage: ErrorData | undefined;
  /** Lanes that have yet to let go of the data file; undefined while they have it. */
  #releasing: Set<Lane> | undefined;
  #onReleased: () => void = () => undefined;
  restarts = 0;

  constructor(
    private readonly gate: ControlBlock,
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

  /** Seconds since the oldest read in flight came in; 0 when there is none. */
  get oldestSeconds(): number {
    const oldest = Math.min(...this.#lanes.map((lane) => lane.oldest));
    return Number.isFinite(oldest) ? (performance.now() - oldest) / 1000 : 0;
  }

  /** Whether calls are refused because the system gives no thread for a lane. */
  get isShort(): boolean {
    return this.#shortage !== undefined;
  }

  /** Whether a lane can take calls. */
  hasLane(): boolean {
    return this.#lanes.length > 0;
  }

  /** Whether no call is in a lane, nor waits for one. */
  isIdle(): boolean {
    return this.inFlight + this.queued === 0;
  }

  /** Starts one more lane, if there may be one; its calls need not wait for it. */
  #grow(): void {
    if (this.#closing || this.#releasing || this.#starting.size > 0) return;
    if (this.#lanes.length + this.#replacing < this.options.count) this.#startLane(0);
  }

  /** Starts all lanes that there may be, and tells them. */
  growFully(message: ToLane): void {
    const missing = this.options.count - this.#lanes.length - this.#starting.size - this.#replacing;
    for (let i = 0; i < missing && !this.#closing; i++) this.#startLane(0);
    this.broadcast(message);
  }

  /** `failures`: how often in a row a thread has ended before it could take calls. */
  #startLane(failures: number): void {
    let isReady = false;
    const port = this.options.start((error) => {
      void this.#ended(lane, isReady ? 0 : failures + 1, error);
    });
    const lane: Lane = new Lane(port, this.gate, this.slots, {
      onLost: (call) => this.#queue.back(call, performance.now()),
      onSettled: (call, cost) => {
        this.options.onSettled(call, cost);
        this.#queue.back(call, performance.now(), cost.micros);
        this.#feed();
      },
      onMessage: (message) => {
        if (message.kind === 'released') return this.#released(lane);
        if (message.kind !== 'ready') return;
        // A lane says so after each program that it is told.
        if (!isReady) {
          isReady = true;
          this.#shortage = undefined;
          this.#starting.delete(lane);
          this.#lanes.push(lane);
          lane.release();
          this.options.onReady?.();
        }
        this.#feed();
      },
    });
    this.#starting.add(lane);
    lane.post(this.options.equip());
  }

  /** Fails the calls of a lane whose thread has ended, and starts another one. */
  async #ended(lane: Lane, failures: number, error?: Error): Promise<void> {
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
    // Of what fails again and again, the log hears at the first, second, fourth time ...
    if ((failures & (failures - 1)) === 0) this.options.onRestart(error?.message ?? 'ended');
    if (failures > 0) {
      this.#replacing++;
      const most = isShort ? shortPauseMsMax : pauseMsMax;
      await pause(Math.min(pauseMs * 2 ** failures, most));
      this.#replacing--;
    }
    if (!this.#closing) this.#startLane(failures);
  }

  /** No lane will take what waits: nobody needs to wait for one. */
  #refuseQueued(shortage: ErrorData): void {
    if (this.#lanes.length > 0) return;
    this.#shortage = shortage;
    for (const call of this.#queue.drain()) {
      if (call.settled) continue;
      call.settled = true;
      call.reject(new TrellisError(shortage));
    }
  }

  /** Why a call cannot be taken, or undefined. */
  refusalFor(caller: Whose | undefined): ErrorData | undefined {
    if (this.#shortage !== undefined) return this.#shortage;
    return refusalOf(this.#queue, caller, this.#bounds, isFull, waiting);
  }

  submit(call: Call): void {
    const lane = this.#idlest();
    const now = performance.now();
    if (lane === undefined || lane.load > 0) this.#grow();
    if (lane && this.#queue.length === 0 && this.#queue.isAlone(call.caller, now)) {
      this.#queue.sent(call, now);
      lane.submit(call);
      return;
    }
    makeRoom(this.#queue, this.#bounds, waiting);
    this.#queue.push(call, now);
    this.#feed();
  }

  #idlest(): Lane | undefined {
    let best: Lane | undefined;
    if (this.#releasing) return undefined;
    for (const lane of this.#lanes) {
      if (lane.load < loadMax && (best === undefined || lane.load < best.load)) best = lane;
    }
    return best;
  }

  #feed(): void {
    this.#holdNoMore();
    while (this.#queue.length > 0) {
      const lane = this.#idlest();
      if (!lane) return;
      const now = performance.now();
      const turn = this.#queue.next(now, { count: this.options.count, idle: this.#idle() });
      if (turn === undefined) return;
      if ('waitMs' in turn) return this.#hold(turn.waitMs, now);
      const call = turn.item;
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

  /** Waits for somebody who is likely to ask again. */
  #hold(ms: number, since: number): void {
    this.#holding = { timer: setTimeout(() => this.#feed(), ms), since };
  }

  #holdNoMore(): void {
    if (this.#holding === undefined) return;
    clearTimeout(this.#holding.timer);
    if (this.#idle() > 0) this.#queue.waited(performance.now() - this.#holding.since);
    this.#holding = undefined;
  }

  /** Has every lane finish what it has and let go of the data file; calls wait meanwhile. */
  release(): Promise<void> {
    return new Promise((resolve) => {
      this.#releasing = new Set(this.#all());
      this.#onReleased = resolve;
      // The calls of this turn leave first.
      setImmediate(() => this.broadcast({ kind: 'release', id: 0 }));
      if (this.#releasing.size === 0) resolve();
    });
  }

  #released(lane: Lane): void {
    if (this.#releasing?.delete(lane) && this.#releasing.size === 0) this.#onReleased();
  }

  /** Has every lane open the data file again, and goes on. */
  reopen(): void {
    this.broadcast({ kind: 'reopen' });
    this.broadcast(this.options.equip());
    this.#releasing = undefined;
    if (this.#queue.length > 0) this.#grow();
    this.#feed();
  }

  #all(): Lane[] {
    return [...this.#lanes, ...this.#starting];
  }

  broadcast(message: ToLane): void {
    for (const lane of this.#all()) lane.post(message);
  }

  /** Stops a call: one that waits here is answered at once. */
  cancel(call: Call): void {
    if (call.slot >= 0) this.gate.cancel(call.slot);
    else if (!call.settled) timeOut(call);
  }

  close(): void {
    this.#closing = true;
    clearTimeout(this.#holding?.timer);
    const error = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const call of this.#queue.drain()) call.reject(error);
    this.broadcast({ kind: 'close', id: 0, snapshot: false });
  }
}

/** What calls in flight hear of the end of their thread. */
function endOf(error: Error | undefined): ErrorData {
  if (error === undefined) return { code: 'INTERNAL', args: {} };
  if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { code: 'QUERY_MEMORY', args: { max: 'the heap of one reader, in' } };
  return errorDataOf(error).error;
}
