// `npm run bench -- vector [SET ...]`: build cost, search speed at equal recall, memory and
// snapshot loading, beside hnswlib-node and usearch. All contenders run interleaved in one
// process, one thread; speed is per second of CPU time, and recall stands beside every speed.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSnapshot, writeSnapshot } from '../engine/vector/snapshot.js';
import { vectorSet, type VectorSet } from './vector-data.js';
import { type Contender, hnswlib, installPeers, ours, usearch } from './vector-peer.js';

const targets = [0.9, 0.95, 0.99, 0.995];
const rounds = 3;

interface Point {
  recall: number;
  perSecond: number;
}

interface Result {
  contender: Contender;
  buildSeconds: number;
  points: Point[];
}

/** Seconds of CPU time that `work` takes. */
function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Builds all contenders at once, a slice of rows each in turn. */
function build(set: VectorSet, contenders: readonly Contender[]): Result[] {
  const results = contenders.map((contender) => ({
    contender,
    buildSeconds: 0,
    points: [] as Point[],
  }));
  const slice = 2000;
  for (let from = 0; from < set.base.length; from += slice) {
    for (const result of results) {
      result.buildSeconds += cpuSeconds(() => {
        const end = Math.min(set.base.length, from + slice);
        for (let row = from; row < end; row++) result.contender.add(row, set.base[row]!);
      });
    }
  }
  for (const result of results) result.buildSeconds += cpuSeconds(() => result.contender.finish());
  return results;
}

function recallOf(set: VectorSet, contender: Contender): number {
  let hits = 0;
  let total = 0;
  for (let query = 0; query < set.queries.length; query++) {
    const truth = set.truth[query]!;
    const found = new Set(Array.from(contender.search(query, 10)));
    total += truth.length;
    for (const row of truth) if (found.has(row)) hits++;
  }
  return hits / total;
}

function perSecond(set: VectorSet, contender: Contender): number {
  const count = set.queries.length;
  let done = 0;
  let spent = 0;
  while (spent < 0.15) {
    spent += cpuSeconds(() => {
      for (let query = 0; query < count; query++) contender.search(query, 10);
    });
    done += count;
  }
  return done / spent;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** Fills the curves; contenders take turns at every width, `rounds` times. */
function measure(set: VectorSet, results: readonly Result[]): void {
  const steps = Math.max(...results.map(({ contender }) => contender.widths.length));
  for (let step = 0; step < steps; step++) {
    const open = results.filter(
      ({ contender, points }) =>
        step < contender.widths.length && (points.at(-1)?.recall ?? 0) < 0.9985,
    );
    const recalls = open.map(({ contender }) => {
      contender.setWidth(contender.widths[step]!);
      return recallOf(set, contender);
    });
    const speeds = open.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, { contender }] of open.entries()) speeds[i]!.push(perSecond(set, contender));
    }
    for (const [i, { points }] of open.entries()) {
      points.push({ recall: recalls[i]!, perSecond: median(speeds[i]!) });
    }
  }
}

/**
 * Speed at a recall, between the points about it on logarithmic scales of speed and of what is
 * missed.
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

function print(set: VectorSet, results: readonly Result[]): void {
  const [first] = results;
  console.log(`\n${set.name}: ${set.base.length} x ${set.dimension}, ${set.metric}, recall@10`);
  const head = ['', 'build s', ...targets.map((t) => `QPS@${t}`), 'ceiling', 'B/vector'];
  console.log(head.map((cell, i) => cell.padEnd(i ? 20 : 16)).join(''));
  for (const { contender, buildSeconds, points } of results) {
    const ratio = (other: number | undefined, own: number | undefined): string =>
      other === undefined || own === undefined ? '' : ` (${(own / other).toFixed(2)}x)`;
    const cells = targets.map((target) => {
      const speed = speedAt(points, target);
      const compared = contender === first!.contender ? undefined : speed;
      const times = ratio(compared, speedAt(first!.points, target));
      return speed === undefined ? '-' : `${Math.round(speed)}${times}`;
    });
    const buildTimes =
      contender === first!.contender ? '' : ratio(first!.buildSeconds, buildSeconds);
    const row = [
      contender.name,
      `${buildSeconds.toFixed(1)}${buildTimes}`,
      ...cells,
      Math.max(...points.map((point) => point.recall)).toFixed(4),
      String(Math.round(contender.bytes() / set.base.length)),
    ];
    console.log(row.map((cell, i) => cell.padEnd(i ? 20 : 16)).join(''));
  }
  console.log('(in brackets: ours over theirs for speed, theirs over ours for building)');
}

function printSnapshot(contender: ReturnType<typeof ours>): void {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  const path = join(folder, 'Bench.snap');
  const { index } = contender;
  const dbUuid = '00000000-0000-7000-8000-000000000000';
  const write = performance.now();
  writeSnapshot(index, path, { dbUuid, typeId: 1, seq: 1 });
  const read = performance.now();
  const loaded = readSnapshot(path, 'Bench', index.options, { dbUuid, typeId: 1, dimension: 0 });
  const end = performance.now();
  const megabytes = statSync(path).size / 1e6;
  const rate = (ms: number): string => `${(megabytes / ms).toFixed(2)} GB/s`;
  const state = loaded.index ? 'loaded' : `refused: ${loaded.reason}`;
  console.log(
    `snapshot ${megabytes.toFixed(0)} MB: written ${rate(read - write)}, ${state} ${rate(end - read)}`,
  );
  rmSync(folder, { recursive: true });
}

/**
 * Runs the named sets (`sift`, `mnist`, `lsa`, `ada`, `COUNTxDIMENSION`); all stored ones and one
 * generated by default.
 */
export async function run(args: string[]): Promise<void> {
  const names = args.length > 0 ? args : ['sift', 'mnist', 'ada', 'lsa', '100000x768'];
  const peers = installPeers();
  for (const name of names) {
    const set = await vectorSet(name);
    if (!set) {
      console.log(`${name}: skipped, ../shared/data does not hold it`);
      continue;
    }
    const own = ours(set);
    const others = peers ? [hnswlib(set), usearch(set, 'f16'), usearch(set, 'f32')] : [];
    const results = build(set, [own, ...others]);
    measure(set, results);
    print(set, results);
    printSnapshot(own);
  }
}
