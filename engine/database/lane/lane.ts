// The main thread's side of one lane. It collects the calls of one event-loop turn into one message, keeps
// the calls in flight by slot, and settles them when replies arrive. It does not depend on what a call does.
import type { MessagePort } from 'node:worker_threads';
import { type ErrorData, restoreError } from '../../base/errors.js';
import { sharedOriginMs } from '../../base/clock.js';
import { assert } from '../../base/assert.js';
import type { Call, Cost } from '../call/call.js';
import type { ControlBlock, SlotPool } from '../call/control-block.js';
import {
  type Batch,
  type ReplyExtra,
  type RequestExtra,
  isBatch,
  openBatch,
  packBatch,
  replyWords,
  requestWords,
} from './message-batch.js';
import type { FromReader, FromWriter, ToReader, ToWriter } from './message.js';

const costUnits = { A: 1, B: 1, C: 32, W: 1 } as const;

export interface LaneEvents<From> {
  /** Called when a call has returned and its capacity is free. */
  onSettled: (call: Call, cost: Cost) => void;
  /** Called when a call was lost with the thread. */
  onLost: (call: Call) => void;
  /** Called for every message that is not a reply. */
  onMessage: (message: From) => void;
}

export class Lane<To extends ToReader | ToWriter, From extends FromReader | FromWriter> {
  /** Cost units in flight. */
  load = 0;
  readonly #flying = new Map<number, Call>();
  /** Reference count that keeps the process alive. Starts at 1, for the opening. */
  #reasons = 1;
  #pending: Call[] = [];

  constructor(
    readonly port: MessagePort,
    private readonly control: ControlBlock,
    private readonly slots: SlotPool,
    private readonly events: LaneEvents<From>,
  ) {
    port.on('message', (message: From | Batch<ReplyExtra>) => {
      if (isBatch(message)) this.#settle(message);
      else events.onMessage(message);
    });
  }

  /** Keeps the process alive until `unref`. */
  ref(): void {
    if (this.#reasons++ === 0) this.port.ref();
  }

  unref(): void {
    if (--this.#reasons === 0) this.port.unref();
  }

  get inFlight(): number {
    return this.#flying.size;
  }

  /** Time when the oldest call in flight arrived, on the clock of performance.now(). */
  get oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { deadline, budgetMs } of this.#flying.values()) {
      oldest = Math.min(oldest, deadline - budgetMs);
    }
    return oldest;
  }

  /**
   * Sends a message after every call that was submitted before it. `transferred` buffers move to the lane and
   * are no longer usable here.
   */
  post(message: To, moved: readonly ArrayBuffer[] = []): void {
    this.#flush();
    this.port.postMessage(message, moved);
  }

  /** Takes a call. It leaves with everything else of this event-loop turn. */
  submit(call: Call): void {
    const slot = this.slots.take();
    call.slot = slot;
    this.#flying.set(slot, call);
    this.ref();
    this.load += costUnits[call.cost];
    if (this.#pending.push(call) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const calls = this.#pending;
    if (calls.length === 0) return;
    this.#pending = [];
    const heads = new Float64Array(calls.length * requestWords);
    const extras: RequestExtra[] = [];
    let offset = 0;
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i]!;
      const head = i * requestWords;
      heads[head] = call.slot;
      heads[head + 1] = call.query;
      heads[head + 2] = offset;
      offset += call.body.length;
      heads[head + 3] = offset;
      heads[head + 4] = sharedOriginMs + call.deadline;
      heads[head + 5] = call.budgetMs;
      heads[head + 6] = call.expected;
      heads[head + 7] = call.callerNumber;
      if (
        call.plan !== undefined ||
        call.embeddings !== undefined ||
        call.idempotency !== undefined
      ) {
        const { slot, plan, args, schema, items, embeddings, idempotency } = call;
        extras.push({ slot, plan, args, schema, items, embeddings, idempotency });
      }
    }
    const buffer = packBatch(offset, heads);
    const bytes = new Uint8Array(buffer);
    for (let i = 0; i < calls.length; i++) bytes.set(calls[i]!.body, heads[i * requestWords + 2]);
    this.port.postMessage(extras.length > 0 ? { kind: 'batch', buffer, extras } : buffer, [buffer]);
  }

  #settle(replies: Batch<ReplyExtra>): void {
    const { heads, bytes, extras } = openBatch(replies);
    for (let at = 0; at < heads.length; at += replyWords) {
      const slot = heads[at]!;
      const call = this.#land(slot);
      const extra = extras.get(slot);
      if (heads[at + 1] === 1) {
        assert(extra?.kind === 'error', 'an error reply carries its error');
        this.#reject(call, extra.error, extra.stack);
      } else if (!call.settled) {
        call.settled = true;
        const body = bytes.subarray(heads[at + 2]!, heads[at + 3]!);
        call.resolve(extra?.kind === 'items' ? { body, items: extra.items } : { body });
      }
      const [micros, rows, visits] = [heads[at + 4]!, heads[at + 5]!, heads[at + 6]!];
      this.events.onSettled(call, { micros, rows, visits, own: heads[at + 7]! });
    }
  }

  #land(slot: number): Call {
    const call = this.#flying.get(slot);
    assert(call, 'a reply names a call in flight');
    this.#flying.delete(slot);
    this.unref();
    this.slots.give(slot);
    call.slot = -1;
    this.load -= costUnits[call.cost];
    return call;
  }

  #reject(call: Call, error: ErrorData, stack?: string): void {
    if (call.settled) return;
    call.settled = true;
    call.reject(restoreError(error, stack));
  }

  /** Cancels a call in flight. Its reply still arrives. */
  cancel(call: Call): void {
    if (call.slot >= 0) this.control.cancel(call.slot);
  }

  /** The thread has ended: everything in flight fails with this error. */
  abandon(error: ErrorData): void {
    this.#pending = [];
    for (const slot of [...this.#flying.keys()]) {
      const call = this.#land(slot);
      this.events.onLost(call);
      this.#reject(call, error);
    }
    this.port.close();
  }
}
