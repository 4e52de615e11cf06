// How the vector benches measure a contender: building in turns, recall, and speed by CPU time, which
// a contender of another process takes itself.
import { median } from '../support/sample-times.js';
import type { VectorSet } from '../support/vector-data.js';
import type { Contender } from '../peer/vector-peer.js';

/** One width of a contender. */
export interface Point {
  recall: number;
  perSecond: number;
}

/**
 * Searches per second at a recall, between the measured points around it, on logarithmic scales of the speed
 * and of the share that is missed. Undefined if no point reaches the recall.
 */
export function speedAt(points: readonly Point[], target: number): number | undefined {
  const missed = (recall: number): number => Math.log(Math.max(1e-5, 1 - recall));
  let best: number | undefined;
  for (let i = 0; i < points.length; i++) {
    const b = points[i]!;
    if (b.recall < target) continue;
    const a = points[i - 1];
    if (!a) return b.perSecond;
    const part = (missed(target) - missed(a.recall)) / (missed(b.recall) - missed(a.recall));
    best = Math.exp(Math.log(a.perSecond) * (1 - part) + Math.log(b.perSecond) * part);
    break;
  }
  return best;
}

/** Seconds of CPU time that `work` takes. */
function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Builds all peers in alternation, a slice of rows each. Returns the seconds of each. */
export function build(set: VectorSet, contenders: readonly Contender[]): number[] {
  const seconds = contenders.map(() => 0);
  const slice = 2000;
  for (let from = 0; from < set.base.length; from += slice) {
    const end = Math.min(set.base.length, from + slice);
    for (const [i, contender] of contenders.entries()) {
      const add = (): void => {
        for (let row = from; row < end; row++) contender.add(row, set.base[row]!);
      };
      seconds[i]! += contender.addRange?.(from, end) ?? cpuSeconds(add);
    }
  }
  for (const [i, contender] of contenders.entries())
    seconds[i]! += cpuSeconds(() => contender.finish());
  return seconds;
}

/** The share of the rows of `truth`, the nearest of every query, that are among the `k` found rows. */
export function recallOf(
  contender: Contender,
  truth: readonly ArrayLike<number>[],
  k = 10,
): number {
  let hits = 0;
  let total = 0;
  const all = contender.searchAll?.(k).found;
  for (const [query, nearest] of truth.entries()) {
    const found = new Set(Array.from(all?.[query] ?? contender.search(query, k)));
    total += nearest.length;
    for (const row of Array.from(nearest)) if (found.has(row)) hits++;
  }
  return hits / total;
}

/** Searches per second of CPU time. Repeats all queries until they have taken .15 seconds. */
export function perSecond(set: VectorSet, contender: Contender, k = 10): number {
  const count = set.queries.length;
  let done = 0;
  let spent = 0;
  while (spent < 0.15) {
    const searchAll = (): void => {
      for (let query = 0; query < count; query++) contender.search(query, k);
    };
    spent += contender.timeAll?.(k) ?? contender.searchAll?.(k).seconds ?? cpuSeconds(searchAll);
    done += count;
  }
  return done / spent;
}

/** The speed of each: the median of rounds in which the contenders take turns. */
export function speedsOf(
  set: VectorSet,
  contenders: readonly Contender[],
  rounds: number,
): number[] {
  const speeds = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) speeds[i]!.push(perSecond(set, contender));
  }
  return speeds.map(median);
}
