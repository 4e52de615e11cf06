// Finds the source text of a query and its documentation: the `//` lines directly above `QUERY` or its
// macros. Reads the text, because comments are not tokens.
import type { SourceFile } from './source-file.js';

const header = /(?:#\s*\[[^\]\n]*\]\s*)*QUERY\s+$/;
/** Matches the start of the next declaration, or of the comment above it. */
const following =
  /\n(?=[ \t]*(?:\/\/[^\n]*\n\s*|#\s*\[[^\]\n]*\]\s*)*(?:QUERY\b|[NEV]::|MIGRATION\b|schema\s*::))/;
const commentLine = /^[ \t]*\/\/[ \t]?(.*)$/;

/**
 * Returns the comment above the query whose name begins at `nameAt`, with its line breaks; empty if there is
 * none.
 */
export function docAbove({ text }: SourceFile, nameAt: number): string {
  // Read at most this much, so that a file of many queries is not read again for each of them.
  const before = text.slice(Math.max(0, nameAt - 16_384), nameAt);
  const start = header.exec(before)?.index;
  if (start === undefined) return '';
  const lines = before.slice(0, start).split(/\r\n?|\n/);
  // Text before the header on the same line.
  if ((lines.pop() ?? '').trim() !== '') return '';
  const found: string[] = [];
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const match = commentLine.exec(line);
    if (match === null) break;
    found.unshift(match[1]!.trimEnd());
  }
  return found.join('\n').trim();
}

/** Returns the text of the query whose name begins at `nameAt`, from its macros to its end. */
export function writtenAt({ text }: SourceFile, nameAt: number): string {
  const before = text.slice(Math.max(0, nameAt - 16_384), nameAt);
  const head = before.slice(header.exec(before)?.index ?? before.length);
  const after = text.slice(nameAt);
  return (head + after.slice(0, following.exec(after)?.index)).trimEnd();
}
