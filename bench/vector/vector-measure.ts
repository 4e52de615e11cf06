// How the vector benches measure a contender: building in turns, recall, and speed by CPU time, which
// a contender of another process takes itself.
import { median } from '../support/sample-times.js';
import type { VectorSet } from '../support/vector-data.js';
import type { Contender } from '../peer/vector-peer.js';

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

/** The share of `truth`, the nearest rows of every query, that ten found rows hold. */
export function recallOf(contender: Contender, truth: readonly ArrayLike<number>[]): number {
  let hits = 0;
  let total = 0;
  const all = contender.searchAll?.(10).found;
  for (const [query, nearest] of truth.entries()) {
    const found = new Set(Array.from(all?.[query] ?? contender.search(query, 10)));
    total += nearest.length;
    for (const row of Array.from(nearest)) if (found.has(row)) hits++;
  }
  return hits / total;
}

/** Searches per second of CPU time: all queries, over and over if that takes little. */
function perSecond(set: VectorSet, contender: Contender): number {
  const count = set.queries.length;
  let done = 0;
  let spent = 0;
  while (spent < 0.15) {
    const searchAll = (): void => {
      for (let query = 0; query < count; query++) contender.search(query, 10);
    };
    spent += contender.searchAll?.(10).seconds ?? cpuSeconds(searchAll);
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
