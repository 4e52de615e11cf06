// A database that another thread of this process has open, on a thread of one's own: reads run here, on
// this thread's snapshot of LMDB and its view of the shared vector memory, as in a reading lane but
// without the way there; writes, reads that need an embedding, and whatever falls into a reload go to the
// thread that opened it.
//
// Invariant: an answer is given in place only by the program that the shared words name as the present
// one, so that a reload swaps it on all threads at once; from a snapshot that holds every write
// acknowledged before the call.
import { wallMs } from '../../base/clock.js';
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { emptySchema, type Schema } from '../../base/schema.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Query } from '../../plan/plan.js';
import type { Cost } from '../call/call.js';
import { unpackInTurns } from '../call/serialized-program.js';
import { decodeCall, run } from '../call/run-request.js';
import { InlineReads } from '../lane/inline-reads.js';
import type { ConfigureLane } from '../lane/message.js';
import { ReaderContext } from '../lane/reader-context.js';
import { SharedQueryMetrics } from '../metrics/shared-query-metrics.js';
import { isSchemaChanged } from '../schema/reload-retry.js';
import type { Attachment, FromAttached, ToAttached } from './attachment.js';

interface PendingReply {
  resolve: (body: Uint8Array) => void;
  reject: (error: TrellisError) => void;
}

/** For who takes only short reads, and brings all others to the lanes by itself. */
export interface ShortReadsOptions {
  /** Whether no call that was brought there is under way. */
  isIdle: () => boolean;
  /** The thread has another program. */
  onProgram: (queries: readonly Query[]) => void;
}

export class AttachedReader {
  /** Resolves when calls may be made. */
  readonly ready: Promise<void>;
  readonly #thread: ReaderContext;
  readonly #waiting = new Map<number, PendingReply>();
  #queries = new Map<string, { query: Query; place: number }>();
  #declared: Schema = emptySchema;
  #tally = new SharedQueryMetrics([]);
  #short: InlineReads | undefined;
  #generation = -1;
  #schema = 0;
  #lastId = 0;
  #isClosed = false;
  #latest: ConfigureLane | undefined;
  #onReady: () => void = () => undefined;

  constructor(
    private readonly attachment: Attachment,
    private readonly shortReads?: ShortReadsOptions,
  ) {
    const { port } = attachment;
    this.#thread = new ReaderContext(attachment);
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    port.on('message', (message: ToAttached) => this.#receive(message));
    port.on('close', () => void this.#end());
  }

  #receive(message: ToAttached): void {
    switch (message.kind) {
      case 'equip':
        return void this.#equip(message);
      case 'index':
        return this.#thread.indexes.take(message);
      case 'release':
        return void this.#thread.release().then(() => this.#send({ kind: 'released' }));
      case 'reopen':
        return this.#thread.reopen();
      case 'answer':
        return this.#answered(message);
    }
  }

  /** Until the program is unpacked, its generation is not this thread's: calls are passed on. */
  async #equip(message: ConfigureLane): Promise<void> {
    this.#latest = message;
    this.#thread.equip(message);
    const { queries, schema: declared } = await unpackInTurns(message.program);
    if (this.#latest !== message || this.#isClosed) return;
    const { generation, schema } = message;
    this.#declared = declared;
    this.#queries = new Map(queries.map((query, place) => [query.name, { query, place }]));
    this.#count(queries.map(({ name }) => name));
    this.#generation = generation;
    this.#schema = schema;
    this.shortReads?.onProgram(queries);
    // Who waits for nothing may end.
    if (this.#waiting.size === 0) this.attachment.port.unref();
    this.#onReady();
  }

  /** Reads of the program are counted from now on, and their costs learned. */
  #count(names: readonly string[]): void {
    this.#tally = new SharedQueryMetrics(names);
    this.#send({ kind: 'tally', names, buffer: this.#tally.buffer });
    if (this.shortReads === undefined) return;
    const { isIdle } = this.shortReads;
    const { lanes } = this.attachment;
    // Lanes are the main thread's to start.
    const state = { isIdle, hasLane: () => true };
    this.#short = new InlineReads(state, lanes, this.#thread.equipment, this.#tally);
  }

  #send(message: FromAttached): void {
    this.attachment.port.postMessage(message);
  }

