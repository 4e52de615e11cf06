// Keeps the bulk loads of an open database. A reload of the program waits for the running chunks, and delays
// the next ones until it is done, so that rows are read and written under one schema.
//
// Invariant: a load has an entry here exactly while it can continue. A load that fails, ends or is closed
// gives back its entry and its thread.
import { wallMs } from '../../base/clock.js';
import { fail } from '../../base/errors.js';
import type { ReadView } from '../../storage/table/view-types.js';
import { type LoadedFile, formerOf } from './load-files.js';
import { digestOf } from './load-key.js';
import { type BulkLoad, type LoadHooks, LoadRun, loadOverError } from './load-run.js';
import { readProgress } from './load-progress.js';
import { readChunks } from './load-piece.js';

/** Maximum number of parallel loads. Each has a thread. */
const loadsMax = 4;

/** Milliseconds without a chunk after which another client with the same files may continue a load. */
const restMs = 1000;

export interface LoadName {
  name?: string | undefined;
  /** Start the next load of this name although one has finished. */
  again?: boolean | undefined;
  /**
   * The caller promises that nothing else reads or writes the data until the load is over. Edges take less
   * time, and may be missing to readers before the end. Ignored in a cluster, because its log takes each
   * transaction as a whole.
   */
  isExclusive?: boolean | undefined;
  /** Files of the rows. A started load with these files is continued, even if they were corrected. */
  files?: readonly LoadedFile[] | undefined;
  /** Continue a finished load too: changed rows replace what it loaded. */
  replace?: boolean | undefined;
  /** A refused row ends the load and rolls back everything. */
  isStrict?: boolean | undefined;
  /** Caller to whose share the load counts. Absent: no caller. */
  holder?: string | undefined;
}

/** Returns the name of the first unfinished load among all loads of the same rows. */
function unfinished(view: ReadView, name: string): string {
  let last = name;
  for (let time = 2; readProgress(view, last).end !== undefined; time++) last = `${name} ${time}`;
  return last;
}

export class LoadRegistry {
  readonly #open = new Map<string, LoadRun>();
  #unnamed = 0;
  #running = 0;
  #schema = 0;
  #isClosed = false;
  #changes: Promise<void> = Promise.resolve();
  #barrier: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** `idleMs`: a load that is idle for longer gives its slot to another load. */
  constructor(private readonly idleMs: number) {}

  /**
   * Starts a load, or continues the one of that name. Without a name it cannot be continued. With `again`,
   * continues an unfinished load although loads of that name have finished. Fails OVERLOADED or
   * SHARE_EXCEEDED.
   */
  begin(
    { name, again = false, isExclusive = false, isStrict = false, ...options }: LoadName,
    view: ReadView,
    hooks: Omit<LoadHooks, 'admit' | 'leave' | 'over'>,
  ): BulkLoad {
    if (this.#isClosed) fail('SHUTTING_DOWN');
    const { files, replace = false, holder } = options;
    const known = name !== undefined && again ? unfinished(view, name) : name;
    const key = known ?? `unnamed ${++this.#unnamed} ${wallMs()}`;
    const progress = readProgress(view, key);
    const isNew = progress.pieces === 0 && progress.end === undefined;
    const former = files && isNew && !again ? formerOf(view, files, replace) : undefined;
    if (former) this.#endFormer(former.digest);
    this.#makeRoom(key, holder);
    const run: LoadRun = new LoadRun(
      { name: key, isNamed: name !== undefined, isExclusive, isStrict, files, former, holder },
      former?.progress ?? progress,
      readChunks(view, former?.digest ?? key),
      {
        ...hooks,
        admit: () => this.#admit(),
        leave: () => this.#leave(),
        over: () => {
          if (this.#open.get(key) === run) this.#open.delete(key);
        },
      },
    );
    this.#open.set(key, run);
    return run;
  }

  /** Ends the former name of a continued load, unless that load is running now. */
  #endFormer(digest: Uint8Array): void {
    for (const [name, run] of [...this.#open]) {
      if (Buffer.compare(digestOf(name), digest) !== 0) continue;
      if (run.idleMs < Math.min(this.idleMs, restMs)) {
        fail('OVERLOADED', { queue: 'The import of these files' });
      }
      run.abandon(loadOverError(run.name));
    }
  }

  /** Makes sure that a slot is free and the name is not in use. Fails OVERLOADED. */
  #makeRoom(name: string, holder: string | undefined): void {
    const namesake = this.#open.get(name);
    if (namesake === undefined) this.#checkShare(holder);
    const open = [...this.#open.values()].sort((a, b) => b.idleMs - a.idleMs);
    if (!namesake && open.length < loadsMax) return;
    const idlest = namesake ?? open[0]!;
    if (idlest.idleMs < this.idleMs) fail('OVERLOADED', { queue: 'The table of running loads' });
    idlest.abandon(loadOverError(idlest.name));
  }

  /**
   * A caller gets one load while others load. Alone, it gets all slots but one, which stays free for
   * others. An idle load of the same caller gives its slot to the new one.
   */
  #checkShare(holder: string | undefined): void {
    if (holder === undefined) return;
    const open = [...this.#open.values()];
    const mine = open.filter((run) => run.holder === holder).sort((a, b) => b.idleMs - a.idleMs);
    const count = mine.length;
    const isLastSlot = open.length >= loadsMax - 1;
    const hasOthers = count < open.length;
    if (count === 0 || !(isLastSlot || hasOthers)) return;
    const [idlest] = mine;
    if (idlest!.idleMs < this.idleMs) fail('SHARE_EXCEEDED', { count, what: 'running imports' });
    idlest!.abandon(loadOverError(idlest!.name));
  }

  async #admit(): Promise<number> {
    while (this.#barrier) await this.#barrier;
    this.#running++;
    return this.#schema;
  }

  #leave(): void {
    if (--this.#running === 0) this.#onIdle?.();
  }

  /** Runs `change` while no chunk and no other change is running. */
  whileIdle(change: () => Promise<void>): Promise<void> {
    const mine = this.#changes.then(() => this.#drained(change));
    this.#changes = mine.catch(() => undefined);
    return mine;
  }

  async #drained(change: () => Promise<void>): Promise<void> {
    let open!: () => void;
    this.#barrier = new Promise((resolve) => (open = resolve));
    try {
      if (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
      await change();
      this.#schema++;
    } finally {
      this.#barrier = undefined;
      this.#onIdle = undefined;
      open();
    }
  }

  /** Ends every load at its current position. The loads may continue when the database is opened again. */
  close(): void {
    this.#isClosed = true;
    for (const run of [...this.#open.values()]) run.abandon({ code: 'SHUTTING_DOWN', args: {} });
  }
}
