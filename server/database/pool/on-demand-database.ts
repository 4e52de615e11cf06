// A database that is opened when somebody needs it and closed when nobody does, behind the face of an open
// one. Invariant: it is closed only while no call, backup or bulk load of it is under way, so that nobody
// who uses it sees it go; between two times of being open, its data are its own files and nothing else.
import {
  type BulkLoad,
  type CallOptions,
  type ClusterNode,
  type Database,
  type DatabaseStatus,
  type IndexInfo,
  type Program,
  type SourceArchive,
  TrellisError,
  errorMessage,
  fail,
} from '../../../engine/internal.js';

export interface SleeperOptions {
  tenant: string;
  /** Of the project, for whoever asks before it was open once. */
  program: Program;
  open: (program: Program) => Promise<Database>;
  /** Resolves when one more may be open. Fails OVERLOADED. */
  acquireSlot: () => Promise<void>;
  /** It is closed, or could not be opened: its place is free. */
  left: () => void;
  /** Another program is its own now. */
  onProgram: () => void;
  /** Writes a warning to the log: what failed, and why. */
  warn: (message: string, reason: string) => void;
}

export const reasonOf = (error: unknown): string =>
  error instanceof TrellisError ? errorMessage(error.data) : String(error);

/** How often one that takes no more calls looks whether it has ended those it had. */
const drainMs = 5;

/** What cannot be opened is not tried at every request. */
const retryMs = 1_000;

export class OnDemandDatabase implements Database {
  #database: Database | undefined;
  #program: Program;
  /** The one it answered by when it was last open. */
  #proven: Program | undefined;
  #waking: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: { error: TrellisError; until: number } | undefined;
  #underway = 0;
  #loads = new Set<BulkLoad>();
  /** Milliseconds of performance.now(). */
  #usedAt = 0;
  #isOpening = false;
  /** It makes room for another: new calls wait for its next turn. */
  #isResting = false;
  #openedAt = 0;
  #isEnding = false;

  constructor(private readonly options: SleeperOptions) {
    this.#program = options.program;
  }

  get isAwake(): boolean {
    return this.#database !== undefined || this.#isOpening;
  }

  /** For how long it has been open; 0 while it is not. */
  get openMs(): number {
    return this.#database === undefined ? 0 : performance.now() - this.#openedAt;
  }

