// Spreads read calls over the reader lanes: a central queue, and per lane a bounded amount of work
// in flight, so that a heavy query delays few others. Owns the lanes' lives: a reader that dies is
// replaced, its calls fail.
import type { MessagePort } from 'node:worker_threads';
import { TrellisError, fail } from '../base/errors.js';
import { type Call, CallQueue } from './call.js';
import type { Gate, SlotPool } from './gate.js';
import { Lane } from './lane.js';
import type { Equip } from './message.js';
import type { Cost } from './tally.js';

/** Cost units a lane may have in flight: many cheap calls, or two heavy ones. */
const loadMax = 64;

export interface DispatcherOptions {
  count: number;
  queueMax: number;
  start: (onEnd: (error?: Error) => void) => MessagePort;
  /** What a fresh lane must know. */
  equip: () => Equip;
  onSettled: (call: Call, cost: Cost) => void;
  onRestart: (reason: string) => void;
}

export class Dispatcher {
  readonly #lanes: Lane[] = [];
  readonly #queue = new CallQueue();
  #closing = false;
  restarts = 0;

  constructor(
    private readonly gate: Gate,
    private readonly slots: SlotPool,
    private readonly options: DispatcherOptions,
  ) {}

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

  /** Resolves when every lane can take calls. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.count }, () => this.#startLane()));
  }

  #startLane(): Promise<void> {
    return new Promise((resolve) => {
      const port = this.options.start((error) => this.#ended(lane, error));
      const lane: Lane = new Lane(port, this.gate, this.slots, {
        onSettled: (call, cost) => {
          this.options.onSettled(call, cost);
          this.#feed();
        },
        onMessage: (message) => {
          if (message.kind !== 'ready') return;
          if (!this.#lanes.includes(lane)) this.#lanes.push(lane);
          resolve();
          this.#feed();
        },
      });
      lane.post(this.options.equip());
    });
  }

  #ended(lane: Lane, error?: Error): void {
    const at = this.#lanes.indexOf(lane);
    if (at >= 0) this.#lanes.splice(at, 1);
    if (this.#closing) return;
    const outOfMemory =
      (error as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    lane.abandon(
      outOfMemory
        ? { code: 'QUERY_MEMORY', args: { max: 'the heap of one reader, in' } }
        : { code: 'INTERNAL', args: {} },
    );
    this.restarts++;
    this.options.onRestart(error?.message ?? 'ended');
    void this.#startLane();
  }

  submit(call: Call): void {
    if (this.#queue.length >= this.options.queueMax)
      fail('OVERLOADED', { queue: 'The read queue' });
    const lane = this.#idlest();
    if (lane && this.#queue.length === 0) lane.submit(call);
    else this.#queue.push(call);
  }

  #idlest(): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of this.#lanes) {
      if (lane.load < loadMax && (best === undefined || lane.load < best.load)) best = lane;
    }
    return best;
  }

  #feed(): void {
    while (this.#queue.length > 0) {
      const lane = this.#idlest();
      if (!lane) return;
      const call = this.#queue.shift()!;
      if (call.settled) continue;
      if (performance.now() > call.deadline) {
        call.settled = true;
        call.reject(new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms: call.budgetMs } }));
      } else lane.submit(call);
    }
  }

  broadcast(message: Parameters<Lane['post']>[0]): void {
    for (const lane of this.#lanes) lane.post(message);
  }

  cancel(call: Call): void {
    if (call.slot >= 0) this.gate.cancel(call.slot);
  }

  close(): void {
    this.#closing = true;
    const error = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const call of this.#queue.drain()) call.reject(error);
    this.broadcast({ kind: 'close', id: 0, snapshot: false });
  }
}
