// The part of the vector bench with the strongest peers. Each contender has one thread, and contenders take
// turns. One pass finds the recall of each width. Then only the two widths around each target are timed, in
// rounds.
// Invariant: times are CPU times, so that other processes of the machine count as little as possible.
import { hnswlibCpp } from '../peer/cpp-peer.js';
import { pythonPackages, pythonPeers } from '../peer/python-peer.js';
import { type Contender, ours } from '../peer/vector-peer.js';
import { median } from '../support/sample-times.js';
import { printTable } from '../support/table.js';
import type { VectorSet } from '../support/vector-data.js';
import { type BesideRow, besideColumns, besideTable, cellsOf } from './beside-table.js';
import { build, perSecond, type Point, recallOf, speedAt } from './vector-measure.js';

const targets = [0.9, 0.95, 0.99];
/** A curve ends at this recall. */
const enough = 0.9975;

/** The names in `--beside` that this part of the bench knows. `own` adds no peer. */
export const strongest = [...Object.keys(pythonPackages), 'cpp', 'own'];

export interface BesideOptions {
  beside: readonly string[];
  ks: readonly number[];
  rounds: number;
}

interface Curve {
  contender: Contender;
  /** Widths with their recall. Each recall is higher than the one before. */
  points: { width: number; recall: number }[];
}

/** Widths to try for k results: a graph that is searched with fewer candidates than results gains nothing. */
function widthsOf({ widths, isGraph }: Contender, k: number): number[] {
  const isFree = isGraph === false || k <= 10;
  return [...new Set(isFree ? widths : widths.map((width) => Math.max(width, k)))];
}

/** The recall at each width. If a search fails, the curve ends there, with a printed reason. */
function curveOf(contender: Contender, truth: readonly Uint32Array[], k: number): Curve {
  const points: Curve['points'] = [];
  try {
    for (const width of widthsOf(contender, k)) {
      contender.setWidth(width);
      const recall = recallOf(contender, truth, k);
      if (recall > (points.at(-1)?.recall ?? -1)) points.push({ width, recall });
      if (recall > enough) break;
    }
  } catch (error) {
    console.log(`${contender.name} fails at k = ${k}: ${(error as Error).message}`);
  }
  return { contender, points };
}

/** Positions in the curve of the widths around each target. */
function positionsOf({ points }: Curve): number[] {
  const needed = targets.flatMap((target) => {
    const at = points.findIndex(({ recall }) => recall >= target);
    return at < 0 ? [] : [Math.max(0, at - 1), at];
  });
  return [...new Set(needed)].sort((a, b) => a - b);
}

/** Times the widths around the targets of all contenders in turn. Returns the points of each contender. */
function timeCurves(
  set: VectorSet,
  curves: readonly Curve[],
  k: number,
  rounds: number,
): Point[][] {
  const positions = curves.map(positionsOf);
  const speeds = positions.map((list) => list.map((): number[] => []));
  const most = Math.max(...positions.map((list) => list.length));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < most; i++) {
      for (const [c, { contender, points }] of curves.entries()) {
        const position = positions[c]![i];
        if (position === undefined) continue;
        contender.setWidth(points[position]!.width);
        speeds[c]![i]!.push(perSecond(set, contender, k));
      }
    }
  }
  return curves.map(({ points }, c) =>
    positions[c]!.map((position, i) => ({
      recall: points[position]!.recall,
      perSecond: median(speeds[c]![i]!),
    })),
  );
}

function measure(
  set: VectorSet,
  contenders: readonly Contender[],
  k: number,
  rounds: number,
): BesideRow[] {
  const truth = k > 10 ? set.truth100!.map((rows) => rows.slice(0, k)) : set.truth;
  const curves = contenders.map((contender) => curveOf(contender, truth, k));
  const timed = timeCurves(set, curves, k, rounds);
  const microsAt = (c: number, recall: number): number | undefined => {
    const speed = speedAt(timed[c]!, recall);
    return speed === undefined ? undefined : 1e6 / speed;
  };
  return curves.flatMap(({ contender, points }, c) =>
    targets.map((recall): BesideRow => {
      const own = microsAt(0, recall);
      const micros = microsAt(c, recall);
      const isPeer = c > 0 && own !== undefined && micros !== undefined;
      return {
        data: labelOf(set),
        k,
        recall,
        contender: contender.name,
        micros,
        oursIs: isPeer ? micros / own : undefined,
        isNarrowest: micros !== undefined && points[0]!.recall >= recall,
        best: points.at(-1)?.recall ?? 0,
      };
    }),
  );
}

const labelOf = ({ name, base, dimension, metric }: VectorSet): string =>
  `${name} ${base.length < 1000 ? base.length : `${Math.round(base.length / 1000)}K`} x ${dimension}, ${metric}`;

interface Built {
  contender: Contender;
  /** CPU time. */
  seconds: number;
}

/**
 * Builds one peer. Returns undefined, with a printed reason, if it fails: the others are measured without it.
 */
function buildPeer(set: VectorSet, contender: Contender): Built | undefined {
  try {
    return { contender, seconds: build(set, [contender])[0]! };
  } catch (error) {
    console.log(`${contender.name} is left out of ${set.name}: ${(error as Error).message}`);
    return undefined;
  }
}

const buildColumns = ['data', 'contender', 'build CPU s', 'ours is', 'B/vector'];

const buildRows = (set: VectorSet, built: readonly Built[]): (string | number)[][] =>
  built.map(({ contender, seconds }, i) => [
    labelOf(set),
    contender.name,
    Number(seconds.toPrecision(3)),
    i === 0 ? '' : Number((seconds / built[0]!.seconds).toFixed(2)),
    Math.round(contender.bytes() / set.base.length),
  ]);

/** Measures the sets one after the other, and prints a table of all. */
export async function measureBeside(
  sets: AsyncIterable<VectorSet>,
  { beside, ks, rounds }: BesideOptions,
): Promise<void> {
  const found: BesideRow[] = [];
  const builds: (string | number)[][] = [];
  for await (const set of sets) {
    const cpp = beside.includes('cpp') ? hnswlibCpp(set) : undefined;
    const python = beside.filter((name) => Object.hasOwn(pythonPackages, name));
    const peers = [...pythonPeers(set, python), ...(cpp ? [cpp] : [])];
    const own = ours(set);
    const built: Built[] = [{ contender: own, seconds: build(set, [own])[0]! }];
    built.push(...peers.flatMap((peer) => buildPeer(set, peer) ?? []));
    builds.push(...buildRows(set, built));
    const contenders = built.map(({ contender }) => contender);
    for (const k of ks) {
      if (k > 10 && set.truth100 === undefined) {
        console.log(`${set.name}: k = ${k} is left out, its exact answers have 10 rows`);
        continue;
      }
      const rows = measure(set, contenders, k, rounds);
      console.log(`${besideTable(rows)}\n`);
      found.push(...rows);
    }
    for (const peer of peers) await peer.close?.();
  }
  // The full rows are for the result file; the lines above show the same.
  printTable(besideColumns, found.map(cellsOf));
  console.log(printTable(buildColumns, builds));
  console.log('\nµs: CPU time per query. "<": the narrowest width finds more than the recall.');
  console.log('"x": the time of the peer divided by ours. Bold: the peer is faster.');
}
