// `npm run bench -- vector [SET ...]`: measures build cost, search speed at equal recall, memory and snapshot
// loading, compared with hnswlib-node and usearch. All peers run interleaved in one process with one thread.
// Speed is per second of CPU time, and each speed has its recall.
// `--beside symqg,glass,faiss,usearch,hnswlib` compares with the strongest indexes instead, which run as
// Python packages in other processes (vector-beside.ts).
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSnapshot, writeSnapshot } from '../../engine/vector/snapshot.js';
import { hnswlibCpp } from '../peer/cpp-peer.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { vectorSet, type VectorSet } from '../support/vector-data.js';
import { madeSet } from './made-set.js';
import { measureBeside, strongest } from './vector-beside.js';
import { build, type Point, recallOf, speedAt, speedsOf } from './vector-measure.js';
import { type Contender, hnswlib, installPeers, ours, usearch } from '../peer/vector-peer.js';
import { measureThreads } from './vector-threads.js';

const targets = [0.9, 0.95, 0.99, 0.995];
const rounds = 3;

interface Result {
  contender: Contender;
  buildSeconds: number;
  points: Point[];
}

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
      return recallOf(contender, set.truth);
    });
    const speeds = speedsOf(
      set,
      open.map(({ contender }) => contender),
      rounds,
    );
    for (const [i, { points }] of open.entries()) {
      points.push({ recall: recalls[i]!, perSecond: speeds[i]! });
    }
  }
}

function print(set: VectorSet, results: readonly Result[]): void {
  const [first] = results;
  console.log(`\n${set.name}: ${set.base.length} x ${set.dimension}, ${set.metric}, recall@10`);
  const head = ['', 'build s', ...targets.map((t) => `QPS@${t}`), 'ceiling', 'B/vector'];
  console.log(head.map((cell, i) => cell.padEnd(i ? 20 : 18)).join(''));
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
    console.log(row.map((cell, i) => cell.padEnd(i ? 20 : 18)).join(''));
  }
  console.log('(in brackets: ours over theirs for speed, theirs over ours for building)');
}

/** Seconds in which this machine hands out as much memory: no load is faster. */
function touchSeconds(bytes: number): number {
  const started = performance.now();
  const memory = new Uint8Array(new SharedArrayBuffer(bytes));
  for (let at = 0; at < bytes; at += 4096) memory[at] = 1;
  return (performance.now() - started) / 1000;
}

/** Writing and loading a snapshot, the file in the page cache; three times, the fastest counts. */
function printSnapshot({ index }: ReturnType<typeof ours>): void {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  const path = join(folder, 'Bench.snap');
  const dbUuid = '00000000-0000-7000-8000-000000000000';
  const times = { write: Infinity, read: Infinity, touch: Infinity };
  let state = 'loaded';
  for (let round = 0; round < 3; round++) {
    const write = performance.now();
    writeSnapshot(index, path, { dbUuid, typeId: 1, seq: 1 });
    const read = performance.now();
    const expected = { dbUuid, typeId: 1, dimension: 0 };
    const loaded = readSnapshot(path, 'Bench', index.options, expected);
    const end = performance.now();
    if (!loaded.index) state = `refused: ${loaded.reason}`;
    times.write = Math.min(times.write, (read - write) / 1000);
    times.read = Math.min(times.read, (end - read) / 1000);
    times.touch = Math.min(times.touch, touchSeconds(statSync(path).size));
  }
  const gigabytes = statSync(path).size / 1e9;
  const rate = (seconds: number): string => `${(gigabytes / seconds).toFixed(2)} GB/s`;
  console.log(
    `snapshot ${(gigabytes * 1000).toFixed(0)} MB: written ${rate(times.write)}, ${state} ` +
      `${rate(times.read)}; fresh memory alone comes at ${rate(times.touch)}`,
  );
  rmSync(folder, { recursive: true });
}

