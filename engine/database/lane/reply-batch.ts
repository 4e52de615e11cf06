// Collects the replies of a lane. It sends them as one message at the end of a batch, or about every 200
// microseconds of work, so that early replies do not wait for late ones.
import type { MessagePort } from 'node:worker_threads';
import { ByteWriter } from '../../base/bytes.js';
import type { ExecutionResult } from '../../exec/runtime/execute.js';
import { type ReplyExtra, packBatch, replyWords } from './message-batch.js';
import type { Outcome } from './group-commit.js';
import { toErrorData } from '../../base/errors.js';

const flushMicros = 200;

export class ReplyBatch {
  #heads: number[] = [];
  #extras: ReplyExtra[] = [];
  readonly #bytes = new ByteWriter(16_384);
  #openedAt = 0;

  constructor(private readonly port: MessagePort) {}

  get length(): number {
    return this.#heads.length / replyWords;
  }

  succeed(slot: number, result: ExecutionResult, micros: number, own = 0): void {
    const start = this.#bytes.length;
    this.#bytes.append(result.body);
    const { items, rows = 0, visits = 0 } = result;
    this.#add(slot, items ? 2 : 0, start, this.#bytes.length, micros, rows, visits, own);
    if (items) this.#extras.push({ slot, kind: 'items', items });
  }

  failWith(slot: number, error: unknown, micros: number, own = 0): void {
    this.#add(slot, 1, 0, 0, micros, 0, 0, own);
    this.#extras.push({ slot, kind: 'error', ...toErrorData(error) });
  }

  /** Adds the outcomes of the first requests of a group of writes. */
  answer(
    group: readonly { slot: number }[],
    outcomes: readonly Outcome[],
    micros: readonly number[],
  ): void {
    for (const [i, outcome] of outcomes.entries()) {
      const { slot } = group[i]!;
      const own = outcome.micros ?? 0;
      if (outcome.ok) this.succeed(slot, outcome.result, micros[i]!, own);
      else this.failWith(slot, outcome.error, micros[i]!, own);
    }
  }

  /** Adds one head, as message-batch.ts defines it. */
  #add(...head: [number, number, number, number, number, number, number, number]): void {
    if (this.#heads.length === 0) this.#openedAt = performance.now();
    this.#heads.push(...head);
  }

  /** Sends the collected replies if the oldest one has waited long enough. */
  flushIfDue(): void {
    if (this.length > 0 && (performance.now() - this.#openedAt) * 1000 >= flushMicros) this.flush();
  }

  flush(): void {
    if (this.length === 0) return;
    const { length } = this.#bytes;
    const buffer = packBatch(length, this.#heads);
    new Uint8Array(buffer).set(this.#bytes.bytes.subarray(0, length));
    const extras = this.#extras;
    this.#bytes.length = 0;
    this.#heads = [];
    this.#extras = [];
    this.port.postMessage(extras.length > 0 ? { kind: 'batch', buffer, extras } : buffer, [buffer]);
  }
}
