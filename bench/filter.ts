// `npm run bench -- filter [SET]`: searches restricted to a part of the vectors, from a half to a thousandth, beside
// hnswlib-node (label filter). Recall against brute force over the part; speed per second of CPU time, one thread.
import type { AllowList } from '../engine/vector/index.js';
import { type VectorSet, vectorSet } from './vector-data.js';
import { type FilteringContender, hnswlib, installPeers, ours } from './vector-peer.js';

const shares = [0.5, 0.1, 0.05, 0.01, 0.001];
const queriesMax = 100;

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
  const truth = set.queries.slice(0, queriesMax).map((query) => {
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

function measure(contender: FilteringContender, part: Part): { recall: number; speed: number } {
  contender.setFilter(part.rows, part.allow);
  const { truth } = part;
  let hits = 0;
  let total = 0;
  for (const [query, nearest] of truth.entries()) {
    const found = new Set(Array.from(contender.search(query, 10)));
    total += nearest.length;
    for (const row of nearest) if (found.has(row)) hits++;
  }
  let done = 0;
  let spent = 0;
  while (spent < 3e5) {
    const before = process.cpuUsage();
    for (let query = 0; query < truth.length; query++) contender.search(query, 10);
    const { user, system } = process.cpuUsage(before);
    spent += user + system;
    done += truth.length;
  }
  return { recall: hits / total, speed: (done / spent) * 1e6 };
}

export async function run(args: string[]): Promise<void> {
  const set = await vectorSet(args[0] ?? 'lsa');
  if (!set) {
    console.log('skipped: ../shared/data does not hold the set');
    return;
  }
  const contenders: FilteringContender[] = [ours(set)];
  if (installPeers()) contenders.push(hnswlib(set));
  for (const contender of contenders) {
    for (let row = 0; row < set.base.length; row++) contender.add(row, set.base[row]!);
    contender.finish();
    contender.setWidth(100);
  }
  console.log(`${set.name}: ${set.base.length} x ${set.dimension}, ef 100, recall@10 and QPS`);
  for (const share of shares) {
    const part = draw(set, share);
    const cells = contenders.map((contender) => {
      const { recall, speed } = measure(contender, part);
      return `${contender.name} ${recall.toFixed(4)} ${Math.round(speed)}`.padEnd(32);
    });
    console.log(`${(share * 100).toFixed(1)} %`.padEnd(8) + cells.join(''));
  }
}
