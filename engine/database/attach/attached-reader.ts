// Reads a database on a thread that did not open it. Reads run on this thread, on its own LMDB snapshot and
// its view of the shared vector memory, without the messages that a reader lane needs. Writes, reads that
// need an embedding, and calls that meet a reload go to the opening thread.
//
// Invariant: a read runs here only with the program that the control block names as current, so that a reload
// takes effect on all threads at the same time. Its snapshot holds every write that was acknowledged before
// the call.
import { wallMs } from '../../base/clock.js';
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { emptySchema, type Schema } from '../../base/schema.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Query } from '../../plan/plan.js';
import type { CallOptions } from '../call/options.js';
import { unpackInSlices } from '../call/serialized-program.js';
import { decodeCall, run } from '../call/run-request.js';
import { InlineReads } from '../lane/inline-reads.js';
import type { InlineTurns } from '../call/inline-turns.js';
import type { ConfigureLane } from '../lane/message.js';
import { ReaderContext } from '../lane/reader-context.js';
import { SharedQueryMetrics } from '../metrics/shared-query-metrics.js';
import { isSchemaChanged } from '../schema/reload-retry.js';
import type { Attachment, FromAttached, ToAttached } from './attachment.js';

interface PendingReply {
  resolve: (body: Uint8Array) => void;
  reject: (error: TrellisError) => void;
}

/** Options of a thread that runs short reads only, and forwards all other calls itself. */
export interface ShortReadsOptions {
  /** Returns true while no forwarded call is running. */
  isIdle: () => boolean;
  /** Called when this thread has switched to another program. */
  onProgram: (queries: readonly Query[]) => void;
}

export class AttachedReader {
  /** Resolves when calls may be made. */
  readonly ready: Promise<void>;
  readonly #thread: ReaderContext;
  readonly #waiting = new Map<number, PendingReply>();
  #queries = new Map<string, { query: Query; index: number }>();
  #declared: Schema = emptySchema;
  #queryMetrics = new SharedQueryMetrics([]);
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
      case 'configure':
        return void this.#configure(message);
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

  /** Until the program is unpacked, this thread has an older generation, and forwards its calls. */
  async #configure(message: ConfigureLane): Promise<void> {
    this.#latest = message;
    this.#thread.configure(message);
    const { queries, schema: declared } = await unpackInSlices(message.program);
    if (this.#latest !== message || this.#isClosed) return;
    const { generation, schema } = message;
    this.#declared = declared;
    this.#queries = new Map(queries.map((query, index) => [query.name, { query, index }]));
    this.#count(queries.map(({ name }) => name));
    this.#generation = generation;
    this.#schema = schema;
    this.shortReads?.onProgram(queries);
    // An idle thread may end.
    if (this.#waiting.size === 0) this.attachment.port.unref();
    this.#onReady();
  }

  /** From now on, counts the reads of this program and learns their costs. */
  #count(names: readonly string[]): void {
    this.#queryMetrics = new SharedQueryMetrics(names);
    this.#send({ kind: 'metrics', names, buffer: this.#queryMetrics.buffer });
    if (this.shortReads === undefined) return;
    const { isIdle } = this.shortReads;
    const { lanes } = this.attachment;
    // Only the main thread starts lanes.
    const state = { isIdle, hasLane: () => true };
    this.#short = new InlineReads(state, lanes, this.#thread.services, this.#queryMetrics);
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
        return this.#read(entry.query, entry.index, body);
      } catch (error) {
        // The opening thread repeats the call after the reload.
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

  /** True if this thread has the current program, and has the data file open. */
  get #isPresent(): boolean {
    return this.#thread.holds && this.#thread.control.program() === this.#generation;
  }

  /**
   * Runs a short read and returns its reply. Returns undefined, without side effects, when the query is not a
   * short read or cannot run here now. Fails as the read fails.
   */
  readShort(
    name: string,
    body: Uint8Array,
    { onWork, caller }: Pick<CallOptions, 'onWork' | 'caller'>,
  ): Uint8Array | undefined {
    const entry = this.#queries.get(name);
    const short = this.#short;
    if (entry === undefined || short === undefined || !this.#isPresent) return undefined;
    const { query, index } = entry;
    const { plan } = query;
    if (!isReadable(query) || !short.allows(index, plan, body.length)) return undefined;
    const schema = this.#schema;
    const args = decodeCall(query, body, this.#thread.services);
    const budgetMs = this.#thread.services.limits.query_time;
    const input = { query: index, schema, body, args };
    try {
      const result = this.#thread.guard.run(schema, (view) =>
        short.run(view, plan, input, budgetMs, { onWork, caller }),
      );
      return result?.body;
    } catch (error) {
      if (isSchemaChanged(error)) return undefined;
      throw error;
    }
  }

  /** Shares of the callers of short reads, or undefined before the first program. */
  get turns(): InlineTurns | undefined {
    return this.#short?.turns;
  }

  /** Records the time of a read that ran in a lane. If it was short, the next one may run here. */
  learn(name: string, micros: number): void {
    const entry = this.#queries.get(name);
    if (entry !== undefined) this.#short?.costs.learn(entry.index, micros);
  }

  /** Returns the reply type of a query, or undefined for an unknown query. */
  replyOf(name: string): { schema: Schema; reply: ReplyType } | undefined {
    const entry = this.#queries.get(name);
    return entry && { schema: this.#declared, reply: entry.query.output };
  }

  #read(query: Query, index: number, body: Uint8Array): Uint8Array {
    const started = performance.now();
    const { plan } = query;
    const budgetMs = this.#thread.services.limits.query_time;
    const request = {
      plan,
      args: decodeCall(query, body, this.#thread.services),
      nowMicros: wallMs() * 1000,
      deadline: started + budgetMs,
      budgetMs,
      isCancelled: () => false,
    };
    const result = this.#thread.guard.run(this.#schema, (view) =>
      run(request, view, this.#thread.services),
    );
    const { rows = 0, visits = 0, body: answer } = result;
    this.#queryMetrics.recordCall(index, {
      micros: (performance.now() - started) * 1000,
      rows,
      visits,
    });
    return answer;
  }

  #forward(name: string, body: Uint8Array): Promise<Uint8Array> {
    if (this.#isClosed) fail('DATABASE_CLOSED');
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.attachment.port.ref();
      this.#send({ kind: 'call', id, name, body });
    });
  }

  /** The opening thread has ended or has closed the database. */
  async #end(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const error = new TrellisError({ code: 'DATABASE_CLOSED', args: {} });
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#onReady();
    if (this.#thread.holds) await this.#thread.release();
  }

  /** Detaches this thread. The database stays open for all others. */
  async close(): Promise<void> {
    await this.#end();
    this.attachment.port.close();
  }
}

const isReadable = ({ plan }: Query): boolean => !plan.writes && plan.embeds.length === 0;