  /** For how long it has been open for nobody; 0 while it works, or is closed. */
  get idleMs(): number {
    if (this.#database === undefined || this.#underway > 0 || this.isLoading) return 0;
    return performance.now() - this.#usedAt;
  }

  get isLoading(): boolean {
    for (const load of this.#loads) if (load.isOver) this.#loads.delete(load);
    return this.#loads.size > 0;
  }

  /** Resolves when it is open; undefined where it is. Fails TENANT_CLOSED, OVERLOADED. */
  ensureOpen(): Promise<void> | undefined {
    this.#usedAt = performance.now();
    if (this.#database !== undefined && !this.#isResting) return undefined;
    if (this.#isEnding) fail('SHUTTING_DOWN');
    if (this.#failure !== undefined && this.#usedAt < this.#failure.until)
      throw this.#failure.error;
    this.#waking ??= this.#ensureOpen().finally(() => {
      this.#waking = undefined;
    });
    return this.#waking;
  }

  async #ensureOpen(): Promise<void> {
    await this.options.acquireSlot();
    await this.#closing;
    this.#isOpening = true;
    try {
      this.#database = await this.#openOne();
      this.#openedAt = performance.now();
      this.#proven = this.#program;
      this.#failure = undefined;
    } catch (thrown) {
      const what = reasonOf(thrown);
      this.options.warn('could not open tenant database', what);
      const args = { tenant: this.options.tenant, what };
      const error = new TrellisError({ code: 'TENANT_CLOSED', args });
      this.#failure = { error, until: performance.now() + retryMs };
      this.options.left();
      throw error;
    } finally {
      this.#isOpening = false;
    }
    this.#usedAt = performance.now();
  }

  /** By the program of the project; where the data refuse it, by the one they answered by before. */
  async #openOne(): Promise<Database> {
    try {
      return await this.options.open(this.#program);
    } catch (error) {
      const isRefused = error instanceof TrellisError && error.code === 'SCHEMA_INCOMPATIBLE';
      if (!isRefused || this.#proven === undefined || this.#proven === this.#program) throw error;
      const database = await this.options.open(this.#proven);
      this.options.warn('tenant keeps its previous schema and queries', reasonOf(error));
      this.#program = this.#proven;
      this.options.onProgram();
      return database;
    }
  }

  /** Closes it until it is needed again; only while it is idle. */
  closeIdle(): Promise<void> {
    const database = this.#database;
    if (database === undefined) return this.#closing ?? Promise.resolve();
    this.#database = undefined;
    const falling = database
      .close()
      .catch((error: unknown) =>
        this.options.warn('could not close tenant database', reasonOf(error)),
      )
      .finally(() => {
        if (this.#closing === falling) this.#closing = undefined;
        this.options.left();
      });
    this.#closing = falling;
    return falling;
  }

  /** Takes no more calls, and closes when those that it has are done; false: a load has begun among them. */
  async drain(): Promise<boolean> {
    this.#isResting = true;
    try {
      while (this.#underway > 0 && !this.#isEnding) {
        await new Promise((resolve) => setTimeout(resolve, drainMs));
      }
    } finally {
      this.#isResting = false;
    }
    if (this.isLoading) return false;
    await this.closeIdle();
    return true;
  }

  /** Fails NOT_READY while it is closed: whoever asks has not waited for `wake`. */
  get #open(): Database {
    return this.#database ?? fail('NOT_READY', { phase: 'opening', progress: 0 });
  }

  /** What is promised is waited for before it is closed. */
  #hold<T>(answer: T): T {
    this.#usedAt = performance.now();
    if (!(answer instanceof Promise)) return answer;
    this.#underway++;
    return answer.finally(() => {
      this.#underway--;
      this.#usedAt = performance.now();
    }) as T;
  }

  get cluster(): ClusterNode | undefined {
    return this.#database?.cluster;
  }

  get program(): Program {
    return this.#database?.program ?? this.#program;
  }

  call(name: string, body: Uint8Array, options?: CallOptions) {
    return this.#hold(this.#open.call(name, body, options));
  }

  refusal(...asked: Parameters<Database['refusal']>) {
    return this.#database?.refusal(...asked);
  }

  run(...args: Parameters<Database['run']>) {
    return this.#hold(this.#open.run(...args));
  }

  embed(...args: Parameters<Database['embed']>) {
    return this.#hold(this.#open.embed(...args));
  }

  embedAhead(...args: Parameters<Database['embedAhead']>) {
    return this.#hold(this.#open.embedAhead(...args));
  }

  view: Database['view'] = (look) => this.#hold(this.#open.view(look));

  /** A closed one takes the program when it is opened. */
  async reload(program: Program, archive?: SourceArchive): Promise<void> {
    // One that cannot be opened now will be opened by it later.
    await this.#waking?.catch(() => undefined);
    if (this.#database !== undefined) {
      await this.#hold(this.#database.reload(program, archive));
      this.#proven = program;
    }
    this.#program = program;
    this.options.onProgram();
  }

  preview(program: Program) {
    return this.#hold(this.#open.preview(program));
  }

  load(...args: Parameters<Database['load']>): BulkLoad {
    const load = this.#open.load(...args);
    this.#loads.add(load);
    return load;
  }

  backUp(to: string) {
    return this.#hold(this.#open.backUp(to));
  }

  snapshot() {
    return this.#hold(this.#open.snapshot());
  }

  notePort(port: number): void {
    this.#open.notePort(port);
  }

  attachment() {
    return this.#open.attachment();
  }

  indexes(): IndexInfo[] {
    return this.#open.indexes();
  }

  recall(...args: Parameters<Database['recall']>) {
    return this.#hold(this.#open.recall(...args));
  }

  status(): DatabaseStatus {
    return this.#database?.status() ?? { phase: 'opening', progress: 0, writes: true };
  }

  metrics() {
    return this.#database?.metrics() ?? [];
  }

  async close(options?: { snapshot?: boolean }): Promise<void> {
    this.#isEnding = true;
    await this.#waking?.catch(() => undefined);
    await this.#closing;
    await this.#database?.close(options);
    this.#database = undefined;
  }
}
