// Opens a database: data directory, storage, writer lane (schema, recovery), reader lanes. Implements the Database face.
// The calling thread owns admission: it knows the program, judges the cost of calls, and never writes LMDB itself.
import { join } from 'node:path';
import { TrellisError, fail } from '../base/errors.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/execute.js';
import { collectTexts } from '../exec/run.js';
import type { EmbedSite, Plan, Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import { type DataDirectory, openDataDirectory } from '../storage/manifest.js';
import { type RefreshableView, type Storage, openStorage } from '../storage/open.js';
import type { ReadView } from '../storage/store.js';
import { createTextIndex } from '../text/text-index-lmdb.js';
import type { IndexHandle } from '../vector/index.js';
import { attachVectorIndex } from '../vector/open.js';
import { type Call, CallQueue } from './call.js';
import { CostBook } from './cost.js';
import type { CallOptions, Database, DatabaseOptions, DatabaseStatus } from './database.js';
import { Dispatcher } from './dispatcher.js';
import { Gate, SlotPool, createGateBuffer } from './gate.js';
import { Lane } from './lane.js';
import type { FromLane, LaneFault, Replies } from './message.js';
import { pack } from './pack.js';
import { ThreadPair } from './pool.js';
import { type Equipment, decodeCall, run } from './runner.js';
import { DiskWatch } from './watch.js';

/** Calls in flight at the writer; more wait here, so that a slow commit shows as a full queue. */
const writerFlightMax = 4096;

/** Opens everything; resolves when calls may be made. `onStatus` hears phases while opening. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const directory = openDataDirectory(options.dataDir, { readOnly: options.readOnly });
  let database: OpenedDatabase | undefined;
  try {
    database = new OpenedDatabase(options, directory);
    await database.start();
    return database;
  } catch (error) {
    await database?.abandon();
    directory.close({ clean: false });
    throw error;
  }
}

interface Pending {
  resolve: () => void;
  reject: (error: TrellisError) => void;
}

class OpenedDatabase implements Database {
  program: Program;
  #queries = new Map<string, { query: Query; index: number }>();
  #phase: DatabaseStatus['phase'] = 'opening';
  #progress = 0;
  #readOnlyReason: string | undefined;
  #lastId = 0;
  #writerEnded = false;
  readonly #pending = new Map<number, Pending>();
  readonly #handles = new Map<number, IndexHandle>();
  readonly #gate = new Gate(createGateBuffer());
  readonly #slots = new SlotPool(this.#gate);
  readonly #storage: Storage;
  #view: RefreshableView;
  readonly #equipment: Equipment;
  readonly #threads: ThreadPair;
  readonly #dispatcher: Dispatcher;
  readonly #writeQueue = new CallQueue();
  readonly #costs = new CostBook();
  readonly #disk: DiskWatch;
  #writer: Lane | undefined;
  readonly #counts = { writes: 0, reads: 0, inline: 0, timeouts: 0 };

  constructor(
    private readonly options: DatabaseOptions,
    private readonly directory: DataDirectory,
  ) {
    this.program = options.program;
    const { limits } = options;
    this.#storage = openStorage(this.#graphPath, { limits, mode: 'create' });
    this.#view = this.#storage.reader();
    this.#equipment = {
      queries: [],
      limits,
      strict: options.strictMembers,
      text: options.textEnabled ? createTextIndex(limits) : undefined,
      vectors: new Map(),
    };
    this.#threads = new ThreadPair(options.workers, options.workerHeapMb);
    this.#dispatcher = new Dispatcher(this.#gate, this.#slots, {
      count: options.workers,
      queueMax: limits.read_queue,
      start: (onEnd) =>
        this.#threads.startReader(
          {
            role: 'reader',
            gate: this.#gate.buffer,
            graphPath: this.#graphPath,
            limits,
            textEnabled: options.textEnabled,
            strict: options.strictMembers,
          },
          onEnd,
        ),
      equip: () => ({ kind: 'equip', program: pack(this.program), indexes: this.#handleList() }),
      onSettled: (call, micros) => this.#costs.learn(call.query, micros),
      onRestart: (reason) => options.log('error', 'a reader was replaced', { reason }),
    });
    this.#disk = new DiskWatch(this.#graphPath, options.minFreeBytes, {
      onLost: () => {
        this.#phase = 'lost';
        options.log('error', 'the data file is gone');
      },
    });
    if (options.readOnly) this.#readOnlyReason = 'the configuration says so';
  }

  get #graphPath(): string {
    return join(this.options.dataDir, 'graph');
  }

  #handleList(): { label: number; handle: IndexHandle }[] {
    return [...this.#handles].map(([label, handle]) => ({ label, handle }));
  }

  /** Gives up opening: ends the threads. */
  async abandon(): Promise<void> {
    this.#phase = 'stopping';
    this.#dispatcher.close();
    await this.#threads.close();
    this.#storage.close();
  }

  async start(): Promise<void> {
    this.#phase = 'replaying';
    await this.#startWriter();
    this.#adopt(this.program);
    await this.#dispatcher.start();
    await this.#disk.start();
    this.#phase = 'serving';
  }

  #startWriter(): Promise<void> {
    const { options } = this;
    return new Promise((resolve, reject) => {
      const port = this.#threads.startWriter(
        {
          role: 'writer',
          gate: this.#gate.buffer,
          graphPath: this.#graphPath,
          limits: options.limits,
          textEnabled: options.textEnabled,
          strict: options.strictMembers,
          program: pack(this.program),
          vectors: {
            folder: join(options.dataDir, 'vec'),
            dbUuid: this.directory.dbUuid,
            default: options.vectors.default,
            types: options.vectors.types,
            snapshot: options.snapshot,
          },
          failpoint: options.failpoint,
        },
        (error, fault) => {
          if (fault) reject(restoreError(fault));
          else this.#onWriterEnd(error);
        },
      );
      this.#writer = new Lane(port, this.#gate, this.#slots, {
        onSettled: () => this.#feedWriter(),
        onMessage: (message) => {
          if (message.kind === 'ready') {
            this.#takeHandles(message.indexes);
            resolve();
          } else this.#onWriterMessage(message);
        },
      });
    });
  }

  #onWriterMessage(message: Exclude<FromLane, Replies>): void {
    switch (message.kind) {
      case 'progress':
        this.#progress = message.progress;
        return;
      case 'index':
        this.#takeHandles([message]);
        return this.#dispatcher.broadcast(message);
      case 'readOnly':
        this.#readOnlyReason = message.reason;
        return this.options.log('error', 'writing has stopped', { reason: message.reason });
      case 'log':
        return this.options.log(message.level, message.message, message.fields);
      case 'done': {
        if (message.indexes) this.#takeHandles(message.indexes);
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (message.error) pending?.reject(new TrellisError(message.error));
        else pending?.resolve();
        return;
      }
      default:
    }
  }

  #onWriterEnd(error?: Error): void {
    this.#writerEnded = true;
    if (this.#phase === 'stopping') return;
    this.#readOnlyReason = 'the writer has ended';
    this.options.log('error', 'the writer has ended', { reason: error?.message });
    this.#writer?.abandon({ code: 'READ_ONLY', args: { reason: this.#readOnlyReason } });
  }

  #takeHandles(list: readonly { label: number; handle: IndexHandle }[]): void {
    for (const { label, handle } of list) {
      this.#handles.set(label, handle);
      this.#equipment.vectors.set(label, attachVectorIndex(handle));
    }
  }

  /** Makes a program the current one on this thread. */
  #adopt(program: Program): void {
    this.program = program;
    this.#storage.reloadCatalog();
    this.#view = this.#storage.reader();
    this.#equipment.queries = program.queries;
    this.#queries = new Map(program.queries.map((query, index) => [query.name, { query, index }]));
    this.#costs.reset();
  }

  call(
    name: string,
    body: Uint8Array,
    options: CallOptions = {},
  ): Uint8Array | Promise<Uint8Array> {
    const entry = this.#queries.get(name);
    if (entry === undefined) fail('NOT_FOUND', { name, kind: 'Query' });
    const { query, index } = entry;
    const { plan } = query;
    if (plan.embeds.length > 0) return this.#callEmbedding(query, index, body, options);
    if (!plan.writes && this.#mayInline(index, plan, body.length)) {
      return this.#inline(plan, decodeCall(query, body, this.#equipment), undefined, index, options)
        .body;
    }
    return new Promise((resolve, reject) => {
      const call = this.#callOf(plan, body, options, ({ body }) => resolve(body), reject);
      call.query = index;
      this.#submit(call, options);
    });
  }

  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options: CallOptions = {},
  ): ExecutionResult | Promise<ExecutionResult> {
    if (plan.embeds.length > 0) return this.#runEmbedding(plan, args, items, options);
    if (!plan.writes && this.#mayInline(-1, plan, 0)) {
      return this.#inline(plan, args, items, -1, options);
    }
    return this.#runInLane(plan, args, items, undefined, options);
  }

  #runInLane(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    embeddings: [string, Float64Array][] | undefined,
    options: CallOptions,
  ): Promise<ExecutionResult> {
    return new Promise((resolve, reject) => {
      const call = this.#callOf(plan, new Uint8Array(0), options, resolve, reject);
      call.plan = pack(plan);
      call.args = pack(args);
      call.items = items;
      call.embeddings = embeddings;
      this.#submit(call, options);
    });
  }

  async #runEmbedding(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options: CallOptions,
  ): Promise<ExecutionResult> {
    const started = performance.now();
    const { limits } = this.options;
    const budgetMs = options.budgetMs ?? (plan.writes ? limits.write_time : limits.query_time);
    const embeddings = await this.#embedAll(plan, args, started + budgetMs);
    const rest = { ...options, budgetMs: budgetMs - (performance.now() - started) };
    return this.#runInLane(plan, args, items, embeddings, rest);
  }

  #mayInline(index: number, plan: Plan, bytes: number): boolean {
    return this.options.workers === 0 || this.#costs.mayInline(index, plan.cost, bytes);
  }

  #inline(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    index: number,
    options: CallOptions,
  ): ExecutionResult {
    this.#checkAlive();
    const started = performance.now();
    const budgetMs = options.budgetMs ?? this.options.limits.query_time;
    if (this.#gate.moved()) this.#view.refresh();
    this.#counts.inline++;
    try {
      return run(
        {
          plan,
          args,
          items,
          nowMicros: (performance.timeOrigin + started) * 1000,
          deadline: started + budgetMs,
          budgetMs,
          isCancelled: never,
        },
        this.#view,
        this.#equipment,
      );
    } finally {
      this.#costs.spend(index, (performance.now() - started) * 1000);
    }
  }

  #callOf(
    plan: Plan,
    body: Uint8Array,
    options: CallOptions,
    resolve: Call['resolve'],
    reject: Call['reject'],
  ): Call {
    const { limits } = this.options;
    const budgetMs = options.budgetMs ?? (plan.writes ? limits.write_time : limits.query_time);
    return {
      query: -1,
      body,
      cost: plan.writes ? 'W' : plan.cost,
      deadline: performance.now() + budgetMs,
      budgetMs,
      slot: -1,
      settled: false,
      resolve,
      reject,
    };
  }

  #submit(call: Call, options: CallOptions): void {
    try {
      this.#checkAlive();
      if (call.cost === 'W') this.#submitWrite(call);
      else if (this.options.workers > 0) this.#dispatcher.submit(call);
      else fail('OVERLOADED', { queue: 'A database without readers' });
      options.onCancellable?.(() => this.#dispatcher.cancel(call));
    } catch (error) {
      call.settled = true;
      call.reject(error as TrellisError);
    }
  }

  #submitWrite(call: Call): void {
    if (this.#readOnlyReason !== undefined) fail('READ_ONLY', { reason: this.#readOnlyReason });
    this.#disk.checkRoom();
    const { write_queue, write_queue_bytes } = this.options.limits;
    if (this.#writeQueue.length >= write_queue || this.#writeQueue.bytes >= write_queue_bytes) {
      fail('OVERLOADED', { queue: 'The write queue' });
    }
    this.#counts.writes++;
    this.#writeQueue.push(call);
    this.#feedWriter();
  }

  #feedWriter(): void {
    const writer = this.#writer!;
    while (this.#writeQueue.length > 0 && writer.inFlight < writerFlightMax) {
      const call = this.#writeQueue.shift()!;
      if (!call.settled) writer.submit(call);
    }
  }

  #checkAlive(): void {
    if (this.#phase === 'serving') return;
    if (this.#phase === 'lost') fail('STORAGE_LOST');
    if (this.#phase === 'stopping') fail('SHUTTING_DOWN');
    fail('NOT_READY', { phase: this.#phase, progress: Math.floor(this.#progress) });
  }

  async #callEmbedding(
    query: Query,
    index: number,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { plan } = query;
    const started = performance.now();
    const { limits } = this.options;
    const budgetMs = options.budgetMs ?? (plan.writes ? limits.write_time : limits.query_time);
    const args = decodeCall(query, body, this.#equipment);
    const embeddings = await this.#embedAll(plan, args, started + budgetMs);
    const rest = { ...options, budgetMs: budgetMs - (performance.now() - started) };
    return new Promise((resolve, reject) => {
      const call = this.#callOf(plan, body, rest, (result) => resolve(result.body), reject);
      call.query = index;
      call.embeddings = embeddings;
      if (!plan.writes && this.options.workers === 0) {
        resolve(this.#inlineEmbedded(plan, args, embeddings, rest).body);
      } else this.#submit(call, rest);
    });
  }

  #inlineEmbedded(
    plan: Plan,
    args: readonly Argument[],
    embeddings: [string, Float64Array][],
    options: CallOptions,
  ): ExecutionResult {
    const started = performance.now();
    if (this.#gate.moved()) this.#view.refresh();
    const budgetMs = options.budgetMs!;
    const request = {
      plan,
      args,
      embeddings: new Map(embeddings),
      nowMicros: (performance.timeOrigin + started) * 1000,
      deadline: started + budgetMs,
      budgetMs,
      isCancelled: never,
    };
    return run(request, this.#view, this.#equipment);
  }

  /** Embeds the texts of a plan, one batch per model. */
  async #embedAll(
    plan: Plan,
    args: readonly Argument[],
    deadline: number,
  ): Promise<[string, Float64Array][]> {
    const byModel = new Map<string | undefined, EmbedSite[]>();
    for (const site of plan.embeds) {
      const model = this.#modelOf(plan.model, site.type);
      byModel.set(model, [...(byModel.get(model) ?? []), site]);
    }
    const result: [string, Float64Array][] = [];
    for (const [model, embeds] of byModel) {
      const texts = [...new Set(collectTexts({ ...plan, embeds }, args))];
      const vectors = await this.options.embedder.embed(model, texts, deadline);
      for (let i = 0; i < texts.length; i++) result.push([texts[i]!, vectors[i]!]);
    }
    return result;
  }

  #modelOf(own: string | undefined, type: string | undefined): string | undefined {
    const ofType =
      type === undefined ? undefined : this.options.vectors.types[type]?.embeddingModel;
    return own ?? ofType ?? this.options.embeddingModel;
  }

  embed(
    model: string | undefined,
    vectorType: string | undefined,
    texts: readonly string[],
    budgetMs: number,
  ): Promise<Float64Array[]> {
    const deadline = performance.now() + budgetMs;
    return this.options.embedder.embed(this.#modelOf(model, vectorType), texts, deadline);
  }

  view<T>(look: (view: ReadView) => T): T {
    this.#checkAlive();
    if (this.#gate.moved()) this.#view.refresh();
    return look(this.#view);
  }

  /** Sends the writer an order and waits for its `done`. */
  #order(
    message:
      | { kind: 'reload'; program: unknown }
      | { kind: 'snapshot' }
      | { kind: 'close'; snapshot: boolean },
  ): Promise<void> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#writer!.post({ ...message, id });
    });
  }

  async reload(program: Program): Promise<void> {
    for (const call of this.#writeQueue.drain()) this.#writer!.submit(call);
    // The lane's batch of this turn must leave before the order to reload.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#order({ kind: 'reload', program: pack(program) });
    this.#dispatcher.flush();
    await new Promise((resolve) => setImmediate(resolve));
    this.#adopt(program);
    this.#dispatcher.broadcast({
      kind: 'equip',
      program: pack(program),
      indexes: this.#handleList(),
    });
  }

  snapshot(): Promise<void> {
    return this.#order({ kind: 'snapshot' });
  }

  status(): DatabaseStatus {
    const phase = this.#disk.isLost ? 'lost' : this.#phase;
    const reason = this.#readOnlyReason ?? this.#disk.shortage;
    const writes = reason === undefined && phase === 'serving';
    return { phase, progress: this.#progress, writes, readOnlyReason: reason };
  }

  metrics(): { name: string; labels?: Record<string, string>; value: number }[] {
    const list: { name: string; labels?: Record<string, string>; value: number }[] = [
      { name: 'workers', value: this.options.workers },
      {
        name: 'worker_restarts_total',
        labels: { reason: 'ended' },
        value: this.#dispatcher.restarts,
      },
      { name: 'queue_depth', labels: { lane: 'read' }, value: this.#dispatcher.queued },
      { name: 'queue_depth', labels: { lane: 'write' }, value: this.#writeQueue.length },
      { name: 'inline_reads_total', value: this.#counts.inline },
      { name: 'writes_total', value: this.#counts.writes },
      { name: 'committed_seq', value: this.#storage.committedSeq() },
      ...this.#disk.metrics(),
    ];
    for (const label of this.#view.catalog.labels()) {
      const labels = { kind: label.kind, type: label.name };
      list.push({ name: 'elements', labels, value: this.#view.count(label.id) });
      const index = this.#equipment.vectors.get(label.id);
      if (index) list.push({ name: 'vectors', labels: { type: label.name }, value: index.count });
    }
    return list;
  }

  async close(options: { snapshot?: boolean } = {}): Promise<void> {
    if (this.#phase === 'stopping') return;
    const clean = !this.#disk.isLost && this.#readOnlyReason === undefined;
    for (const call of this.#writeQueue.drain()) this.#writer!.submit(call);
    await new Promise((resolve) => setImmediate(resolve));
    this.#phase = 'stopping';
    this.#disk.stop();
    if (!this.#writerEnded)
      await this.#order({ kind: 'close', snapshot: options.snapshot ?? true });
    this.#dispatcher.close();
    await this.#threads.close();
    this.#storage.close();
    this.directory.close({ clean });
  }
}

const never = (): boolean => false;

function restoreError({ error, stack }: LaneFault): TrellisError {
  const restored = new TrellisError(error);
  if (stack !== undefined) restored.stack = stack;
  return restored;
}
