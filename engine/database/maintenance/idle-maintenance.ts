// Runs maintenance between the writes of the writer thread: of vector indexes, and defragmentation.
// Invariant: after writing has stopped, and while the disk is full, no round is scheduled and no step of
// defragmentation runs.

/** Milliseconds of one round for the vector indexes. */
const roundMs = 5;
const pauseMs = 100;

export interface IdleMaintenanceOptions {
  /** Whether nothing may be written. */
  isStopped: () => boolean;
  /** Runs one round of at most `ms` milliseconds. Returns whether more is left. */
  maintainVectors: (ms: number) => boolean;
  /** Runs one step of defragmentation. `isBusy`: clients write meanwhile. Returns whether more is left. */
  repack: (isBusy: boolean) => boolean;
}

export class IdleMaintenance {
  #timer: NodeJS.Timeout | undefined;
  /** Whether anything was written since the last round. */
  #hasWritten = false;

  constructor(private readonly options: IdleMaintenanceOptions) {}

  /** Called after every write. */
  noteWrite(): void {
    this.#hasWritten = true;
    this.schedule();
  }

  schedule(): void {
    if (this.options.isStopped()) return;
    this.#timer ??= setTimeout(() => {
      const isBusy = this.#hasWritten;
      this.#timer = undefined;
      this.#hasWritten = false;
      const isMore = this.options.maintainVectors(roundMs);
      // After the last write, one more round sees an idle writer.
      if (this.#repack(isBusy) || isMore || isBusy) this.schedule();
    }, pauseMs).unref();
  }

  /** Damage stops a step without a change; requests will report the damage. */
  #repack(isBusy: boolean): boolean {
    if (this.options.isStopped()) return false;
    try {
      return this.options.repack(isBusy);
    } catch {
      // The write fence knows of a failed commit, or the disk is full.
      return false;
    }
  }
}
