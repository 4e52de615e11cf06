// `npm run bench -- recall`: measures whether the nearest neighbors are found for all kinds of vectors. A
// grid of metrics, clusters, lengths, dimensions, layouts, filters and histories compares recall@10 of our
// index and of usearch f32 at the same m and widths with exact results. "Walked" is the same index with the
// default width, so it shows what calibration gains and costs. A cell fails below .95, or if usearch finds
// more than .01 more.
//
//   --metric --spread --norms --dimension --layout --history --filter VALUE,VALUE   parts of the grid
//   --full          every combination of them; else every pair of values occurs in some cell
//   --size 3000 --queries 50 --seed 1 --k 10   --peer no   --failing (prints only those)
import { listOption, numberOption } from '../support/bench-option.js';
import { type Cell, type FilterKind, filters, type Selection, wholeGrid } from './recall-axes.js';
import { everyCell, nameOf, pairedCells } from './recall-cells.js';
import { type DataSize, filterOf, makeData, Truth } from './recall-data.js';
import { buildIndex, type Measured, measureOurs, standard } from './recall-index.js';
import { type UsearchContender, usearchMaker } from './recall-peer.js';

const leastRecall = 0.95;
const mostBehind = 0.01;

interface Options extends DataSize {
  k: number;
  filters: FilterKind[];
}

interface Line {
  cell: Cell;
  filter: FilterKind;
  ours: Measured;
  /** Searches the same index with the default width, without calibration. */
  walked: Measured;
  theirs: Measured | undefined;
}

/** Values of every axis that the arguments name; all of those that they do not. */
function selectionOf(args: readonly string[]): Selection {
  const chosen = Object.entries(wholeGrid).map(([axis, values]) => {
    const texts = listOption(args, axis, values.map(String));
    const known = texts.map((text) =>
      values.find((value) => value === text || value === Number(text)),
    );
    const missing = texts.filter((_, i) => known[i] === undefined);
    if (missing.length > 0)
      throw new Error(`--${axis} ${missing.join(',')}: it takes ${values.join(',')}`);
    return [axis, known];
  });
  return Object.fromEntries(chosen) as Selection;
}

/** Cells that share their data are measured one after another, so that truth and peer serve all. */
function byData(cells: readonly Cell[]): Cell[][] {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = `${cell.dimension} ${cell.spread} ${cell.norms} ${cell.metric}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [...groups.values()];
}

function* measureGroup(
  group: readonly Cell[],
  options: Options,
  makePeer: ((metric: Cell['metric'], truth: Truth) => UsearchContender) | undefined,
): Generator<Line> {
  const data = makeData(group[0]!, options);
  const truth = new Truth(group[0]!.metric, data);
  const peer = makePeer?.(group[0]!.metric, truth);
  const made = options.filters.map((filter) => filterOf(data, filter, options.seed));
  const theirs = made.map((filter) => peer?.measure(options.k, filter));
  for (const cell of group) {
    const index = buildIndex(cell, data);
    for (const [i, name] of options.filters.entries()) {
      const filter = made[i]!;
      const ours = measureOurs(index, truth, options.k, { filter });
      const walked = measureOurs(index, truth, options.k, { filter, ef: standard.efSearch });
      yield { cell, filter: name, ours, walked, theirs: theirs[i] };
    }
    index.close();
  }
}

const isFailing = ({ ours, theirs }: Line): boolean =>
  ours.recall < leastRecall || ours.recall < (theirs?.recall ?? 0) - mostBehind;

function printLine(line: Line): string {
  const { cell, filter, ours, walked, theirs } = line;
  const of = (recall: number): string => recall.toFixed(3).padStart(7);
  const speed = (measured: Measured): string => String(Math.round(measured.perSecond)).padStart(8);
  const peer =
    theirs === undefined
      ? ''
      : `${of(theirs.recall)}${of(ours.recall - theirs.recall)}${speed(theirs)}`;
  const mark = isFailing(line) ? '  FAILS' : '';
  return `${`${nameOf(cell)} ${filter}`.padEnd(58)}${of(ours.recall)}${speed(ours)}${of(walked.recall)}${speed(walked)}${peer}${mark}`;
}

/** Failing lines per value of every axis: where the faults are. */
function printSummary(lines: readonly Line[]): void {
  const failing = lines.filter(isFailing);
  const behind = failing.filter(
    ({ ours, theirs }) => ours.recall < (theirs?.recall ?? 0) - mostBehind,
  );
  console.log(
    `\n${lines.length} searches: ${failing.length} fail, ${behind.length} of them behind usearch`,
  );
  if (failing.length === 0) return;
  for (const axis of [...Object.keys(wholeGrid), 'filter']) {
    const axisOf = ({ cell, filter }: Line): string =>
      String({ ...cell, filter }[axis as 'metric']);
    const values = [...new Set(lines.map(axisOf))].map((value) => {
      const of = lines.filter((line) => axisOf(line) === value);
      return `${value} ${of.filter(isFailing).length}/${of.length}`;
    });
    console.log(`  ${axis}: ${values.join(', ')}`);
  }
}

export async function run(args: string[]): Promise<void> {
  const selection = selectionOf(args);
  const cells = args.includes('--full') ? everyCell(selection) : pairedCells(selection);
  const chosen = listOption(args, 'filter', filters) as FilterKind[];
  const options: Options = {
    size: numberOption(args, 'size', 3000),
    queries: numberOption(args, 'queries', 50),
    seed: numberOption(args, 'seed', 1),
    k: numberOption(args, 'k', 10),
    filters: filters.filter((filter) => chosen.includes(filter)),
  };
  const isPeerWanted = listOption(args, 'peer', ['yes'])[0] !== 'no';
  const makePeer = isPeerWanted ? await usearchMaker() : undefined;
  console.log(`${cells.length} indexes of ${options.size} vectors, seed ${options.seed}\n`);
  const columns = makePeer === undefined ? '' : '  theirs   less     QPS';
  console.log(`${''.padEnd(60)} ours     QPS walked     QPS${columns}`);
  const lines: Line[] = [];
  for (const group of byData(cells)) {
    for (const line of measureGroup(group, options, makePeer)) {
      lines.push(line);
      if (!args.includes('--failing') || isFailing(line)) console.log(printLine(line));
    }
  }
  printSummary(lines);
}
