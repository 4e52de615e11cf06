// Owns the threads of one database: the writer, the readers, and threads for rare tasks. Each thread runs one
// endless lane task, and requests travel over its message port. One task per request would cost 45 us of CPU;
// a message costs 10. A reader that dies is replaced. The writer is never terminated, because an open write
// transaction would keep LMDB's lock.
//
// Invariant: no thread is terminated while it loads LMDB's addon, which would abort the process (napi_throw
// in its module initializer). Every thread gets a first task at its start, and `close` waits for all tasks.
// safe-exit.ts handles the end of the process.
import { setTimeout } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { TaskThread } from '../../system/task-thread.js';
import { restoreError } from '../../base/errors.js';
import type { Backup } from '../maintenance/backup.js';
import type { LoaderSetup } from '../load/row-reader-thread.js';
import type { ControlBlock } from '../call/control-block.js';
import { onExit, threadData } from './safe-exit.js';
import type { LaneError } from './message.js';
import type { ReaderSetup } from './reader-lane.js';
import type { TableHashes } from '../replication/table-check.js';
import type { BackupReply, BackupTask, HashReply, HashTask } from './thread-main.js';
import type { WriterSetup } from './message.js';

/** Called when a thread has ended: with an error, or without one when it was closed. */
export type OnEnd = (error?: Error) => void;

/** Called when the writer has ended. `error` is set when the lane could not open. */
export type OnWriterEnd = (error?: Error, laneError?: LaneError) => void;

const entry = new URL('./worker.cjs', import.meta.url).href;

/** Milliseconds after which an idle thread for rare tasks ends. */
const idleMs = 10_000;

/** Milliseconds that a lane may take to end. */
const closeMs = 30_000;

/** Starts lane tasks and returns their ports. */
export class ThreadPool {
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #writer: TaskThread;
  /** One thread per lane. */
  readonly #readers = new Set<TaskThread>();
  /** Threads of finished bulk loads, for later loads. */
  readonly #freeLoaders: TaskThread[] = [];
  readonly #loaders = new Set<TaskThread>();
  #copier: TaskThread | undefined;
  #hasher: TaskThread | undefined;
  readonly #unsubscribe: () => void;

  constructor(
    private readonly readerHeapMb: number,
    control: ControlBlock,
  ) {
    this.#unsubscribe = onExit({ stop: () => control.cancelAll(), idle: () => this.#idle() });
    this.#writer = this.#thread();
  }

  #thread(more: { heapMb?: number; idleMs?: number } = {}): TaskThread {
    return new TaskThread({ entry, workerData: threadData(), ...more });
  }

  #all(): TaskThread[] {
    const seldom = [this.#copier, this.#hasher].filter((one) => one !== undefined);
    return [this.#writer, ...this.#readers, ...this.#loaders, ...seldom];
  }

  #idle(): number[] {
    return this.#all().flatMap(({ idle }) => idle ?? []);
  }

  /** Opened lanes no longer keep the process alive. */
  unref(): void {
    for (const thread of this.#all()) thread.unref();
  }

  /**
   * Returns the port of a new reader lane. `onEnd` is called when its thread ends; without an error if it was
   * closed.
   */
  startReader(setup: Omit<ReaderSetup, 'port'>, onEnd: OnEnd): MessagePort {
    const thread = this.#thread({ heapMb: this.readerHeapMb });
    this.#readers.add(thread);
    return this.#start(thread, setup, (error, laneError) => {
      this.#readers.delete(thread);
      this.#track(thread.close());
      onEnd(error ?? errorIn(laneError));
    });
  }

  startWriter(setup: Omit<WriterSetup, 'port'>, onEnd: OnWriterEnd): MessagePort {
    const { cluster } = setup;
    return this.#start(this.#writer, setup, onEnd, cluster === undefined ? [] : [cluster.port]);
  }

  /** Starts a thread that reads rows for one bulk load. It ends when it receives `close`. */
  startLoader(setup: Omit<LoaderSetup, 'port'>, onEnd: OnEnd): MessagePort {
    const thread = this.#freeLoaders.pop() ?? this.#thread();
    this.#loaders.add(thread);
    return this.#start(thread, setup, (error, laneError) => {
      this.#freeLoaders.push(thread);
      onEnd(error ?? errorIn(laneError));
    });
  }

  /** Makes a backup on a separate thread. Backups run one after another. */
  readonly backUp = async (dataDir: string, to: string): Promise<Backup> => {
    this.#copier ??= this.#thread({ idleMs });
    const task: BackupTask = { role: 'backup', dataDir, to };
    const made = this.#copier.run<BackupReply>(task);
    this.#track(made);
    const reply = await made;
    if (!('error' in reply)) return reply;
    throw restoreError(reply.error, reply.stack);
  };

  /** Reads all tables on a separate thread, at a snapshot that the writer takes (pinned-snapshot.ts). */
  async hashTables(graphPath: string, words: SharedArrayBuffer): Promise<TableHashes | undefined> {
    this.#hasher ??= this.#thread({ idleMs });
    const task: HashTask = { role: 'hash', graphPath, words };
    const made = this.#hasher.run<HashReply>(task);
    this.#track(made);
    const reply = await made;
    if ('error' in reply) throw restoreError(reply.error, reply.stack);
    return reply.tables;
  }

  #start(
    thread: TaskThread,
    setup: object,
    onEnd: OnWriterEnd,
    more: MessagePort[] = [],
  ): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const task = { ...setup, port: port2 };
    this.#watch(thread.run(task, { transferList: [port2, ...more] }), onEnd);
    return port1;
  }

  #watch(lane: Promise<unknown>, onEnd: OnWriterEnd): void {
    const task = lane.then(
      (error) => onEnd(undefined, error as LaneError | undefined),
      (error: Error) => onEnd(error),
    );
    this.#track(task);
  }

  #track(task: Promise<unknown>): void {
    this.#tasks.add(task);
    const remove = () => this.#tasks.delete(task);
    task.then(remove, remove);
  }

  async #settled(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  /**
   * Ends idle threads. Every lane must have received `close`. A reader that does not end in time is
   * terminated with its thread; piscina's own `close` would wait for it again, and fail.
   */
  async close(timeoutMs = closeMs): Promise<void> {
    // Nothing else may keep the process alive until the threads have ended.
    const late = new AbortController();
    try {
      const lanes = this.#settled().then(() => false);
      const timer = setTimeout(timeoutMs, true, late).catch(() => true);
      const isLate = await Promise.race([lanes, timer]);
      const others = this.#all().filter((thread) => thread !== this.#writer);
      await Promise.all(others.map((thread) => thread.close(isLate)));
      await this.#writer.close();
    } finally {
      late.abort();
      this.#unsubscribe();
    }
  }
}

const errorIn = (laneError: LaneError | undefined): Error | undefined =>
  laneError && restoreError(laneError.error, laneError.stack);
