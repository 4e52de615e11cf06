// The tables of figures in README.md and in the page of benchmarks, generated from bench/results. Which cells they
// show is in bench/figures.json. Invariant: a ratio divides two cells of one result file, or is a cell of it,
// so it is never a ratio of two runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Result, readResults } from '../../../bench/support/result-file.js';
import { printCell } from '../../../bench/support/table.js';
import { besideTable, rowOf as besideRowOf } from '../../../bench/vector/beside-table.js';
import { root } from '../../support/project.js';

type Cell = string | number;
type Where = Record<string, Cell>;

interface Peer {
  name: string;
  /** Another row of the table; the same one if absent. */
  where?: Where;
  /** Another column; the same one if absent. */
  column?: string;
  /** A column that has the ratio itself. */
  ratio?: string;
}

interface Figure {
  workload: string;
  result: string;
  table: number;
  where: Where;
  column: string;
  unit: string;
  lowerIsBetter?: boolean;
  peers?: Peer[];
  /** Whether README.md shows it, or its name there. */
  readme?: true | string;
  note?: string;
}

const read = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8')) as T;

/** By name of the file. */
export const results: ReadonlyMap<string, Result> = readResults(join(root, 'bench/results'));

const figures = read<Record<string, Figure[]>>('bench/figures.json');

function cellOf({ result, table, where }: Figure, peer: Where | undefined, column: string): Cell {
  const found = results.get(result)?.tables[table];
  if (found === undefined) throw new Error(`bench/results/${result}.json has no table ${table}`);
  const conditions = Object.entries(peer ?? where);
  const placeOf = (name: string): number => {
    const place = found.columns.indexOf(name);
    if (place < 0) throw new Error(`${result}: there is no column ${name}`);
    return place;
  };
  const rows = found.rows.filter((row) =>
    conditions.every(([name, value]) => row[placeOf(name)] === value),
  );
  if (rows.length !== 1) {
    throw new Error(`${result}: ${rows.length} rows are ${JSON.stringify(peer ?? where)}`);
  }
  return rows[0]![placeOf(column)]!;
}

function numberOf(figure: Figure, where: Where | undefined, column: string): number {
  const cell = cellOf(figure, where, column);
  if (typeof cell !== 'number') throw new Error(`${figure.result}: ${column} is "${cell}"`);
  return cell;
}

/** How many times as good ours is: above 1 it wins. */
function ratioOf(figure: Figure, { where, column, ratio }: Peer): number {
  if (ratio !== undefined) return numberOf(figure, where, ratio);
  const ours = numberOf(figure, undefined, figure.column);
  const theirs = numberOf(figure, where, column ?? figure.column);
  return figure.lowerIsBetter === true ? theirs / ours : ours / theirs;
}

const printRatio = (ratio: number): string =>
  `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(ratio >= 1.95 ? 1 : 2)}x`;

function printValue(figure: Figure): string {
  const value = printCell(numberOf(figure, undefined, figure.column));
  return `${value}${figure.unit === '' ? '' : ` ${figure.unit.trim()}`}`;
}

/** Day, machine and load; short on the first page. */
function runOf({ date, machine, load }: Result, isShort: boolean): string {
  const text = `${date}, ${machine.replace(/, Node [\d.]+$/, '')}; ${load}`;
  if (!isShort) return text;
  return text
    .replace(/ cores of an (?:AMD )?(\w+(?: \w+)?)(?: \(.*?\))?/, ' x $1')
    .replace(/; nothing else.*/, '')
    .replace(/ used by other processes/, ' busy');
}

function rowOf(figure: Figure, isShort: boolean): string {
  const peers = (figure.peers ?? []).map((peer) => {
    const ratio = ratioOf(figure, peer);
    const text = `${printRatio(ratio)} ${peer.name}`;
    return ratio < 1 ? `**${text}**` : text;
  });
  const compared = [peers.join(', '), figure.note ?? ''].filter((text) => text !== '').join('; ');
  const run = runOf(results.get(figure.result)!, isShort);
  const { readme, workload } = figure;
  const name = isShort && typeof readme === 'string' ? readme : workload;
  return `| ${name} | ${printValue(figure)} | ${compared} | ${run} |`;
}

const head = ['| Workload | TrellisDB | Compared with | Run |', '|---|---:|---|---|'];

const begin =
  '<!-- figures: generated from bench/results; see test/docs/reference/figures.test.ts -->';
