// `npm run bench -- corpus FOLDER... [--run] [--all]`: compiles outside projects, found recursively, each under its
// own configuration, and gives the reason for every one that does not compile. `--run` also runs every query of those
// that do on generated parameters and names every answer that would be a 5xx, or is not of its query's type. `--all`
// lists the good ones too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countUnknown } from '../../engine/internal.js';
import { type CorpusProject, findProjects, readProject } from './corpus-project.js';
import { type RunCounts, runQueries } from './corpus-run.js';
import { type Cell, printTable } from '../support/table.js';

const reasonsMax = 5;

export async function run(args: string[]): Promise<void> {
  const folders = args.filter((arg) => !arg.startsWith('--')).map((folder) => resolve(folder));
  if (folders.length === 0) {
    console.error('Usage: npm run bench -- corpus FOLDER... [--run] [--all]');
    process.exitCode = 1;
    return;
  }
  const data = mkdtempSync(join(tmpdir(), 'trellis-corpus-'));
  try {
    for (const folder of folders) await judge(folder, data, args);
  } finally {
    rmSync(data, { recursive: true });
  }
}

async function judge(root: string, data: string, args: readonly string[]): Promise<void> {
  const projects = findProjects(root).map((folder, i) =>
    readProject(folder, root, join(data, `${root.replaceAll('/', '_')}-${i}`)),
  );
  const good = projects.filter(({ errors }) => errors.length === 0);
  const queries = (list: readonly CorpusProject[]) => list.reduce((sum, p) => sum + p.queries, 0);
  console.log(
    `${root}: ${good.length} of ${projects.length} projects compile, ` +
      `${queries(good)} of ${queries(projects)} queries`,
  );
  console.log(unknownShare(good));
  for (const { name, errors } of projects) {
    if (errors.length === 0) continue;
    console.log(`\n${name}: ${errors.length} errors`);
    for (const error of errors.slice(0, reasonsMax)) console.log(`  ${error}`);
  }
  if (args.includes('--all')) for (const { name, queries: n } of good) console.log(`${name}: ${n}`);
  if (args.includes('--run')) await runAll(good);
}

/** How many of the values that queries return are of a type the compiler does not know. */
function unknownShare(projects: readonly CorpusProject[]): string {
  const total = { unknown: 0, members: 0 };
  for (const { compiled } of projects) {
    for (const { output } of compiled!.program!.queries) {
      const { unknown, members } = countUnknown(output);
      total.unknown += unknown;
      total.members += members;
    }
  }
  const share = (100 * total.unknown) / Math.max(1, total.members);
  return `of unknown type: ${total.unknown} of ${total.members} returned members, ${share.toFixed(2)} %`;
}

async function runAll(projects: readonly CorpusProject[]): Promise<void> {
  const rows: Cell[][] = [];
  const faults: string[] = [];
  const misfits: string[] = [];
  const total = { calls: 0, answered: 0, refused: 0, silent: 0 };
  for (const { name, config, compiled } of projects) {
    const { program, sources } = compiled!;
    const counts = await runQueries(config!, sources, program!);
    faults.push(...counts.faults.map((fault) => `${name}: ${fault}`));
    misfits.push(...counts.misfits.map((misfit) => `${name}: ${misfit}`));
    const refused = counts.calls - counts.answered - counts.faults.length;
    const silent = program!.queries.length - counts.worked.size;
    total.calls += counts.calls;
    total.answered += counts.answered;
    total.refused += refused;
    total.silent += silent;
    rows.push([name, counts.calls, counts.answered, refused, silent, codesOf(counts)]);
  }
  const columns = ['project', 'calls', '200', '4xx', 'never 200', 'codes'];
  rows.push(['all', total.calls, total.answered, total.refused, total.silent, '']);
  console.log(`\n${printTable(columns, rows)}\n`);
  console.log(`${faults.length} answers would be a 5xx`);
  for (const fault of faults) console.log(`  ${fault}`);
  console.log(`${misfits.length} answers are not of the type of their query`);
  for (const misfit of misfits) console.log(`  ${misfit}`);
  if (faults.length + misfits.length > 0) process.exitCode = 1;
}

function codesOf({ refused }: RunCounts): string {
  const codes = [...refused].sort((a, b) => b[1] - a[1]).map(([code, count]) => `${code} ${count}`);
  return codes.join(', ');
}