  #answered({ id, body, error }: { id: number; body?: Uint8Array; error?: ErrorData }): void {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.attachment.port.unref();
    if (error !== undefined) call?.reject(new TrellisError(error));
    else call?.resolve(body!);
  }

  call(name: string, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const entry = this.#queries.get(name);
    if (entry !== undefined && this.#isPresent && isReadable(entry.query)) {
      try {
        return this.#read(entry.query, entry.place, body);
      } catch (error) {
        // The other thread makes the call again when the reload is over.
        if (!isSchemaChanged(error)) throw error;
      }
    }
    return this.#forward(name, body);
  }

  get program(): { schema: Schema; queries: Query[] } {
    return {
      schema: this.#declared,
      queries: [...this.#queries.values()].map(({ query }) => query),
    };
  }

  /** Whether this thread's program is the one that answers, and its data file open. */
  get #isPresent(): boolean {
    return this.#thread.holds && this.#thread.gate.program() === this.#generation;
  }

  /**
   * What a read that is short answers; undefined when it is none, or cannot be made here at the
   * moment: nothing has been done then. Fails with what the read fails with.
   */
  readShort(name: string, body: Uint8Array, onWork: (cost: Cost) => void): Uint8Array | undefined {
    const entry = this.#queries.get(name);
    const short = this.#short;
    if (entry === undefined || short === undefined || !this.#isPresent) return undefined;
    const { query, place } = entry;
    const { plan } = query;
    if (!isReadable(query) || !short.allows(place, plan, body.length)) return undefined;
    const schema = this.#schema;
    const args = decodeCall(query, body, this.#thread.equipment);
    const budgetMs = this.#thread.equipment.limits.query_time;
    const input = { query: place, schema, body, args };
    try {
      const result = this.#thread.guard.run(schema, (view) =>
        short.run(view, plan, input, budgetMs, { onWork }),
      );
      return result?.body;
    } catch (error) {
      if (isSchemaChanged(error)) return undefined;
      throw error;
    }
  }

  /** What a read took that was made in a lane: it may be short again. */
  learn(name: string, micros: number): void {
    const entry = this.#queries.get(name);
    if (entry !== undefined) this.#short?.costs.learn(entry.place, micros);
  }

  /** The type of a query's reply. */
  replyOf(name: string): { schema: Schema; reply: ReplyType } | undefined {
    const entry = this.#queries.get(name);
    return entry && { schema: this.#declared, reply: entry.query.output };
  }

  #read(query: Query, place: number, body: Uint8Array): Uint8Array {
    const started = performance.now();
    const { plan } = query;
    const budgetMs = this.#thread.equipment.limits.query_time;
    const request = {
      plan,
      args: decodeCall(query, body, this.#thread.equipment),
      nowMicros: wallMs() * 1000,
      deadline: started + budgetMs,
      budgetMs,
      isCancelled: () => false,
    };
    const result = this.#thread.guard.run(this.#schema, (view) =>
      run(request, view, this.#thread.equipment),
    );
    const { rows = 0, visits = 0, body: answer } = result;
    this.#tally.recordCall(place, { micros: (performance.now() - started) * 1000, rows, visits });
    return answer;
  }

  #forward(name: string, body: Uint8Array): Promise<Uint8Array> {
    if (this.#isClosed) fail('SHUTTING_DOWN');
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.attachment.port.ref();
      this.#send({ kind: 'call', id, name, body });
    });
  }

  /** The other side is gone, or has closed the database. */
  async #end(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const error = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#onReady();
    if (this.#thread.holds) await this.#thread.release();
  }

  /** Lets go of the database; it goes on for all others. */
  async close(): Promise<void> {
    await this.#end();
    this.attachment.port.close();
  }
}

const isReadable = ({ plan }: Query): boolean => !plan.writes && plan.embeds.length === 0;
