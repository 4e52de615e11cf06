// `npm run bench -- all --short [--runs 3] [--only server,text]`: runs every family of benches in a short form, at
// most 20 minutes on two cores, and compares the CPU times with the committed results of the same kind of
// machine. Ends with status 1 if one of them rose by more than 10 % and by more than the runs lie apart. What
// rose is measured again first. `--save` commits to results/short what this machine measures.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOption, numberOption } from '../support/bench-option.js';
import {
  type Result,
  machineKind,
  readResults,
  resultFolder,
  resultOf,
  thisMachine,
} from '../support/result-file.js';
import { printTable, printedTables } from '../support/table.js';
import { type Compared, compareResults } from './compare-results.js';
import { allowedRise, benchOf, isRegression, mergeRuns } from './merge-runs.js';
import { type ShortBench, shortBenches } from './short-benches.js';

const main = fileURLToPath(new URL('../main.js', import.meta.url));

/** The result file of this kind of machine, below results. */
export const resultName = (): string => `short/${machineKind(thisMachine())}`;

/** One run of a bench may not take longer. */
const secondsMax = 300;
/** After that, no other bench begins. */
const minutesMax = 20;

/** One run in a process of its own; undefined, with its last line printed, if it fails or measures nothing. */
function runOnce({ bench, args }: ShortBench, folder: string): Result | undefined {
  const file = join(folder, `${bench}.json`);
  rmSync(file, { force: true });
  const words = [main, bench, ...args, '--save-to', file];
  const done = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: secondsMax * 1000,
  });
  const lines = `${done.stdout}\n${done.stderr}`.trim().split('\n');
  const result = existsSync(file) ? [...readResults(file).values()][0] : undefined;
  if (done.status === 0 && result !== undefined && result.tables.length > 0) return result;
  const skipped = lines.find((line) => line.startsWith('skipped')) ?? lines.at(-1);
  console.log(`${bench}: ${done.status === 0 ? 'left out' : 'FAILED'}: ${skipped}`);
  if (done.status !== 0) process.exitCode = 1;
  return undefined;
}

const labelOf = ({ family, bench }: ShortBench): string => `${family}: ${bench}`;

/** All runs of one bench. */
function runsOf(bench: ShortBench, runs: number, folder: string): Result[] {
  const started = performance.now();
  const found: Result[] = [];
  for (let i = 0; i < runs; i++) {
    const result = runOnce(bench, folder);
    if (result === undefined) return [];
    found.push(result);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${labelOf(bench)}: ${runs} runs in ${seconds} s`);
  return found;
}

/** Prints the tables, which also puts them into the result file of this run. */
function printRuns(all: ReadonlyMap<ShortBench, readonly Result[]>): void {
  printedTables.length = 0;
  for (const [bench, runs] of all) {
    if (runs.length === 0) continue;
    for (const { title, columns, rows } of mergeRuns(labelOf(bench), runs))
      console.log(`\n${title}\n\n${printTable(columns, rows, title)}`);
  }
}

const regressions = (committed: Result): Compared[] => {
  const now = new Map([['short', resultOf('short', '', printedTables)]]);
  return compareResults(new Map([['short', committed]]), now).compared.filter(isRegression);
};

const line = ({ row, column, before, after, ratio, noise }: Compared): string =>
  `${row}, ${column}: ${before.toFixed(1)} -> ${after.toFixed(1)} ` +
  `(${((1 / ratio - 1) * 100).toFixed(0)} % more, noise ${(noise * 100).toFixed(0)} %)`;

export function run(args: string[]): Promise<void> {
  if (!args.includes('--short')) {
    console.error(
      'Usage: npm run bench -- all --short (without it, each bench has its own command)',
    );
    process.exitCode = 1;
    return Promise.resolve();
  }
  const runs = numberOption(args, 'runs', 3);
  const only = listOption(args, 'only', []);
  const wanted = shortBenches.filter(
    ({ family, bench }) => only.length === 0 || only.includes(family) || only.includes(bench),
  );
  const folder = mkdtempSync(join(tmpdir(), 'bench-all-'));
  const end = performance.now() + minutesMax * 60_000;
  const all = new Map<ShortBench, Result[]>();
  for (const bench of wanted) {
    if (performance.now() < end) all.set(bench, runsOf(bench, runs, folder));
    else console.log(`${labelOf(bench)}: left out: ${minutesMax} minutes are over`);
  }
  printRuns(all);
  const path = join(resultFolder, `${resultName()}.json`);
  const committed = existsSync(path) ? [...readResults(path).values()][0] : undefined;
  if (committed === undefined) {
    console.log(
      `\nNothing is judged: there are no committed results of ${machineKind(thisMachine())}.`,
    );
    console.log(
      '`npm run bench -- all --short --save` writes them, on a machine with nothing else running.',
    );
  } else {
    const risen = new Set(regressions(committed).map(({ row }) => benchOf(row)));
    for (const [bench, first] of all)
      if (risen.has(bench.bench)) all.set(bench, [...first, ...runsOf(bench, runs, folder)]);
    if (risen.size > 0) printRuns(all);
    const worse = regressions(committed);
    const percent = `${allowedRise * 100} %`;
    console.log(
      `\nCompared with ${committed.date}, ${committed.commit}; load then: ${committed.load}.`,
    );
    console.log(
      `${worse.length} CPU times rose by more than ${percent} and by more than their noise.`,
    );
    for (const one of worse) console.log(line(one));
    if (worse.length > 0) process.exitCode = 1;
  }
  rmSync(folder, { recursive: true, force: true });
  return Promise.resolve();
}