/** The narrowest measured width that reaches a recall of .95. */
function widthAt({ contender, points }: Result): number {
  const at = points.findIndex(({ recall }) => recall >= 0.95);
  return contender.widths[at < 0 ? points.length - 1 : at]!;
}

function isContender(contender: Contender | undefined): contender is Contender {
  return contender !== undefined;
}

/** Peers by their names in `--beside`. */
const allPeers = ['node', 'cpp', 'f16', 'f32', 'compact'];

async function runSet(set: VectorSet, beside: readonly string[]): Promise<void> {
  const has = (name: string): boolean => beside.includes(name);
  const own = ours(set);
  const f16 = has('f16') ? usearch(set, 'f16') : undefined;
  const cpp = has('cpp') ? hnswlibCpp(set) : undefined;
  const node = has('node') ? hnswlib(set) : undefined;
  const others = [node, f16, has('f32') ? usearch(set, 'f32') : undefined, cpp];
  // Below that, memory is hardly what matters.
  if (set.dimension >= 384 && has('compact')) others.push(ours(set, 'compact'));
  const contenders = [own, ...others.filter(isContender)];
  const seconds = build(set, contenders);
  const results = contenders.map(
    (contender, i): Result => ({ contender, buildSeconds: seconds[i]!, points: [] }),
  );
  measure(set, results);
  print(set, results);
  await cpp?.close?.();
  printSnapshot(own);
  const peer = results.find(({ contender }) => contender === f16);
  if (peer) f16!.setWidth(widthAt(peer));
  await measureThreads(set, own.index, widthAt(results[0]!), f16);
}

/** The set of a name; undefined, with a printed reason, if its data is not there. */
async function namedSet(name: string): Promise<VectorSet | undefined> {
  const set = name === 'made24' ? madeSet() : await vectorSet(name);
  if (!set) console.log(`${name}: skipped, ../shared/data does not hold it`);
  return set;
}

async function* setsOf(names: readonly string[]): AsyncGenerator<VectorSet> {
  for (const name of names) {
    const set = await namedSet(name);
    if (set) yield set;
  }
}

const isStrongest = (args: readonly string[]): boolean =>
  listOption(args, 'beside', []).some((name) => name !== 'cpp' && strongest.includes(name));

/** Results with the strongest peers have a file of their own. */
export const resultName = (args: readonly string[]): string =>
  isStrongest(args) ? 'vector-beside' : 'vector';

const options = ['--beside', '--k', '--rounds'];

/**
 * Runs the named sets (`sift`, `mnist`, `lsa`, `ada`, `made24`, `COUNTxDIMENSION`); all stored ones and one
 * generated by default. `--beside f16,cpp`: only these peers; large sets take the slowest an hour.
 * `--beside symqg,usearch --k 10,100 --rounds 5`: the strongest peers. `--snapshot`: only writing and loading one.
 */
export async function run(args: string[]): Promise<void> {
  const named = args.filter((arg, i) => !arg.startsWith('--') && !options.includes(args[i - 1]!));
  if (isStrongest(args)) {
    const names = named.length > 0 ? named : ['lsa', 'mnist', 'ada', 'made24'];
    const beside = listOption(args, 'beside', []);
    const unknown = beside.filter((name) => !strongest.includes(name));
    if (unknown.length > 0) console.log(`left out beside the strongest: ${unknown.join(', ')}`);
    const ks = listOption(args, 'k', ['10']).map(Number);
    return measureBeside(setsOf(names), {
      beside,
      ks,
      rounds: numberOption(args, 'rounds', rounds),
    });
  }
  const names = named.length > 0 ? named : ['sift', 'mnist', 'ada', 'lsa', '100000x768'];
  const onlySnapshot = args.includes('--snapshot');
  const hasPeers = !onlySnapshot && installPeers();
  const beside = hasPeers ? listOption(args, 'beside', allPeers) : ['compact'];
  for await (const set of setsOf(names)) {
    if (!onlySnapshot) await runSet(set, beside);
    else {
      const own = ours(set);
      build(set, [own]);
      printSnapshot(own);
    }
  }
}
