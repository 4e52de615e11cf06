// `npm run bench -- filter [SET]`: measures searches with a filter that a half to a thousandth of the vectors
// match. The peers are hnswlib-node (a function of the label) and usearch (a C++ predicate; its JavaScript
// binding has none). Recall is against brute force over the matching vectors. Speed is per second of CPU time
// with one thread, in alternation.
import type { AllowList } from '../../engine/vector/index.js';
import { usearchCpp } from '../peer/cpp-peer.js';
import { printCell, printTable } from '../support/table.js';
import { type VectorSet, vectorSet } from '../support/vector-data.js';
import { build, recallOf, speedsOf } from './vector-measure.js';
import { type FilteringContender, hnswlib, installPeers, ours } from '../peer/vector-peer.js';

const shares = [0.5, 0.1, 0.05, 0.01, 0.001];
const queriesMax = 100;
const width = 100;
const rounds = 5;

interface Part {
  allow: AllowList;
  rows: Set<number>;
  truth: number[][];
}

const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Rows drawn by a fixed hash, and the ten nearest among them of every query. */
function draw(set: VectorSet, share: number): Part {
  const words = new Uint32Array((set.base.length + 32) >>> 5);
  const rows = new Set<number>();
  for (let row = 0; row < set.base.length; row++) {
    if ((Math.imul(row + 1, 0x9e3779b1) >>> 0) / 2 ** 32 >= share) continue;
    rows.add(row);
    words[(row + 1) >>> 5]! |= 1 << ((row + 1) & 31);
  }
  const squares = new Map([...rows].map((row) => [row, dot(set.base[row]!, set.base[row]!)]));
  const truth = set.queries.map((query) => {
    const scored = [...rows].map((row) => {
      const product = dot(query, set.base[row]!);
      const square = squares.get(row)!;
      return {
        row,
        distance: set.metric === 'l2' ? square - 2 * product : -product / Math.sqrt(square || 1),
      };
    });
    scored.sort((a, b) => a.distance - b.distance);
    return scored.slice(0, 10).map(({ row }) => row);
  });
  return { allow: { words, count: rows.size }, rows, truth };
}

interface Measured {
  recall: number;
  speed: number;
}

function measure(
  set: VectorSet,
  contenders: readonly FilteringContender[],
  part: Part,
): Measured[] {
  const recalls = contenders.map((contender) => {
    contender.setFilter(part.rows, part.allow);
    return recallOf(contender, part.truth);
  });
  const speeds = speedsOf(set, contenders, rounds);
  return recalls.map((recall, i) => ({ recall, speed: speeds[i]! }));
}

/** Recall and speed of each; of the others, how often ours is as fast. */
function rowOf(share: number, measured: readonly Measured[]): string[] {
  const own = measured[0]!.speed;
  const cells = measured.map(({ recall, speed }, i) => {
    const qps = Math.round(speed).toLocaleString('en-US');
    return `${recall.toFixed(4)}, ${qps}${i > 0 ? `, ${printCell(own / speed)}x` : ''}`;
  });
  return [`${share * 100} %`, ...cells];
}

export async function run(args: string[]): Promise<void> {
  const stored = await vectorSet(args[0] ?? 'lsa');
  if (!stored) {
    console.log('skipped: ../shared/data does not hold the set');
    return;
  }
  const set = { ...stored, queries: stored.queries.slice(0, queriesMax) };
  const contenders: FilteringContender[] = [ours(set)];
  if (installPeers()) {
    contenders.push(hnswlib(set));
    const usearch = usearchCpp(set);
    if (usearch) contenders.push(usearch);
  }
  build(set, contenders);
  for (const contender of contenders) contender.setWidth(width);
  const rows = shares.map((share) => rowOf(share, measure(set, contenders, draw(set, share))));
  const [own, ...others] = contenders.map(({ name }) => name);
  const heads = [`${own}: recall, QPS`, ...others.map((name) => `${name}: recall, QPS, ours is`)];
  console.log(
    `${set.name}: ${set.base.length} x ${set.dimension}, ef ${width}, recall@10, ` +
      `QPS per CPU second of one thread, median of ${rounds} rounds\n`,
  );
  console.log(printTable(['share that passes', ...heads], rows));
  for (const contender of contenders) await contender.close?.();
}
