// `npm run bench -- compare OLD NEW`: prints what moved between two result files, or between the files of two
// folders, by more than the rounds of the two lie apart.
import { existsSync } from 'node:fs';
import { type Result, readResults } from '../support/result-file.js';
import { type Cell, printTable } from '../support/table.js';
import { type Compared, compareResults, leastNoise, unknownSpread } from './compare-results.js';

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

/** One file is compared with one file, whatever they are called. */
function readPair(paths: readonly [string, string]): [Map<string, Result>, Map<string, Result>] {
  const [before, after] = paths.map(readResults) as [Map<string, Result>, Map<string, Result>];
  if (before.size !== 1 || after.size !== 1) return [before, after];
  const [name] = before.keys();
  return [before, new Map([[name!, [...after.values()][0]!]])];
}

/** Lines that say in what the conditions of the two runs differ: then the numbers say little about the code. */
function differences(before: Map<string, Result>, after: Map<string, Result>): string[] {
  return [...before].flatMap(([name, old]) => {
    const next = after.get(name);
    if (next === undefined) return [];
    return (['machine', 'load'] as const)
      .filter((field) => old[field] !== next[field])
      .map((field) => `${name}: ${field} was "${old[field]}", is "${next[field]}"`);
  });
}

const rowOf = ({ result, row, column, before, after, ratio, noise }: Compared): Cell[] => [
  `${result}: ${row}`,
  column,
  before,
  after,
  `${ratio.toFixed(2)}x`,
  percent(noise),
];

const heads = ['row', 'column', 'before', 'after', 'better', 'noise'];

export function run(args: string[]): Promise<void> {
  const [before, after] = args;
  if (before === undefined || after === undefined || !existsSync(before) || !existsSync(after)) {
    console.error('Usage: npm run bench -- compare OLD NEW (two result files, or two folders)');
    process.exitCode = 1;
    return Promise.resolve();
  }
  const [old, young] = readPair([before, after]);
  const { compared, onlyBefore, onlyAfter } = compareResults(old, young);
  const moved = compared.filter(({ isMoved }) => isMoved).sort((a, b) => a.ratio - b.ratio);
  for (const line of differences(old, young)) console.log(line);
  if (moved.length > 0) console.log(`\n${printTable(heads, moved.map(rowOf))}\n`);
  const worse = moved.filter(({ ratio }) => ratio < 1).length;
  console.log(
    `${compared.length} numbers compared: ${worse} worse, ${moved.length - worse} better, ` +
      `${compared.length - moved.length} within their noise.`,
  );
  for (const row of onlyBefore) console.log(`only before: ${row}`);
  for (const row of onlyAfter) console.log(`only after: ${row}`);
  console.log(
    `Noise: the spreads of the rounds of both together, at least ${percent(leastNoise)}; ` +
      `${percent(unknownSpread)} where a file has no spread.`,
  );
  return Promise.resolve();
}
