// A Markdown table of a benchmark: one row per measurement, numbers aligned right. Keeps every table that was
// printed, for the result file of the benchmark.

/** A number that several rounds gave. */
export interface Rounds {
  /** The median of the rounds. */
  median: number;
  /** Half of the distance between the lowest and the highest round, as a share of the median. */
  spread: number;
}

export type Cell = string | number | Rounds;

/** A table with its numbers as they were measured. */
export interface ResultTable {
  title: string;
  columns: readonly string[];
  /** Of a number with rounds, the median. */
  rows: readonly (readonly (string | number)[])[];
  /** The spread of each cell, in the places of `rows`; null where one round or none gave it. */
  spreads?: readonly (readonly (number | null)[])[];
}

/** Every table that this process has printed, in order. */
export const printedTables: ResultTable[] = [];

/** 12345.6 -> "12,346", 3.14159 -> "3.14", texts as they are. */
export function printCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'object') return printCell(cell.median);
  if (!Number.isFinite(cell)) return '-';
  const digits = Math.abs(cell) >= 100 ? 0 : Math.abs(cell) >= 10 ? 1 : 2;
  return cell.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Rounds to four decimals, so that a result file has no digits that nothing measured. */
const share = (spread: number): number => Number(spread.toFixed(4));

function resultTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): ResultTable {
  const medians = rows.map((row) =>
    row.map((cell) => (typeof cell === 'object' ? cell.median : cell)),
  );
  const spreads = rows.map((row) =>
    row.map((cell) => (typeof cell === 'object' ? share(cell.spread) : null)),
  );
  const hasSpread = spreads.some((row) => row.some((spread) => spread !== null));
  return { title, columns, rows: medians, ...(hasSpread && { spreads }) };
}

/** `columns` are headings; the first is aligned left. The title is for the result file only. */
export function printTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  title = '',
): string {
  printedTables.push(resultTable(title, columns, rows));
  const texts = [columns, ...rows.map((row) => row.map(printCell))];
  const widths = columns.map((_, i) => Math.max(...texts.map((row) => row[i]!.length), 3));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(texts[0]!), rule, ...texts.slice(1).map(line)].join('\n');
}
