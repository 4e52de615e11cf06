// Implements `Database`: opens the data directory, the storage and the lanes, and connects them. Owns the
// order in which parts open and close; lifecycle.ts holds the state. The main thread never writes LMDB
// itself.
import { join } from 'node:path';
import { type ErrorData, fail } from '../base/errors.js';
import type { DatabaseSample } from './metrics/definitions.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/runtime/execute.js';
import type { ClusterNode } from '../cluster/node.js';
import type { SourceArchive } from '../cluster/options.js';
import type { Plan } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import { type DataDirectory, openDataDirectory } from '../storage/folder/manifest.js';
import { type SchemaPreview, type Storage, openStorage } from '../storage/open-storage.js';
import { takenReason } from '../storage/lock/write-fence.js';
import type { ReadView } from '../storage/table/view-types.js';
import { createTextIndex } from '../text/text-index.js';
import type { Attachment } from './attach/attachment.js';
import { AttachHost } from './attach/attach-host.js';
import { AttachedIndexes } from './vectors/attached-index.js';
import { backUp } from './maintenance/backup.js';
import { CallRouter } from './call-router.js';
import type { Database, DatabaseStatus } from './database.js';
import type { AheadCall, CallOptions, DatabaseOptions } from './call/options.js';
import { Dispatcher, loadMax } from './lane/dispatcher.js';
import type { IndexInfo } from './vectors/index-list.js';
import { InlineReads } from './lane/inline-reads.js';
import type { Recall, RecallRequest } from './vectors/recall.js';
import { ControlBlock, SlotPool, createControlBuffer } from './call/control-block.js';
import type { ConfigureLane, FromWriter } from './lane/message.js';
import { LoadRegistry, type LoadName } from './load/load-registry.js';
import type { BulkLoad } from './load/load-run.js';
import { WriterMetrics, createWriterMetricsBuffer } from './metrics/writer-metrics.js';
import { databaseMetrics } from './collect-metrics.js';
import { pack } from './call/serialize-plan.js';
import { packProgram } from './call/serialized-program.js';
import { Lifecycle } from './lifecycle.js';
import { type RemainingCheck, BackgroundCheck, probe } from './maintenance/background-check.js';
import { ProgramVersions } from './program-versions.js';
import { QueryMetrics } from './metrics/query-metrics.js';
import { ThreadPool } from './lane/thread-pool.js';
import { indexOf } from './call/query-table.js';
import type { ExecutorServices } from './call/run-request.js';
import { ClusterCoordinator, detachFromCluster } from './replication/cluster-coordinator.js';
import { ReloadRetry } from './schema/reload-retry.js';
import { SchemaGuard } from './schema/schema-guard.js';
import { ModelServices } from './model-services.js';
import type { ReembedJobs } from './reembed/reembed-jobs.js';
import { embedRows } from './text-embedding.js';
import { vectorSetup } from './vectors/vector-setup.js';
import { VectorStatus } from './vectors/vector-status.js';
import { MemoryWatch } from './maintenance/memory-watch.js';
import { DiskMonitor } from './maintenance/disk-monitor.js';
import { hasFailed, reopen } from './reopen-after-failure.js';
import { statusOf } from './status.js';
import { WriterClient, flightMax } from './lane/writer-client.js';

