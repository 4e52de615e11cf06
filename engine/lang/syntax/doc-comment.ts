// The comment above a query as its documentation: the `//` lines that stand directly above `QUERY` or
// its macros. Read off the text, as comments are no tokens; what the grammar takes stays as it is.
import type { SourceFile } from './source.js';

const header = /(?:#\s*\[[^\]\n]*\]\s*)*QUERY\s+$/;
const commentLine = /^[ \t]*\/\/[ \t]?(.*)$/;

/** Of the query whose name begins at `nameAt`; empty when there is none. Lines are kept apart. */
export function docAbove({ text }: SourceFile, nameAt: number): string {
  // No more than a page: a file of many queries is not read again for each of them.
  const before = text.slice(Math.max(0, nameAt - 16_384), nameAt);
  const start = header.exec(before)?.index;
  if (start === undefined) return '';
  const lines = before.slice(0, start).split(/\r\n?|\n/);
  // What stands before the header on its own line.
  if ((lines.pop() ?? '').trim() !== '') return '';
  const found: string[] = [];
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const match = commentLine.exec(line);
    if (match === null) break;
    found.unshift(match[1]!.trimEnd());
  }
  return found.join('\n').trim();
}
