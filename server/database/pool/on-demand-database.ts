// A database that is opened when it is needed and closed when it is idle, behind the interface of an open
// one. Invariant: it closes only while none of its calls, backups or bulk loads is running, so its users
// never notice. While it is closed, only its files remain.
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

export interface OnDemandDatabaseOptions {
  tenant: string;
  /** The project's program, which applies until the database is first opened. */
  program: Program;
  open: (program: Program) => Promise<Database>;
  /** Resolves when one more database may be open. Fails OVERLOADED. */
  acquireSlot: () => Promise<void>;
  /** Called when the database is closed, or could not be opened: its slot is free. */
  onSlotFree: () => void;
  /** Called when the database has another program. */
  onProgram: () => void;
  /** Writes a warning to the log: what failed, and why. */
  warn: (message: string, reason: string) => void;
}

export const reasonOf = (error: unknown): string =>
  error instanceof TrellisError ? errorMessage(error.data) : String(error);

/** Milliseconds between two checks whether the running calls have ended. */
const drainMs = 5;

/** Milliseconds until a failed opening is tried again. */
const retryMs = 1_000;

export class OnDemandDatabase implements Database {
  #database: Database | undefined;
  #program: Program;
  /** The program with which the database was last open. */
  #proven: Program | undefined;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: { error: TrellisError; until: number } | undefined;
  #running = 0;
  #loads = new Set<BulkLoad>();
  /** Milliseconds of performance.now(). */
  #usedAt = 0;
  #isOpening = false;
  /** Whether the database is about to give up its slot. New calls wait for the next one. */
  #isDraining = false;
  #openedAt = 0;
  #isEnding = false;

  constructor(private readonly options: OnDemandDatabaseOptions) {
    this.#program = options.program;
  }

  get isOpen(): boolean {
    return this.#database !== undefined || this.#isOpening;
  }

  /** Milliseconds since it was opened; 0 while it is closed. */
  get openMs(): number {
    return this.#database === undefined ? 0 : performance.now() - this.#openedAt;
  }

  /** Milliseconds since its last use; 0 while it works or is closed. */
  get idleMs(): number {
    if (this.#database === undefined || this.#running > 0 || this.isLoading) return 0;
    return performance.now() - this.#usedAt;
  }

  get isLoading(): boolean {
    for (const load of this.#loads) if (load.isOver) this.#loads.delete(load);
    return this.#loads.size > 0;
  }

  /**
   * Resolves when the database is open. Returns undefined if it is open already. Fails TENANT_CLOSED,
   * OVERLOADED.
   */
  ensureOpen(): Promise<void> | undefined {
    this.#usedAt = performance.now();
    if (this.#database !== undefined && !this.#isDraining) return undefined;
    if (this.#isEnding) fail('SHUTTING_DOWN');
    if (this.#failure !== undefined && this.#usedAt < this.#failure.until)
      throw this.#failure.error;
    this.#opening ??= this.#ensureOpen().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
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
      this.options.onSlotFree();
      throw error;
    } finally {
      this.#isOpening = false;
    }
    this.#usedAt = performance.now();
  }

  /**
   * Opens the database with the project's program. If the data refuse that program, opens it with its
   * previous one.
   */
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

  /** Closes the database until it is needed again. It must be idle. */
  closeIdle(): Promise<void> {
    const database = this.#database;
    if (database === undefined) return this.#closing ?? Promise.resolve();
    this.#database = undefined;
    const closing = database
      .close()
      .catch((error: unknown) =>
        this.options.warn('could not close tenant database', reasonOf(error)),
      )
      .finally(() => {
        if (this.#closing === closing) this.#closing = undefined;
        this.options.onSlotFree();
      });
    this.#closing = closing;
    return closing;
  }

  /**
   * Takes no more calls, and closes when the running ones have ended. Returns false if a load has begun.
   */
  async drain(): Promise<boolean> {
    this.#isDraining = true;
    try {
      while (this.#running > 0 && !this.#isEnding) {
        await new Promise((resolve) => setTimeout(resolve, drainMs));
      }
    } finally {
      this.#isDraining = false;
    }
    if (this.isLoading) return false;
    await this.closeIdle();
    return true;
  }

  /** Fails NOT_READY while the database is closed: the caller did not wait for `ensureOpen`. */
  get #open(): Database {
    return this.#database ?? fail('NOT_READY', { phase: 'opening', progress: 0 });
  }

  /** Keeps the database open until a promised answer has resolved. */
  #trackUse<T>(answer: T): T {
    this.#usedAt = performance.now();
    if (!(answer instanceof Promise)) return answer;
    this.#running++;
    return answer.finally(() => {
      this.#running--;
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
    return this.#trackUse(this.#open.call(name, body, options));
  }

  refusal(...args: Parameters<Database['refusal']>) {
    return this.#database?.refusal(...args);
  }

  run(...args: Parameters<Database['run']>) {
    return this.#trackUse(this.#open.run(...args));
  }

  embed(...args: Parameters<Database['embed']>) {
    return this.#trackUse(this.#open.embed(...args));
  }

  embedAhead(...args: Parameters<Database['embedAhead']>) {
    return this.#trackUse(this.#open.embedAhead(...args));
  }

  view: Database['view'] = (read) => this.#trackUse(this.#open.view(read));

  /** Replaces the program. A closed database uses it when it is opened. */
  async reload(program: Program, archive?: SourceArchive): Promise<void> {
    // A database that cannot be opened now will later be opened with the new program.
    await this.#opening?.catch(() => undefined);
    if (this.#database !== undefined) {
      await this.#trackUse(this.#database.reload(program, archive));
      this.#proven = program;
    }
    this.#program = program;
    this.options.onProgram();
  }

  preview(program: Program) {
    return this.#trackUse(this.#open.preview(program));
  }

  load(...args: Parameters<Database['load']>): BulkLoad {
    const load = this.#open.load(...args);
    this.#loads.add(load);
    return load;
  }

  backUp(to: string) {
    return this.#trackUse(this.#open.backUp(to));
  }

  snapshot() {
    return this.#trackUse(this.#open.snapshot());
  }

  notePort(port: number): void {
    this.#open.notePort(port);
  }

  get reembeds() {
    return this.#open.reembeds;
  }

  attachment() {
    return this.#open.attachment();
  }

  indexes(): IndexInfo[] {
    return this.#open.indexes();
  }

  recall(...args: Parameters<Database['recall']>) {
    return this.#trackUse(this.#open.recall(...args));
  }

  status(): DatabaseStatus {
    return this.#database?.status() ?? { phase: 'opening', progress: 0, writes: true };
  }

  metrics() {
    return this.#database?.metrics() ?? [];
  }

  async close(options?: { snapshot?: boolean }): Promise<void> {
    this.#isEnding = true;
    await this.#opening?.catch(() => undefined);
    await this.#closing;
    await this.#database?.close(options);
    this.#database = undefined;
  }
}
