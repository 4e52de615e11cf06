// Diagnostics: the compiler's reports about sources, their collection and their printing. The first letter of
// a code is its severity.
import { visible } from '../../base/text/visible.js';
import { readLine, findPosition, type SourceFile, type Span } from './source-file.js';

export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning';
  file: string;
  /** Line, counted from 1, as are columns. Columns count UTF-16 units; the end is exclusive. */
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  message: string;
  hint?: string;
  /** Name of the query that contains it. */
  query?: string;
}

/** Reports one diagnostic at a position of the current file. */
export type Report = (code: string, span: Span, message: string, hint?: string) => void;

export interface Collector {
  /** Returns a `Report` for one file and, inside a query, its name and the names lost in it. */
  in(file: SourceFile, query?: string, lost?: ReadonlySet<string>): Report;
  /**
   * Adds names that may have been declared in unreadable source text. Their uses are not reported as unknown.
   */
  lose(names: Iterable<string>): void;
  /** Returns everything reported so far, ordered by file and position. */
  sorted(): Diagnostic[];
}

/** Replaces the name of a declaration whose name could not be read. */
export const anyType = '*';
const unknownType = new Set('E101 E102 E103 E106 E201 E209'.split(' '));

/** Codes that report a name without a declaration. */
const unknownName = new Set('E101 E102 E103 E106 E201 E202 E209 E301 E652 E658'.split(' '));

/**
 * Keeps one error per position, and one warning per code and position. A repeated check thus reports once,
 * and an error that follows from another one at the same position is not reported.
 */
export function collectDiagnostics(): Collector {
  const lost = new Set<string>();
  const found: { path: string; start: number; diagnostic: Diagnostic }[] = [];
  const seen = new Map<string, Set<number>>();
  const add = (file: SourceFile, query: string | undefined, code: string, span: Span) => {
    const key = `${code.startsWith('E') ? 'E' : code} ${file.path}`;
    const starts = seen.get(key) ?? new Set();
    if (starts.has(span.start)) return undefined;
    seen.set(key, starts.add(span.start));
    const from = findPosition(file, span.start);
    const to = findPosition(file, Math.max(span.end, span.start));
    const diagnostic: Diagnostic = {
      code,
      severity: code.startsWith('W') ? 'warning' : 'error',
      file: file.path,
      ...from,
      endLine: to.line,
      endColumn: to.column,
      message: '',
      ...(query === undefined ? {} : { query }),
    };
    found.push({ path: file.path, start: span.start, diagnostic });
    return diagnostic;
  };
  return {
    lose: (names) => {
      for (const name of names) lost.add(name);
    },
    in: (file, query, own) => (code, span, message, hint) => {
      if (unknownName.has(code)) {
        const name = file.text.slice(span.start, span.end);
        if (lost.has(name) || own?.has(name)) return;
        if (lost.has(anyType) && unknownType.has(code)) return;
      }
      const diagnostic = add(file, query, code, span);
      if (diagnostic === undefined) return;
      diagnostic.message = message;
      if (hint !== undefined) diagnostic.hint = hint;
    },
    sorted: () => {
      const byPath = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
      found.sort((a, b) => byPath(a.path, b.path) || a.start - b.start);
      return found.map((entry) => entry.diagnostic);
    },
  };
}

const frameWidth = 120;

/** Returns `file:line:column code message`, the source line with the position underlined, and the hint. */
export function printDiagnostic(diagnostic: Diagnostic, sourceText: string): string {
  const { file, line, column, code, message } = diagnostic;
  const text = sourceText.startsWith('\uFEFF') ? sourceText.slice(1) : sourceText;
  const source = readLine(text, line).replace(/\t/g, ' ');
  const from = Math.max(0, Math.min(column - 20, source.length - frameWidth));
  const cut = source.slice(from, from + frameWidth);
  const end = diagnostic.endLine === line ? diagnostic.endColumn : source.length + 1;
  const width = Math.max(1, Math.min(end - column, cut.length - (column - 1 - from)));
  const gutter = String(line);
  // An escape occupies more columns than its character, so the carets are moved accordingly.
  const before = cut.slice(0, column - 1 - from);
  const marked = cut.slice(before.length, before.length + width);
  const gap = column - 1 - from + visible(before).length - before.length;
  const carets = width + visible(marked).length - marked.length;
  const lines = [
    `${file}:${line}:${column} ${code} ${message}`,
    `  ${gutter} | ${cut}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(gap)}${'^'.repeat(carets)}`,
  ];
  if (diagnostic.hint !== undefined) lines.push(`  hint: ${diagnostic.hint}`);
  return lines.map(visible).join('\n');
}
