// The bulk loads of an open database. A reload of the program waits for the pieces under way, and
// holds back the next ones until it is over: rows are read and written under one schema.
//
// Invariant: a load has a place here exactly while it may go on: one that fails, ends or is closed
// gives its place and its thread back, whoever held it.
import { wallMs } from '../../base/clock.js';
import { fail } from '../../base/errors.js';
import type { ReadView } from '../../storage/table/view-types.js';
import { type LoadedFile, formerOf } from './load-files.js';
import { digestOf } from './load-key.js';
import { type BulkLoad, type LoadHooks, LoadRun, goneError } from './load-run.js';
import { readProgress } from './load-progress.js';
import { readPieces } from './load-piece.js';

/** Loads at a time: each has a thread. */
const loadsMax = 4;

/** A load of which nothing has come for so long may be gone on with by whoever has its files. */
const restMs = 1000;

export interface LoadName {
  name?: string | undefined;
  /** Not the load that is over under this name, but the next one. */
  again?: boolean | undefined;
  /**
   * Nobody reads or writes the data until it is over: edges take less time, and may be missing to
   * whoever looks before. Means nothing in a cluster, whose log takes each transaction whole.
   */
  isAlone?: boolean | undefined;
  /** Where its rows are from: they go on with a load of these files that was begun, mended or not. */
  files?: readonly LoadedFile[] | undefined;
  /** Goes on with one that was finished, too: what has changed since takes the place of what it loaded. */
  replace?: boolean | undefined;
  /** A row that is refused ends the load and takes back all that it did. */
  isStrict?: boolean | undefined;
  /** Whose share of the places it counts to; absent: nobody's. */
  holder?: string | undefined;
}

/** The name of the first load that is not over, of all with the same rows. */
function unfinished(view: ReadView, name: string): string {
  let last = name;
  for (let time = 2; readProgress(view, last).end !== undefined; time++) last = `${name} ${time}`;
  return last;
}

export class LoadRegistry {
  readonly #open = new Map<string, LoadRun>();
  #unnamed = 0;
  #underway = 0;
  #schema = 0;
  #isClosed = false;
  #changes: Promise<void> = Promise.resolve();
  #barrier: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** `idleMs`: a load that is idle for longer gives its place to another that wants one. */
  constructor(private readonly idleMs: number) {}

  /**
   * Begins a load, or goes on with the one of that name; without a name nobody can. `again`: with one
   * that is not over, though loads of that name are. Fails OVERLOADED or SHARE_EXCEEDED.
   */
  begin(
    { name, again = false, isAlone = false, isStrict = false, ...given }: LoadName,
    view: ReadView,
    hooks: Omit<LoadHooks, 'admit' | 'leave' | 'over'>,
  ): BulkLoad {
    if (this.#isClosed) fail('SHUTTING_DOWN');
    const { files, replace = false, holder } = given;
    const known = name !== undefined && again ? unfinished(view, name) : name;
    const key = known ?? `unnamed ${++this.#unnamed} ${wallMs()}`;
    const progress = readProgress(view, key);
    const isNew = progress.pieces === 0 && progress.end === undefined;
    const former = files && isNew && !again ? formerOf(view, files, replace) : undefined;
    if (former) this.#endFormer(former.digest);
    this.#makeRoom(key, holder);
    const run: LoadRun = new LoadRun(
      { name: key, isKept: name !== undefined, isAlone, isStrict, files, former, holder },
      former?.progress ?? progress,
      readPieces(view, former?.digest ?? key),
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

  /** What is gone on with under another name is over under its own, unless it is being loaded now. */
  #endFormer(digest: Uint8Array): void {
    for (const [name, run] of [...this.#open]) {
      if (Buffer.compare(digestOf(name), digest) !== 0) continue;
      if (run.idleMs < Math.min(this.idleMs, restMs)) {
        fail('OVERLOADED', { queue: 'The import of these files' });
      }
      run.abandon(goneError(run.name));
    }
  }

  /** Sees to a free place, and to that nobody else has the name. */
  #makeRoom(name: string, holder: string | undefined): void {
    const namesake = this.#open.get(name);
    if (namesake === undefined) this.#keepShare(holder);
    const open = [...this.#open.values()].sort((a, b) => b.idleMs - a.idleMs);
    if (!namesake && open.length < loadsMax) return;
    const idlest = namesake ?? open[0]!;
    if (idlest.idleMs < this.idleMs) fail('OVERLOADED', { queue: 'The table of running loads' });
    idlest.abandon(goneError(idlest.name));
  }

  /**
   * Who has a load gets one more where that leaves a place to others, and no third one beside those of others
   * (access.md 8). One that is idle gives its place to another of the same caller.
   */
  #keepShare(holder: string | undefined): void {
    if (holder === undefined) return;
    const open = [...this.#open.values()];
    const mine = open.filter((run) => run.holder === holder).sort((a, b) => b.idleMs - a.idleMs);
    const count = mine.length;
    const isLastPlace = open.length >= loadsMax - 1;
    const isBesideOthers = count >= loadsMax / 2 && count < open.length;
    if (count === 0 || !(isLastPlace || isBesideOthers)) return;
    const [idlest] = mine;
    if (idlest!.idleMs < this.idleMs) fail('SHARE_EXCEEDED', { count, what: 'running imports' });
    idlest!.abandon(goneError(idlest!.name));
  }

  async #admit(): Promise<number> {
    while (this.#barrier) await this.#barrier;
    this.#underway++;
    return this.#schema;
  }

  #leave(): void {
    if (--this.#underway === 0) this.#onIdle?.();
  }

  /** Runs `change` while no piece is under way, and no other change. */
  whileIdle(change: () => Promise<void>): Promise<void> {
    const mine = this.#changes.then(() => this.#alone(change));
    this.#changes = mine.catch(() => undefined);
    return mine;
  }

  async #alone(change: () => Promise<void>): Promise<void> {
    let open!: () => void;
    this.#barrier = new Promise((resolve) => (open = resolve));
    try {
      if (this.#underway > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
      await change();
      this.#schema++;
    } finally {
      this.#barrier = undefined;
      this.#onIdle = undefined;
      open();
    }
  }

  /** Ends every load where it stands: they may go on when the database is opened again. */
  close(): void {
    this.#isClosed = true;
    for (const run of [...this.#open.values()]) run.abandon({ code: 'SHUTTING_DOWN', args: {} });
  }
}
