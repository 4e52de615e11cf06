// Measures times for benchmarks: medians of rounds, percentiles of calls, closed loops of a given width, and
// the CPU time of this process.
import type { Rounds } from './table.js';

/** The value below which `part` (0..1) of the values lie. Sorts a copy. */
export function percentile(values: ArrayLike<number>, part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const median = (values: ArrayLike<number>): number => percentile(values, 0.5);

/** What one measurement of many calls gives. */
export interface Timing {
  perSecond: number;
  /** Microseconds. */
  p50: number;
  p99: number;
  /** Microseconds of processor time, all threads, per call. */
  cpu: number;
}

/** A call; `n` counts up from 0, so that a task can take its arguments in turn. */
export type Task = (n: number) => unknown;

/** Calls one after another, each awaited only if it is a promise, for about `seconds`. */
export async function oneByOne(task: Task, seconds: number, countMax = Infinity): Promise<Timing> {
  const times: number[] = [];
  const before = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;
  let now = started;
  for (let n = 0; now < end && n < countMax; n++) {
    const result = task(n);
    if (result instanceof Promise) await result;
    const after = performance.now();
    times.push((after - now) * 1000);
    now = after;
  }
  return timingOf(times, now - started, process.cpuUsage(before));
}

/** Runs `width` loops in parallel, for about `seconds` or `countMax` calls in total. */
export async function sideBySide(
  task: Task,
  width: number,
  seconds: number,
  countMax = Infinity,
): Promise<Timing> {
  const times: number[] = [];
  const before = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < countMax) {
      const from = performance.now();
      if (from >= end) return;
      await task(next++);
      times.push((performance.now() - from) * 1000);
    }
  };
  await Promise.all(Array.from({ length: width }, loop));
  return timingOf(times, performance.now() - started, process.cpuUsage(before));
}

function timingOf(times: number[], elapsedMs: number, used: NodeJS.CpuUsage): Timing {
  const count = Math.max(1, times.length);
  return {
    perSecond: (times.length * 1000) / elapsedMs,
    p50: median(times),
    p99: percentile(times, 0.99),
    cpu: (used.user + used.system) / count,
  };
}

/** The median of several rounds, and how far they lie apart. */
export function roundsOf(values: readonly number[]): Rounds {
  const middle = median(values);
  const spread = (Math.max(...values) - Math.min(...values)) / 2 / Math.abs(middle);
  return { median: middle, spread: Number.isFinite(spread) ? spread : 0 };
}

/** A timing of several rounds: each field is the median, and `rounds` has the spread of each. */
interface RoundsTiming extends Timing {
  rounds: Record<keyof Timing, Rounds>;
}

function timingOfRounds(timings: readonly Timing[]): RoundsTiming {
  const of = (field: keyof Timing): Rounds => roundsOf(timings.map((timing) => timing[field]));
  const rounds = { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpu: of('cpu') };
  const { perSecond, p50, p99, cpu } = rounds;
  return {
    perSecond: perSecond.median,
    p50: p50.median,
    p99: p99.median,
    cpu: cpu.median,
    rounds,
  };
}

/**
 * Every contender in turn, `rounds` times over, so that a slow minute of the machine hits all alike;
 * the median of each.
 */
export async function interleave<C>(
  contenders: readonly C[],
  rounds: number,
  time: (contender: C) => Promise<Timing>,
): Promise<RoundsTiming[]> {
  const all = contenders.map((): Timing[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) all[i]!.push(await time(contender));
  }
  return all.map(timingOfRounds);
}
