// Makes one result of several runs of a bench, and says which CPU times are regressions.
// Invariant: a number without CPU time in its heading is never judged, because other processes change it.
import type { Result } from '../support/result-file.js';
import type { Cell, ResultTable } from '../support/table.js';
import { roundsOf } from '../support/sample-times.js';
import type { Compared } from './compare-results.js';

/** A table with the median and the spread of each number of several runs. */
export interface MergedTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

/**
 * The tables of the runs, place by place. Rows that not every run has are left out. `label` begins the titles, so
 * that the tables of several benches can stand in one file.
 */
export function mergeRuns(label: string, runs: readonly Result[]): MergedTable[] {
  const [first] = runs;
  return first!.tables.map((table, t): MergedTable => {
    const others = runs.map(({ tables }) => tables[t]);
    const rows = table.rows.flatMap((row, r): Cell[][] => {
      const same = others.map((other) => other?.rows[r]);
      return same.some((each) => each?.[0] !== row[0]) ? [] : [mergeRow(row, same)];
    });
    return { title: titleOf(label, table, t), columns: table.columns, rows };
  });
}

/** The bench of a row of merged tables: `server: http 2: read, 64` is of `http`. */
export const benchOf = (row: string): string | undefined => /^\w+: (\w+)/.exec(row)?.[1];

const titleOf = (label: string, { title }: ResultTable, place: number): string =>
  `${label}${place > 0 ? ` ${place + 1}` : ''}${title === '' ? '' : `, ${title}`}`;

type Row = readonly (string | number)[];

function mergeRow(row: Row, rows: readonly (Row | undefined)[]): Cell[] {
  return row.map((cell, c): Cell => {
    const values = rows.map((each) => each?.[c]).filter((each) => typeof each === 'number');
    return typeof cell === 'number' && values.length === rows.length ? roundsOf(values) : cell;
  });
}

/** A regression is a CPU time that is more than this share above the one before, and above its noise. */
export const allowedRise = 0.1;

export const isRegression = ({ isCpu, ratio, noise }: Compared): boolean =>
  isCpu && 1 / ratio > 1 + Math.max(allowedRise, noise);
