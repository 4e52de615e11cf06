// The Piscina pair: one pool of reader threads and one with the single writer thread. Each thread
// runs one never-ending lane task; requests travel over its message port, because one Piscina task
// per request costs 45 us of CPU against 10. A reader that dies is replaced; the writer is never
// terminated (an open write transaction would hold LMDB's lock).
//
// Invariant: no thread is ended while it loads LMDB's addon, which would abort the process
// (napi_throw in its module initialiser). Every thread gets a first task at birth, and `close` waits
// for all tasks; at the end of the process see exit-hold.ts.
import { setTimeout } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { errorOf } from '../../base/errors.js';
import type { Backup } from '../care/backup.js';
import type { LoaderSetup } from '../load/loader.js';
import type { Gate } from '../call/gate.js';
import { onExit, threadData } from './exit-hold.js';
import type { LaneFault } from './message.js';
import type { ReaderSetup } from './reader-lane.js';
import type { TableHashes } from '../replica/table-check.js';
import type { BackupReply, BackupTask, HashReply, HashTask } from './serve-lane.js';
import type { WriterSetup } from './writer-lane.js';

/**
 * Hears why a thread ended: an error of the thread, a fault that kept the lane from opening, or
 * neither.
 */
export type OnEnd = (error?: Error, fault?: LaneFault) => void;

const entry = new URL('./worker.cjs', import.meta.url).href;

function poolOptions(heapMb: number | undefined) {
  return {
    filename: entry,
    workerData: threadData(),
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    resourceLimits: heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb },
    recordTiming: false,
    atomics: 'disabled' as const,
  };
}

/** What piscina keeps behind its public face of a worker, under a symbol of this description. */
interface Hidden {
  unref(): void;
}
const hiddenName = 'Piscina.kWorkerData';

/**
 * Lets the process end beside a thread. Piscina keeps it alive while a task runs, and the tasks of
 * lanes run for ever; who waits for a lane holds its port.
 */
function unrefWorker(worker: object): void {
  const key = Object.getOwnPropertySymbols(worker).find((one) => one.description === hiddenName);
  if (key !== undefined) (worker as Record<symbol, Hidden>)[key]!.unref();
}

/** A thread that is seldom needed goes again. */
const idleMs = 10_000;

/** How long a lane may take to end. */
const closeMs = 30_000;

/** Starts lane tasks and hands out their ports. */
export class ThreadPair {
  readonly #tasks = new Set<Promise<unknown>>();
  /** Made with the first reader. */
  #readers: Piscina | undefined;
  /** The first reader's thread has loaded what it needs. */
  #warm: Promise<unknown> | undefined;
  readonly #writer: Piscina;
  #loaders: Piscina | undefined;
  #copiers: Piscina | undefined;
  #hashers: Piscina | undefined;
  /** Of lanes, as piscina shows them. */
  readonly #workers = new Set<object>();
  readonly #unhear: () => void;

  constructor(
    private readonly readerCount: number,
    private readonly readerHeapMb: number,
    gate: Gate,
  ) {
    this.#unhear = onExit({ stop: () => gate.cancelAll(), idle: () => this.#idle() });
    this.#writer = this.#pool(1, undefined);
  }

