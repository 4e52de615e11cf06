// Formats replies: tables for people, NDJSON and CSV for programs.
import { visible } from '../../engine/internal.js';
import { Digits, isRecord, printJson, readJson, type Value } from './lossless-json.js';

export type ResultFormat = 'table' | 'json' | 'ndjson' | 'csv';

const cellMax = 60;

/** Returns the formatted reply and its number of rows. */
export function printAnswer(reply: string, form: ResultFormat): { text: string; rows: number } {
  const value = readJson(reply);
  const rows = rowsOf(value);
  switch (form) {
    case 'json':
      return { text: reply, rows: rows.length };
    case 'ndjson':
      return { text: rows.map(printJson).join('\n'), rows: rows.length };
    case 'csv':
      return { text: csv(rows), rows: rows.length };
    case 'table':
      return { text: tables(value), rows: rows.length };
  }
}

/** Returns the items if the reply is one list; else the reply as a single row. */
function rowsOf(reply: Value): Value[] {
  if (Array.isArray(reply)) return reply;
  if (!isRecord(reply)) return [reply];
  const members = Object.values(reply);
  const [only] = members;
  return members.length === 1 && Array.isArray(only) ? only : [reply];
}

function tables(reply: Value): string {
  if (!isRecord(reply)) return tableOf(Array.isArray(reply) ? reply : [reply]);
  const members = Object.entries(reply);
  if (members.length === 1) return partOf(members[0]![1]);
  const parts = members.map(([name, value]) =>
    isScalar(value) ? `${cell(name)}: ${cell(value)}` : `${cell(name)}:\n${partOf(value)}`,
  );
  return parts.join('\n');
}

function partOf(value: Value): string {
  if (isScalar(value)) return cell(value);
  return tableOf(Array.isArray(value) ? value : [value]);
}

const isScalar = (value: Value): boolean => !Array.isArray(value) && !isRecord(value);

/** Returns the member names in the order of their first occurrence. */
function columnsOf(rows: readonly Value[]): string[] {
  return [...new Set(rows.flatMap((row) => (isRecord(row) ? Object.keys(row) : [''])))];
}

const memberOf = (row: Value, name: string): Value | undefined =>
  isRecord(row)
    ? Object.hasOwn(row, name)
      ? row[name]
      : undefined
    : name === ''
      ? row
      : undefined;

function tableOf(rows: readonly Value[]): string {
  const names = columnsOf(rows);
  const columns = names.map((name) => {
    const values = rows.map((row) => memberOf(row, name));
    const isNumeric = values.some((value) => value !== undefined) && values.every(isNumberLike);
    const cells = [name, ...values].map(cell);
    const width = Math.max(...cells.map((text) => [...text].length));
    return cells.map((text) => {
      const gap = ' '.repeat(width - [...text].length);
      return isNumeric ? gap + text : text + gap;
    });
  });
  const lines = [undefined, ...rows].map((_, at) =>
    ` ${columns.map((cells) => cells[at]).join('  ')}`.trimEnd(),
  );
  // Values without names have no heading.
  return (names.every((name) => name === '') ? lines.slice(1) : lines).join('\n');
}

const isNumberLike = (value: Value | undefined): boolean =>
  value === undefined || value === null || typeof value === 'number' || value instanceof Digits;

/** Returns one line. Characters that move the cursor or change the direction of text are escaped. */
function cell(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : printJson(value);
  const line = visible(text.replace(/[\t\n\r]+/g, ' '));
  const signs = [...line];
  return signs.length > cellMax ? `${signs.slice(0, cellMax - 1).join('')}…` : line;
}

function csv(rows: readonly Value[]): string {
  const names = columnsOf(rows);
  const lineOf = (row: Value): string =>
    names.map((name) => quoted(plainText(memberOf(row, name)))).join(',');
  return [
    names.map((name) => quoted(name === '' ? 'value' : name)).join(','),
    ...rows.map(lineOf),
  ].join('\n');
}

function plainText(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : printJson(value);
}

const quoted = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
