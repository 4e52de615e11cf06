// Counts the calls, errors and durations of one route. Durations are counted in steps of an eighth of an
// octave, so that quantiles of microseconds and of seconds have the same precision. It runs for every
// request, so it must cost almost nothing. Invariant: counts only grow; a mark is a copy of them.

/** Steps within a factor of two, from one microsecond to two minutes. */
const stepsPerOctave = 8;
const steps = 27 * stepsPerOctave;
/** The cells of the steps, and one for the errors. */
export const tallyCells = steps + 1;

export interface TallyMark {
  errors: number;
  counts: Uint32Array | undefined;
}

export interface TallyFigures {
  calls: number;
  errors: number;
  /** Microseconds; null without calls. */
  p50: number | null;
  p99: number | null;
}

export class Tally {
  /** Without `cells`, the first call creates them: most routes never get one. */
  constructor(private cells?: Uint32Array) {}

  add(seconds: number, failed: boolean): void {
    const counts = (this.cells ??= new Uint32Array(tallyCells));
    const step = Math.floor(Math.log2(seconds * 1e6) * stepsPerOctave);
    counts[Math.max(0, Math.min(steps - 1, step))]!++;
    if (failed) counts[steps]!++;
  }

  /** Adds the counts of another tally. */
  addAll(other: Tally): void {
    const { cells } = other;
    if (cells === undefined) return;
    const counts = (this.cells ??= new Uint32Array(tallyCells));
    for (let i = 0; i < tallyCells; i++) counts[i]! += cells[i]!;
  }

  get #errors(): number {
    return this.cells?.[steps] ?? 0;
  }

  mark(): TallyMark {
    return { errors: this.#errors, counts: this.cells?.slice(0, steps) };
  }

  since(before: TallyMark | undefined): TallyFigures {
    const counts = this.cells
      ?.slice(0, steps)
      .map((count, i) => count - (before?.counts?.[i] ?? 0));
    const calls = counts?.reduce((total, count) => total + count, 0) ?? 0;
    return {
      calls,
      errors: this.#errors - (before?.errors ?? 0),
      p50: counts === undefined || calls === 0 ? null : quantile(counts, calls, 0.5),
      p99: counts === undefined || calls === 0 ? null : quantile(counts, calls, 0.99),
    };
  }
}

/** Returns the middle of the step that contains the call of this rank, in microseconds. */
function quantile(counts: Uint32Array, calls: number, fraction: number): number {
  let left = Math.max(1, Math.ceil(calls * fraction));
  let step = 0;
  while ((left -= counts[step]!) > 0) step++;
  return Math.round(2 ** ((step + 0.5) / stepsPerOctave) * 10) / 10;
}
