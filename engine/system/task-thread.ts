// One thread that runs tasks, one after another: a pool of Piscina with one place. It is started with its
// first task, and anew after it has ended. Invariant: every task has an end. Piscina forgets a task whose
// thread ends before it takes it, and tells of that end by an event that ends the process where nobody
// listens.
import { Piscina } from 'piscina';
import { DefectError } from '../base/assert.js';
import { startFailure } from './thread.js';
import { keepWorkingDirectory } from './working-directory.js';

export interface TaskThreadOptions {
  /** A module of CommonJS, whose handler takes the tasks. */
  entry: string;
  workerData?: unknown;
  heapMb?: number | undefined;
  /** Without a task for this long it ends; absent: never. */
  idleMs?: number;
}

export interface TaskOptions {
  transferList?: readonly object[];
  /** Ends the thread with the task. */
  signal?: AbortSignal;
}

/** What piscina keeps behind its public face of a worker, under a symbol of this description. */
interface Hidden {
  unref(): void;
}
const hiddenName = 'Piscina.kWorkerData';

export class TaskThread {
  #pool: Piscina | undefined;
  /** Settled when the thread is free. */
  #last: Promise<unknown> = Promise.resolve();
  /** Of the task whose turn it is: hears of a thread that ends before it has the task. */
  #onEnd: (error: Error) => void = () => undefined;
  /** As piscina shows it. */
  #worker: object | undefined;

  constructor(private readonly options: TaskThreadOptions) {}

  /** Fails RESOURCE_EXHAUSTED where no thread can begin. */
  run<T>(task: unknown, options: TaskOptions = {}): Promise<T> {
    const done = this.#last.then(() => this.#turn<T>(task, options));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #turn<T>(task: unknown, options: TaskOptions): Promise<T> {
    try {
      const end = new Promise<never>((_, reject) => {
        this.#onEnd = reject;
      });
      return await Promise.race([this.#give<T>(task, options), end]);
    } catch (error) {
      throw startFailure(error as Error);
    }
  }

  #give<T>(task: unknown, options: TaskOptions): Promise<T> {
    keepWorkingDirectory();
    const pool = (this.#pool ??= this.#make());
    try {
      return pool.run(task, options as Parameters<Piscina['run']>[1]) as Promise<T>;
    } catch (error) {
      // No thread was given. The pool still has the task, and nothing else: it goes with it.
      this.#pool = undefined;
      throw error;
    }
  }

  #make(): Piscina {
    const { entry, workerData, heapMb, idleMs = Number.POSITIVE_INFINITY } = this.options;
    const pool = new Piscina({
      filename: entry,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      resourceLimits: heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb },
      recordTiming: false,
      atomics: 'disabled',
      ...(workerData !== undefined && { workerData }),
    });
    pool.on('error', (error: Error) => this.#lose(pool, error));
    pool.on('workerCreate', (worker: object) => {
      this.#worker = worker;
    });
    pool.on('workerDestroy', () => {
      this.#worker = undefined;
      // A thread that ends without a word before it has begun.
      setImmediate(() => {
        if (pool.threads.length === 0 && pool.queueSize > 0)
          this.#lose(pool, new DefectError('a thread ended before it began'));
      });
    });
    return pool;
  }

  #lose(pool: Piscina, error: Error): void {
    if (this.#pool === pool) this.#pool = undefined;
    this.#onEnd(error);
    void pool.destroy();
  }

  /** For how long its event loop has waited; undefined while there is none. */
  get idle(): number | undefined {
    return this.#pool?.threads[0]?.performance.eventLoopUtilization().idle;
  }

  /** Lets the process end beside it. Piscina keeps it alive while a task runs, and some run for ever. */
  unref(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    const key = Object.getOwnPropertySymbols(worker).find((one) => one.description === hiddenName);
    if (key !== undefined) (worker as Record<symbol, Hidden>)[key]!.unref();
  }

  /** Ends it once its tasks are done; `now`: amid one. */
  async close(now = false): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (now ? pool?.destroy() : pool?.close({ force: true }));
  }
}