const end = '<!-- /figures -->';

/** The figures that a page shows. */
export const shownOn = (page: string): [group: string, figures: Figure[]][] =>
  Object.entries(figures).map(([group, list]) => [
    group,
    list.filter(({ readme }) => page !== 'README.md' || readme !== undefined),
  ]);

function tablesOf(page: string): string {
  if (page === 'README.md') {
    return [
      ...head,
      ...shownOn(page).flatMap(([, list]) => list.map((it) => rowOf(it, true))),
    ].join('\n');
  }
  return shownOn(page)
    .map(([group, list]) =>
      [`### ${group}`, '', ...head, ...list.map((it) => rowOf(it, false))].join('\n'),
    )
    .join('\n\n');
}

/** The text of a page without its generated part, and with it as it must be. */
export function withFigures(page: string): { rest: string; text: string } {
  const text = readFileSync(join(root, page), 'utf8');
  const [before, inside] = text.split(`${begin}\n`) as [string, string | undefined];
  const after = inside?.split(end)[1];
  if (after === undefined) throw new Error(`${page} has no place for figures`);
  return {
    rest: before + after,
    text: `${before}${begin}\n${tablesOf(page)}\n${end}${after}`,
  };
}

const besideBegin =
  '<!-- strongest: generated from bench/results; see test/docs/reference/figures.test.ts -->';
const besideEnd = '<!-- /strongest -->';

/** The text of bench/vector.md with the tables of the strongest peers as they must be. */
export function withBeside(): string {
  const text = readFileSync(join(root, 'bench/vector.md'), 'utf8');
  const [before, inside] = text.split(`${besideBegin}\n`) as [string, string | undefined];
  const after = inside?.split(besideEnd)[1];
  const [times, builds] = results.get('vector-beside')?.tables ?? [];
  if (after === undefined || times === undefined || builds === undefined)
    throw new Error('bench/vector.md or bench/results/vector-beside.json lacks its tables');
  const buildLines = [builds.columns, builds.columns.map((_, i) => (i < 2 ? '---' : '---:'))]
    .concat(builds.rows.map((row) => row.map(printCell)))
    .map((cells) => `| ${cells.join(' | ')} |`);
  const tables = [besideTable(times.rows.map(besideRowOf)), '', ...buildLines].join('\n');
  return `${before}${besideBegin}\n\n${tables}\n\n${besideEnd}${after}`;
}

const resultBlock = /<!-- result: (\S+) (\d+) -->\n[\s\S]*?<!-- \/result -->/g;

/** `0.53x` bold: the other is better. */
const printResultCell = (cell: Cell): string => {
  const text = printCell(cell);
  return /^0\.\d+x$/.test(text) ? `**${text}**` : text;
};

/** A table of a result file as a page shows it: numbers aligned right, then the run. */
function resultLines(name: string, table: number): string[] {
  const result = results.get(name);
  const found = result?.tables[table];
  if (result === undefined || found === undefined)
    throw new Error(`bench/results has no ${name}.json with a table ${table}`);
  const isNumber = (column: number): boolean =>
    found.rows.some((row) => typeof row[column] === 'number');
  const cells = [
    found.columns,
    found.columns.map((_, i) => (isNumber(i) ? '---:' : '---')),
    ...found.rows.map((row) => row.map(printResultCell)),
  ];
  const { date, machine, load, commit } = result;
  return [
    ...cells.map((row) => `| ${row.join(' | ')} |`),
    '',
    `*${date}, ${machine}; ${load}; commit ${commit}*`,
  ];
}

/** The text of a page with the tables of its `<!-- result: NAME TABLE -->` blocks as they must be. */
export const withResults = (page: string): string =>
  readFileSync(join(root, page), 'utf8').replaceAll(
    resultBlock,
    (_, name: string, table: string) =>
      `<!-- result: ${name} ${table} -->\n\n${resultLines(name, Number(table)).join('\n')}\n\n<!-- /result -->`,
  );

/** How many tables of measurements a page has that no result file generates. */
export const handWritten = (page: string): number =>
  (
    readFileSync(join(root, page), 'utf8')
      .replaceAll(resultBlock, '')
      .replaceAll(new RegExp(`${besideBegin}[\\s\\S]*?${besideEnd}`, 'g'), '')
      .match(/^\|[ :|-]*--[ :|-]*$/gm) ?? []
  ).length;
