// Reads and writes the result files of benchmarks: what was measured, when, on which machine, with which load and
// commit. They are the source of the figures in README.md and in the manual.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { ResultTable } from './table.js';

export interface Result {
  bench: string;
  date: string;
  machine: string;
  load: string;
  commit: string;
  note?: string;
  tables: readonly ResultTable[];
}

/** The folder of the results that are under version control. */
export const resultFolder = resolve('bench', 'results');

/** `2 x AMD EPYC, Node 20.20.2`. */
export function thisMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${cpus().length} x ${model}, Node ${process.versions.node}`;
}

/**
 * The name of the kind of a machine: its processors and the major version of Node, which decide what a call
 * costs. `2 x AMD EPYC, Node 20.20.2` -> `2-amd-epyc-node-20`.
 */
export const machineKind = (machine: string): string =>
  machine
    .replace(/(Node \d+)\S*/, '$1')
    .toLowerCase()
    .replace(/ x /, ' ')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** Today as 2026-11-29. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** A result of this machine, this day and this commit. */
export function resultOf(bench: string, load: string, tables: readonly ResultTable[]): Result {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return { bench, date: today(), machine: thisMachine(), load, commit, tables };
}

export function writeResult(path: string, result: Result): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(result, undefined, 2)}\n`);
}

const parse = (path: string): Result => JSON.parse(readFileSync(path, 'utf8')) as Result;

/** The result files below a folder by their paths in it without `.json`, such as `peers/text`; or the file itself. */
export function readResults(path: string): Map<string, Result> {
  const isFolder = statSync(path).isDirectory();
  const [folder, paths] = isFolder
    ? [path, readdirSync(path, { recursive: true, encoding: 'utf8' })]
    : [dirname(path), [basename(path)]];
  const files = paths.filter((name) => name.endsWith('.json')).sort();
  return new Map(
    files.map((name) => [
      name.replaceAll(sep, '/').replace(/\.json$/, ''),
      parse(join(folder, name)),
    ]),
  );
}