  #firstReader(): { threads: Piscina; warm: Promise<unknown> } {
    const threads = (this.#readers ??= this.#pool(this.readerCount, this.readerHeapMb));
    if (this.#warm === undefined) this.#track((this.#warm = threads.run({ role: 'warm' })));
    return { threads, warm: this.#warm };
  }

  #pool(threads: number, heapMb: number | undefined): Piscina {
    const made = new Piscina({
      ...poolOptions(heapMb),
      minThreads: 1,
      maxThreads: threads,
    });
    made.on('workerCreate', (worker: object) => this.#workers.add(worker));
    made.on('workerDestroy', (worker: object) => this.#workers.delete(worker));
    return made;
  }

  #idle(): number[] {
    const pools = [this.#writer, this.#readers, this.#loaders, this.#copiers, this.#hashers];
    const threads = pools.flatMap((pool) => pool?.threads ?? []);
    return threads.map(({ performance: clock }) => clock.eventLoopUtilization().idle);
  }

  /** The lanes that have opened no longer keep the process alive by themselves. */
  unref(): void {
    for (const worker of this.#workers) unrefWorker(worker);
  }

  /**
   * The port of a new read lane; `onEnd` hears why its thread ended (undefined: it was told to).
   */
  startReader(setup: Omit<ReaderSetup, 'port'>, onEnd: OnEnd): MessagePort {
    const { threads, warm } = this.#firstReader();
    const start = (): Promise<unknown> => this.#run(threads, setup, port2);
    const { port1, port2 } = new MessageChannel();
    // While that thread still loads, another one would be started.
    this.#hear(warm.then(start, start), onEnd);
    return port1;
  }

  startWriter(setup: Omit<WriterSetup, 'port'>, onEnd: OnEnd): MessagePort {
    const { cluster } = setup;
    return this.#start(this.#writer, setup, onEnd, cluster === undefined ? [] : [cluster.port]);
  }

  /** A thread that reads rows for one bulk load; it ends when it is told to close. */
  startLoader(setup: Omit<LoaderSetup, 'port'>, onEnd: OnEnd): MessagePort {
    this.#loaders ??= new Piscina({ ...poolOptions(undefined), minThreads: 0, maxThreads: 4 });
    return this.#start(this.#loaders, setup, onEnd);
  }

  /** Makes a backup in a thread of its own, one after another. */
  readonly backUp = async (dataDir: string, to: string): Promise<Backup> => {
    this.#copiers ??= this.#seldom();
    const task: BackupTask = { role: 'backup', dataDir, to };
    const made = this.#copiers.run(task) as Promise<BackupReply>;
    this.#track(made);
    const reply = await made;
    if (!('error' in reply)) return reply;
    throw errorOf(reply.error, reply.stack);
  };

  /** Reads all tables in a thread of its own, at a snapshot that the writer takes (held-snapshot.ts). */
  async hashTables(graphPath: string, words: SharedArrayBuffer): Promise<TableHashes | undefined> {
    this.#hashers ??= this.#seldom();
    const task: HashTask = { role: 'hash', graphPath, words };
    const made = this.#hashers.run(task) as Promise<HashReply>;
    this.#track(made);
    const reply = await made;
    if ('error' in reply) throw errorOf(reply.error, reply.stack);
    return reply.tables;
  }

  #seldom(): Piscina {
    const options = { minThreads: 0, maxThreads: 1, idleTimeout: idleMs };
    return new Piscina({ ...poolOptions(undefined), ...options });
  }

  #start(threads: Piscina, setup: object, onEnd: OnEnd, more: MessagePort[] = []): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#hear(this.#run(threads, setup, port2, more), onEnd);
    return port1;
  }

  #run(threads: Piscina, setup: object, port: MessagePort, more: MessagePort[] = []) {
    return threads.run({ ...setup, port }, { transferList: [port, ...more] });
  }

  #hear(lane: Promise<unknown>, onEnd: OnEnd): void {
    const task = lane.then(
      (fault) => onEnd(undefined, fault as LaneFault | undefined),
      (error: Error) => onEnd(error),
    );
    this.#track(task);
  }

  #track(task: Promise<unknown>): void {
    this.#tasks.add(task);
    const forget = () => this.#tasks.delete(task);
    task.then(forget, forget);
  }

  /**
   * Ends idle threads; every lane must have been told to close. One that reads and does not is ended with
   * its thread: piscina's `close` would wait for it once more, and fail.
   */
  async close(patienceMs = closeMs): Promise<void> {
    // Nothing else might keep the process alive until the threads are gone.
    const late = new AbortController();
    try {
      const lanes = Promise.allSettled(this.#tasks).then(() => false);
      const timer = setTimeout(patienceMs, true, late).catch(() => true);
      const isLate = await Promise.race([lanes, timer]);
      const end = (threads: Piscina | undefined) =>
        isLate ? threads?.destroy() : threads?.close({ force: true });
      const pools = [this.#readers, this.#loaders, this.#copiers, this.#hashers];
      await Promise.all(pools.map(end));
      await this.#writer.close({ force: true });
    } finally {
      late.abort();
      this.#unhear();
    }
  }
}
