// A query as its author wrote it: the text, and the comment above it as its documentation, which are
// the `//` lines that stand directly above `QUERY` or its macros. Read off the text, as comments are
// no tokens; what the grammar takes stays as it is.
import type { SourceFile } from './source.js';

const header = /(?:#\s*\[[^\]\n]*\]\s*)*QUERY\s+$/;
/** Where the next declaration begins, or the comment above it. */
const following =
  /\n(?=[ \t]*(?:\/\/[^\n]*\n\s*|#\s*\[[^\]\n]*\]\s*)*(?:QUERY\b|[NEV]::|MIGRATION\b|schema\s*::))/;
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

/** The query whose name begins at `nameAt`, from its macros to its end. */
export function writtenAt({ text }: SourceFile, nameAt: number): string {
  const before = text.slice(Math.max(0, nameAt - 16_384), nameAt);
  const head = before.slice(header.exec(before)?.index ?? before.length);
  const after = text.slice(nameAt);
  return (head + after.slice(0, following.exec(after)?.index)).trimEnd();
}
