// One thread that runs tasks one after another: a Piscina pool of one thread. The thread starts
// with its first task, and again if it has ended.
// Invariant: every task settles. Piscina loses a task whose thread ends before taking it, and
// reports that end by an event which would end the process if it had no listener.
import { Piscina } from 'piscina';
import { DefectError } from '../base/assert.js';
import { startFailure } from './thread.js';
import { keepWorkingDirectory } from './working-directory.js';

export interface TaskThreadOptions {
  /** Path of a CommonJS module whose handler runs the tasks. */
  entry: string;
  workerData?: unknown;
  heapMb?: number | undefined;
  /** Milliseconds without a task after which the thread ends; absent: never. */
  idleMs?: number;
}

export interface TaskOptions {
  transferList?: readonly object[];
  /** Ends the task together with its thread. */
  signal?: AbortSignal;
}

/** Internal state of a Piscina worker, stored under a symbol of this description. */
interface Hidden {
  unref(): void;
}
const hiddenName = 'Piscina.kWorkerData';

export class TaskThread {
  #pool: Piscina | undefined;
  /** Settles when the thread is free. */
  #last: Promise<unknown> = Promise.resolve();
  /** Rejects the current task when the thread ends before taking it. */
  #onEnd: (error: Error) => void = () => undefined;
  /** The worker as Piscina passes it to events. */
  #worker: object | undefined;

  constructor(private readonly options: TaskThreadOptions) {}

  /** Runs a task after the earlier ones. Fails RESOURCE_EXHAUSTED if the thread cannot start. */
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
      // The pool got no thread. The task is its only content, so drop the pool with it.
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
      // The thread ended without an error before it started.
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

  /** Milliseconds for which the event loop of the thread was idle; undefined if no thread runs. */
  get idle(): number | undefined {
    return this.#pool?.threads[0]?.performance.eventLoopUtilization().idle;
  }

  /**
   * Allows the process to end while the thread runs. Piscina keeps the process alive during a task,
   * and some tasks never end.
   */
  unref(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    const key = Object.getOwnPropertySymbols(worker).find((one) => one.description === hiddenName);
    if (key !== undefined) (worker as Record<symbol, Hidden>)[key]!.unref();
  }

  /** Ends the thread after its tasks, or immediately if `now` is true. */
  async close(now = false): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (now ? pool?.destroy() : pool?.close({ force: true }));
  }
}
