// A Markdown table of a benchmark: one row per measurement, numbers aligned right. Keeps every table that was
// printed, for the result file of the benchmark.

export type Cell = string | number;

/** A table with its numbers as they were measured. */
export interface ResultTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

/** Every table that this process has printed, in order. */
export const printedTables: ResultTable[] = [];

/** 12345.6 -> "12,346", 3.14159 -> "3.14", texts as they are. */
export function printCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '-';
  const digits = Math.abs(cell) >= 100 ? 0 : Math.abs(cell) >= 10 ? 1 : 2;
  return cell.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** `columns` are headings; the first is aligned left. */
export function printTable(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  printedTables.push({ title: '', columns, rows });
  const texts = [columns, ...rows.map((row) => row.map(printCell))];
  const widths = columns.map((_, i) => Math.max(...texts.map((row) => row[i]!.length), 3));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(texts[0]!), rule, ...texts.slice(1).map(line)].join('\n');
}
