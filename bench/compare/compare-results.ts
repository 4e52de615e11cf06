// Compares the result tables of two runs: which numbers moved by more than their rounds lie apart.
// Invariant: rows are matched by what they are called, never by their place.
import type { Result } from '../support/result-file.js';
import type { ResultTable } from '../support/table.js';
import { columnKind, isCpuTime } from './column-kind.js';

/** Numbers of one round or of an unknown spread may be this far apart, as a share. */
export const unknownSpread = 0.25;
/** Two runs on one machine differ by this much, however close their rounds lie together. */
export const leastNoise = 0.05;

/** One number of two runs. */
export interface Compared {
  /** Of the file, of the row, and the heading of the column. */
  result: string;
  row: string;
  column: string;
  before: number;
  after: number;
  /** How many times as good the new number is: above 1 it is better. */
  ratio: number;
  /** The share by which the two can differ without a cause. */
  noise: number;
  isMoved: boolean;
  /** Whether it is CPU time. */
  isCpu: boolean;
}

export interface Comparison {
  compared: Compared[];
  /** Rows and results that only one of the two has. */
  onlyBefore: string[];
  onlyAfter: string[];
}

interface Entry {
  result: string;
  row: string;
  column: string;
  value: number;
  spread: number | null;
  isHigherBetter: boolean;
  isCpu: boolean;
}

/**
 * The heading that says what a number is. If its own has no unit, the first cell of the row has it, such as
 * `file, MB`, or the heading of that cell, or the title of the table.
 */
function headingOf({ columns, title }: ResultTable, column: number, rowName: string): string {
  const hasUnit = (name: string): boolean => !['key', 'unknown'].includes(columnKind(name));
  const own = columns[column]!;
  if (columnKind(own) !== 'unknown') return own;
  return [rowName, columns[0]!, title].find(hasUnit) ?? own;
}

/** What a row is called: its texts and keys, in order. Columns of measured numbers do not count. */
function nameOf(table: ResultTable, row: readonly (string | number)[]): string {
  const parts = row.filter((cell, i) => {
    const kind = columnKind(table.columns[i]!);
    return i === 0 || (kind === 'key' && cell !== '');
  });
  return parts.join(', ');
}

function entriesOf(results: ReadonlyMap<string, Result>): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [result, { tables }] of results) {
    for (const [t, table] of tables.entries()) {
      const seen = new Map<string, number>();
      for (const [r, row] of table.rows.entries()) {
        const name = nameOf(table, row);
        const times = (seen.get(name) ?? 0) + 1;
        seen.set(name, times);
        const title = table.title === '' ? '' : `${table.title}: `;
        const shown = `${title}${name}${times > 1 ? ` (${times})` : ''}`;
        for (const [c, column] of table.columns.entries()) {
          const heading = headingOf(table, c, String(row[0]));
          const kind = columnKind(heading);
          const value = row[c];
          if (c === 0 || typeof value !== 'number' || (kind !== 'lower' && kind !== 'higher'))
            continue;
          const spread = table.spreads?.[r]?.[c] ?? null;
          const place = table.title === '' ? t : table.title;
          const key = JSON.stringify([result, place, shown, column]);
          const isHigherBetter = kind === 'higher';
          const isCpu = isCpuTime(heading);
          entries.set(key, { result, row: shown, column, value, spread, isHigherBetter, isCpu });
        }
      }
    }
  }
  return entries;
}

/** The share by which two numbers can differ without a cause: the spreads of their rounds together. */
function noiseOf(before: Entry, after: Entry): number {
  const both = (before.spread ?? unknownSpread) + (after.spread ?? unknownSpread);
  const isKnown = before.spread !== null || after.spread !== null;
  return Math.max(leastNoise, isKnown ? both : unknownSpread);
}

function compare(before: Entry, after: Entry): Compared {
  const { result, row, column, isHigherBetter, isCpu } = before;
  const ratio = isHigherBetter ? after.value / before.value : before.value / after.value;
  const noise = noiseOf(before, after);
  const isMoved = Math.max(ratio, 1 / ratio) > 1 + noise;
  const values = { before: before.value, after: after.value };
  return { result, row, column, ...values, ratio, noise, isMoved, isCpu };
}

const placeOf = ({ result, row }: Entry): string => `${result}: ${row}`;

/** Compares results by their names. A number that is zero in one of the two is left out: it has no ratio. */
export function compareResults(
  before: ReadonlyMap<string, Result>,
  after: ReadonlyMap<string, Result>,
): Comparison {
  const [old, young] = [entriesOf(before), entriesOf(after)];
  const compared: Compared[] = [];
  for (const [key, entry] of old) {
    const next = young.get(key);
    if (next !== undefined && entry.value !== 0 && next.value !== 0)
      compared.push(compare(entry, next));
  }
  const alone = (these: Map<string, Entry>, those: Map<string, Entry>): string[] => [
    ...new Set([...these].filter(([key]) => !those.has(key)).map(([, entry]) => placeOf(entry))),
  ];
  return { compared, onlyBefore: alone(old, young), onlyAfter: alone(young, old) };
}
