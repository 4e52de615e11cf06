// The thread side of a reader lane: one endless task that runs batches on LMDB snapshots.
// Invariant: the snapshot is refreshed before the first read after any commit (control-block.ts), and none
// outlives a batch.
import { unreachable } from '../../base/assert.js';
import type { MessagePort } from 'node:worker_threads';
import { sharedOriginMs, wallMs } from '../../base/clock.js';
import {
  type Batch,
  type RequestExtra,
  isBatch,
  openBatch,
  requestWords,
} from './message-batch.js';
import type { ConfigureLane, FromReader, ToReader } from './message.js';
import { unpack } from '../call/serialize-plan.js';
import { PackedQueries } from '../call/serialized-program.js';
import { ReplyBatch } from './reply-batch.js';
import { QueryTable } from '../call/query-table.js';
import { decodeCall, run } from '../call/run-request.js';
import { type ReadingSetup, ReaderContext } from './reader-context.js';
import type { Argument } from '../../exec/runtime/execute.js';
import type { Plan } from '../../plan/plan.js';

/**
 * Milliseconds without a request after which a lane helps to build, and milliseconds of each slice of help.
 */
const idleMs = 20;
const helpMs = 2;

export interface ReaderSetup extends ReadingSetup {
  role: 'reader';
  port: MessagePort;
}

/** Resolves when the lane receives `close`. */
export function serveReads(setup: ReaderSetup): Promise<void> {
  return new Promise((resolve) => new ReaderLane(setup, resolve));
}

class ReaderLane {
  readonly #port: MessagePort;
  readonly #thread: ReaderContext;
  readonly #replies: ReplyBatch;
  readonly #queries = new QueryTable();
  #lastBatchAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  /** Labels whose build this lane helps with. */
  readonly #helping = new Set<number>();

  constructor(
    setup: ReaderSetup,
    private readonly onClosed: () => void,
  ) {
    this.#port = setup.port;
    this.#thread = new ReaderContext(setup);
    this.#replies = new ReplyBatch(setup.port);
    this.#port.on('message', (message: ToReader) => this.#receive(message));
  }

  #send(message: FromReader): void {
    this.#port.postMessage(message);
  }

  #receive(message: ToReader): void {
    if (isBatch(message)) return this.#runBatch(message);
    switch (message.kind) {
      case 'configure':
        return this.#configure(message);
      case 'index':
        return this.#thread.indexes.take(message);
      case 'build':
        this.#thread.indexes.take(message);
        return this.#help(message.label);
      case 'release':
        return void this.#thread.release().then(() => this.#send({ kind: 'released' }));
      case 'reopen':
        return this.#thread.reopen();
      case 'close':
        this.#closed = true;
        this.#port.close();
        return this.onClosed();
      default:
        return unreachable(message);
    }
  }

  #configure(message: ConfigureLane): void {
    for (const { generation, program, schema } of [...(message.earlier ?? []), message]) {
      this.#queries.add(generation, new PackedQueries(program), schema);
    }
    this.#thread.configure(message);
    this.#send({ kind: 'ready' });
  }

  /** Helps the writer to build an index, in slices, while no requests arrive. */
  #help(label: number): void {
    if (this.#helping.has(label)) return;
    this.#helping.add(label);
    const index = this.#thread.indexes.of(label);
    const step = (): void => {
      const isIdle = performance.now() - this.#lastBatchAt >= idleMs;
      const goesOn = !this.#closed && (isIdle ? index.helpBuild(helpMs) : index.isBuilding);
      if (!goesOn) this.#helping.delete(label);
      else if (isIdle) setImmediate(step);
      else setTimeout(step, idleMs);
    };
    step();
  }

  #runBatch(batch: Batch<RequestExtra>): void {
    this.#lastBatchAt = performance.now();
    const { heads, bytes, extras } = openBatch(batch);
    for (let at = 0; at < heads.length; at += requestWords) {
      const slot = heads[at]!;
      const body = bytes.subarray(heads[at + 2]!, heads[at + 3]!);
      const time = { deadline: heads[at + 4]! - sharedOriginMs, budgetMs: heads[at + 5]! };
      this.#runOne(slot, heads[at + 1]!, body, time, extras.get(slot));
      this.#replies.flushIfDue();
    }
    this.#replies.flush();
  }

  #runOne(
    slot: number,
    query: number,
    body: Uint8Array,
    time: { deadline: number; budgetMs: number },
    extra?: RequestExtra,
  ): void {
    const started = performance.now();
    const { control, guard, services } = this.#thread;
    try {
      const { plan, args, schema } = this.#planOf(query, body, extra);
      const request = {
        plan,
        args,
        items: extra?.items,
        embeddings: extra?.embeddings && new Map(extra.embeddings),
        nowMicros: wallMs() * 1000,
        ...time,
        isCancelled: () => control.isCancelled(slot),
      };
      const result = guard.run(schema, (view) => run(request, view, services));
      this.#replies.succeed(slot, result, (performance.now() - started) * 1000);
    } catch (error) {
      this.#replies.failWith(slot, error, (performance.now() - started) * 1000);
    }
  }

  #planOf(
    query: number,
    body: Uint8Array,
    extra?: RequestExtra,
  ): { plan: Plan; args: Argument[]; schema: number } {
    if (query < 0) {
      const { plan, args, schema } = extra!;
      return { plan: unpack<Plan>(plan), args: unpack<Argument[]>(args), schema: schema! };
    }
    const entry = this.#queries.at(query);
    const schema = this.#queries.schemaOf(query);
    return { plan: entry.plan, args: decodeCall(entry, body, this.#thread.services), schema };
  }
}