/** Opens everything. Resolves when calls may be made. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const directory = openDataDirectory(options.dataDir, { readOnly: options.readOnly });
  let database: DatabaseImpl | undefined;
  try {
    const later = await probe(options, directory);
    database = new DatabaseImpl(options, directory, later);
    await database.start();
    return database;
  } catch (error) {
    await database?.abandon();
    directory.close({ clean: false });
    throw error;
  }
}

class DatabaseImpl implements Database {
  program: Program;
  readonly #versions: ProgramVersions;
  readonly #lifecycle = new Lifecycle();
  readonly #check: BackgroundCheck;
  readonly #control: ControlBlock;
  readonly #storage: Storage;
  readonly #indexes = new AttachedIndexes();
  readonly #vectors = new VectorStatus(this.#indexes.byLabel, (read) => this.view(read));
  readonly #services: ExecutorServices;
  readonly #threads: ThreadPool;
  readonly #dispatcher: Dispatcher;
  readonly #writer: WriterClient;
  readonly #loads: LoadRegistry;
  readonly #attached: AttachHost;
  readonly #inline: InlineReads;
  readonly #admission: CallRouter;
  readonly #guard: SchemaGuard;
  readonly #reloads = new ReloadRetry();
  readonly #metrics = new QueryMetrics();
  readonly #writerMetrics = new WriterMetrics(createWriterMetricsBuffer());
  readonly #disk: DiskMonitor;
  readonly #cluster: ClusterCoordinator | undefined;
  readonly #models: ModelServices;
  /** Running backups of the open store. */
  readonly #copies = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(
    private readonly options: DatabaseOptions,
    private readonly directory: DataDirectory,
    later: RemainingCheck | undefined,
  ) {
    const { limits, workers, cluster } = options;
    this.#loads = new LoadRegistry(limits.import_idle);
    this.#control = new ControlBlock(createControlBuffer(flightMax + workers * loadMax));
    const slots = new SlotPool(this.#control);
    const { notes } = this.#control;
    this.#storage = openStorage(this.#graphPath, { limits, mode: 'create', notes });
    if (cluster === undefined && !options.readOnly) detachFromCluster(this.#storage);
    this.#cluster = cluster && new ClusterCoordinator(cluster, this.#storage, directory, options);
    this.program = this.#cluster?.program ?? options.program;
    this.#versions = new ProgramVersions(this.program);
    this.#check = new BackgroundCheck(this.#storage.env, later, (damage) => {
      this.#lifecycle.lose({ damage });
      this.#control.setProgram(none);
    });
    this.#guard = new SchemaGuard(this.#control, this.#storage);
    this.#services = {
      limits,
      strict: options.strictMembers,
      text: options.textEnabled ? createTextIndex(limits, options.textLanguage) : undefined,
      vectors: this.#indexes.byLabel,
    };
    this.#dispatcher = this.#makeDispatcher(slots);
    this.#inline = new InlineReads(this.#dispatcher, workers, this.#services, this.#metrics);
    this.#models = new ModelServices(options, {
      view: (read) => this.view(read),
      execute: (command) => this.#writer.execute({ kind: 'reembed', command }),
      node: () => this.cluster,
    });
    this.#threads = new ThreadPool(options.workerHeapMb, this.#control);
    this.#writer = new WriterClient(this.#control, slots, limits, {
      onIndexes: (list) => this.#indexes.takeAll(list),
      onNewIndex: (message) => {
        this.#indexes.take(message);
        this.#dispatcher.broadcast(message);
        this.#attached.broadcast(message);
      },
      onBuild: (message) => this.#broadcastBuild(message),
      onSnapshot: (info) => this.#vectors.noteSnapshot(info),
      onSettled: (call, cost) => this.#metrics.returned(indexOf(call.query), call, cost),
      onSources: (sources) =>
        void this.#cluster!.applySources(sources, (next) => this.#follow(next)),
      onMark: (mark, position) => this.#cluster!.onMark(mark, position),
      onClusterError: (error) => this.#cluster!.node.setFault(error),
      refusal: () => this.#cluster?.node.refusal,
      onRoom: (shortage, errno) => this.#disk.noteRoom(shortage, errno, this.#metrics),
      onStopped: (reason, errno) => {
        if (!this.#disk.noteStop(reason, errno, this.#metrics)) void this.#reopen();
      },
      onProgress: (progress, phase) => {
        this.#lifecycle.progress = progress;
        options.onProgress?.(progress, phase);
      },
      log: options.log,
    });
    this.#disk = this.#makeDiskMonitor();
    directory.onLost(() => this.#disk.lose(takenReason));
    if (options.readOnly) this.#writer.readOnlyReason = 'the configuration says so';
    this.#admission = this.#makeAdmission();
    this.#attached = new AttachHost({
      setup: { control: this.#control.buffer, lanes: workers, ...this.#laneSetup() },
      configuration: () => this.#configuration(),
      call: (name, body) => this.call(name, body),
      queryMetrics: this.#metrics,
    });
  }

  #makeDiskMonitor(): DiskMonitor {
    const onLost = (reason: string): void => {
      this.#control.setProgram(none);
      this.options.log('error', reason);
    };
    return new DiskMonitor(this.options, this.#lifecycle, onLost, () => this.#storage.usage());
  }

  #makeDispatcher(slots: SlotPool): Dispatcher {
    const { options } = this;
    const setup = { role: 'reader' as const, control: this.#control.buffer, ...this.#laneSetup() };
    return new Dispatcher(this.#control, slots, {
      count: options.workers,
      queueMax: options.limits.read_queue,
      start: (onEnd) => this.#threads.startReader(setup, onEnd),
      configuration: () => ({ ...this.#configuration(), earlier: this.#versions.earlier }),
      onSettled: (call, cost) => {
        this.#inline.costs.learn(indexOf(call.query), cost.micros);
        this.#metrics.returned(indexOf(call.query), call, cost);
      },
      onReady: () => this.#threads.unref(),
      onRestart: (reason) => options.log('error', 'a reader was replaced', { reason }),
    });
  }

  #makeAdmission(): CallRouter {
    return new CallRouter({
      limits: this.options.limits,
      isInlineOnly: this.options.workers === 0,
      services: this.#services,
      guard: this.#guard,
      inline: this.#inline,
      dispatcher: this.#dispatcher,
      writer: this.#writer,
      disk: this.#disk,
      memory: new MemoryWatch(this.options.processBytes),
      queryMetrics: this.#metrics,
      models: this.#models.choice,
      checkAlive: () => this.#lifecycle.checkServing(),
    });
  }

  #laneSetup() {
    const { limits, textEnabled, textLanguage, strictMembers } = this.options;
    const graphPath = this.#graphPath;
    return { graphPath, limits, textEnabled, textLanguage, strict: strictMembers };
  }

  get #graphPath(): string {
    return join(this.options.dataDir, 'graph');
  }

  async start(): Promise<void> {
    this.#lifecycle.apply('replay');
    await this.#cluster?.node.begun;
    await this.#writer.start(this.#threads, {
      role: 'writer',
      control: this.#control.buffer,
      writerMetrics: this.#writerMetrics.buffer,
      ...this.#laneSetup(),
      program: this.#versions.packed,
      lock: this.directory.lock,
      readOnlyReason: this.#writer.readOnlyReason,
      vectors: vectorSetup(this.options, this.directory.dbUuid),
      failpoint: this.options.failpoint,
      shard: this.options.shard,
      cluster: this.#cluster?.logClientSetup(this.options.limits),
    });
    this.#cluster?.attach({
      execute: (command) => this.#writer.execute(command),
      read: (words) => this.#threads.hashTables(this.#graphPath, words),
    });
    this.#threads.unref();
    this.#applyProgram(this.program, this.#control.schema());
    await this.#disk.start();
    this.#dispatcher.broadcast(this.#configuration());
    this.#lifecycle.apply('serve');
    this.#models.begin();
  }

  #configuration(): ConfigureLane {
    const { generation, packed: program } = this.#versions;
    const { schema } = this.#guard;
    const indexes = this.#indexes.handles();
    return { kind: 'configure', program, generation, schema, indexes };
  }

  #broadcastBuild(message: Extract<FromWriter, { kind: 'build' }>): void {
    if (this.#lifecycle.isStopping) return;
    this.#indexes.take(message);
    this.#dispatcher.growFully(message);
  }

  /** After a failed commit, restores reads, if necessary by opening the file again. */
  async #reopen(): Promise<void> {
    if (!this.#lifecycle.is('serving') || !hasFailed(this.#storage)) return;
    this.#lifecycle.apply('reopen');
    this.#control.setProgram(none);
    if (!(await reopen(this.#storage, this.#writer, this.#dispatcher, this.#attached)))
      return this.#disk.lose('the data file cannot be read any more');
    this.#guard.configure(this.#guard.schema);
    if (!this.#lifecycle.is('reopening')) return;
    this.#lifecycle.apply('serve');
    this.#control.setProgram(this.#versions.generation);
  }

  /** Makes a program the current one on this thread. */
  #applyProgram(program: Program, schema: number): void {
    this.program = program;
    this.#guard.configure(schema);
    this.#admission.applyProgram(program, this.#versions.generation);
    this.#control.setProgram(this.#versions.generation);
  }

  /** Stops opening and ends the threads. */
  async abandon(): Promise<void> {
    this.#lifecycle.apply('stop');
    this.#check.stop();
    this.#dispatcher.close();
    await this.#threads.close();
    await this.#cluster?.node.close();
    this.#storage.close();
  }

  call(
    name: string,
    body: Uint8Array,
    options: CallOptions = {},
  ): Uint8Array | Promise<Uint8Array> {
    return this.#reloads.retryAcrossReload(() => this.#admission.call(name, body, options), bodyOf);
  }

  readDirectly(name: string, args: object): Uint8Array | undefined {
    return this.#admission.readDirectly(name, args);
  }

  refusal(name: string, bytes: number, caller?: CallOptions['caller']): ErrorData | undefined {
    if (!this.#lifecycle.is('serving')) return undefined;
    return this.#admission.refusal(name, bytes, caller);
  }

  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options: CallOptions = {},
  ): ExecutionResult | Promise<ExecutionResult> {
    return this.#reloads.failAcrossReload(() => this.#admission.run(plan, args, items, options));
  }

  embed(...call: Parameters<Database['embed']>): Promise<Float64Array[]> {
    this.#lifecycle.checkServing();
    return this.#admission.embed(...call);
  }

  embedAhead(call: AheadCall, budgetMs: number): Promise<Uint8Array> | undefined {
    return this.#admission.embedAhead(call, budgetMs);
  }

  view<T>(read: (view: ReadView) => T): T {
    this.#lifecycle.checkServing();
    return this.#guard.read(read);
  }

  backUp(to: string): Promise<{ bytes: number }> {
    this.#lifecycle.checkServing();
    const copy = backUp(this.#storage.env, this.options.dataDir, to, this.#threads.backUp);
    this.#copies.add(copy);
    return copy.finally(() => this.#copies.delete(copy));
  }

  load(name?: string, options: Omit<LoadName, 'name'> = {}): BulkLoad {
    this.#lifecycle.checkServing();
    const setup = { role: 'loader' as const, ...this.#laneSetup() };
    const loadOptions = { ...options, name, isExclusive: options.isExclusive && !this.#cluster };
    return this.view((view) =>
      this.#loads.begin(loadOptions, view, {
        start: (onEnd) =>
          this.#threads.startLoader(setup, (error) => {
            if (error) this.options.log('error', 'a loader has ended', { reason: error.message });
            onEnd(error);
          }),
        execute: (command) => this.#writer.execute({ kind: 'load', command }),
        embed: (texts) => embedRows(this.#models.choice, texts, this.options.limits.write_time),
        checkRoom: () => {
          this.#lifecycle.checkServing();
          const { readOnlyReason: reason } = this.#writer;
          if (reason !== undefined) fail('READ_ONLY', { reason });
          this.#disk.checkRoom();
        },
      }),
    );
  }

  get reembeds(): ReembedJobs {
    return this.#models.jobs;
  }

  get cluster(): ClusterNode | undefined {
    return this.#cluster?.node;
  }

  async reload(program: Program, archive?: SourceArchive): Promise<void> {
    this.#lifecycle.checkServing();
    const sources = this.#cluster?.sourcesOf(archive);
    await this.#swap(program, sources);
    if (sources !== undefined) this.#cluster!.use(sources);
  }

  /** Switches to a program that the cluster log brought. */
  async #follow(program: Program): Promise<void> {
    await this.#swap(program, undefined);
    this.options.onProgram?.();
  }

  #swap(program: Program, sources: Uint8Array | undefined): Promise<void> {
    return this.#loads.whileIdle(() => this.#reloads.run(() => this.#reload(program, sources)));
  }

  async #reload(program: Program, sources: Uint8Array | undefined): Promise<void> {
    // Calls made meanwhile still use the old program; lanes keep both.
    const packed = packProgram(program);
    const generation = this.#versions.begin();
    const reload = { program: packed, generation, sources };
    const schema = await this.#writer.execute({ kind: 'reload', ...reload });
    this.#versions.replace(packed, generation, this.#guard.schema);
    this.#applyProgram(program, schema as number);
    this.#dispatcher.broadcast(this.#configuration());
    this.#attached.broadcast(this.#configuration());
  }

  async preview({ schema, olderSchemas, migrations }: Program): Promise<SchemaPreview> {
    this.#lifecycle.checkServing();
    const program = pack({ schema, olderSchemas, migrations });
    return (await this.#writer.execute({ kind: 'preview', program })) as SchemaPreview;
  }

  async snapshot(): Promise<void> {
    this.#lifecycle.checkServing();
    await this.#writer.execute({ kind: 'snapshot' });
  }

  notePort(port: number): void {
    this.#lifecycle.checkServing();
    this.directory.setPort(port);
  }

  attachment(): Attachment {
    this.#lifecycle.checkServing();
    return this.#attached.attach();
  }

  indexes(): IndexInfo[] {
    return this.#vectors.list();
  }

  recall(type: string | undefined, request: RecallRequest): Promise<Recall[]> {
    return this.#vectors.measure(type, request);
  }

  readonly isLost = (): boolean => this.#lifecycle.isLost;

  status(): DatabaseStatus {
    return statusOf({
      lifecycle: this.#lifecycle,
      disk: this.#disk,
      writer: this.#writer,
      dispatcher: this.#dispatcher,
      writerMetrics: this.#writerMetrics,
    });
  }

  metrics(): DatabaseSample[] {
    if (this.#lifecycle.is('closed')) fail('SHUTTING_DOWN');
    return databaseMetrics({
      storage: this.#storage,
      view: this.#guard.view,
      inlineReads: this.#inline.count,
      workers: this.options.workers,
      isServing: this.#lifecycle.is('serving'),
      dispatcher: this.#dispatcher,
      writer: this.#writer,
      disk: this.#disk,
      vectors: this.#vectors,
      writerMetrics: this.#writerMetrics,
      queryMetrics: this.#metrics,
    });
  }

  close(options: { snapshot?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(options.snapshot ?? true);
    return this.#closing;
  }

  async #close(snapshot: boolean): Promise<void> {
    this.#check.stop();
    this.#disk.stop();
    this.#loads.close();
    this.#control.setProgram(none);
    const closing = this.#writer.execute({ kind: 'close', snapshot });
    this.#lifecycle.apply('stop');
    let isClean = false;
    try {
      await closing;
      isClean =
        this.#lifecycle.lostReason === undefined && this.#writer.readOnlyReason === undefined;
    } finally {
      this.#dispatcher.close();
      await this.#attached.close();
      await Promise.allSettled(this.#copies);
      await this.#threads.close();
      await this.#cluster?.node.close();
      this.#lifecycle.apply('end');
      this.#storage.close();
      const warn = (text: string, reason: string) => this.options.log('warn', text, { reason });
      this.directory.close({ clean: isClean, log: warn });
    }
  }
}

/** Generation in the control block that allows no attached thread to run a read. */
const none = -1;
const bodyOf = ({ body }: ExecutionResult): Uint8Array => body;
