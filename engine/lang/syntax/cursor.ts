// The parser's position in the token list: looking ahead, expecting, nesting, and recovery. A syntax error is
// reported where it is found and then thrown as `parseFailure`; a caller that can resume catches it.
import type { Limits } from '../../base/limits.js';
import type { Name } from './ast-literal.js';
import type { Report } from './diagnostic.js';
import type { Token } from './lexer.js';
import type { Span } from './source-file.js';

export interface Cursor {
  readonly tokens: readonly Token[];
  readonly limits: Limits;
  /** Replaced while a query is parsed, so that reports include its name. */
  report: Report;
  index: number;
  /** Number of brackets that are consumed and not yet closed. */
  open: number;
  depth: number;
  /** Steps on the longest path into the expressions parsed so far (nesting-limit.ts). */
  steps: number;
  /** Levels of objects and lists in the values parsed so far, and in the query's variables. */
  levels: number;
  levelsOf: Map<string, number>;
  /** Offsets of foreign symbols in skipped tokens: their errors follow from an earlier one. */
  unread: Set<number>;
  /** Names in skipped tokens: they may have been declared or bound there. */
  lost: Set<string>;
}

export function peek(cursor: Cursor, ahead = 0): Token {
  const { tokens } = cursor;
  return tokens[Math.max(0, Math.min(cursor.index + ahead, tokens.length - 1))]!;
}

export function next(cursor: Cursor): Token {
  const token = peek(cursor);
  if (token.kind === 'symbol') {
    if (token.text === '(' || token.text === '{' || token.text === '[') cursor.open++;
    else if (token.text === ')' || token.text === '}' || token.text === ']') cursor.open--;
  }
  if (token.kind !== 'end') cursor.index++;
  return token;
}

export function isSymbol(cursor: Cursor, text: string, ahead = 0): boolean {
  const token = peek(cursor, ahead);
  return token.kind === 'symbol' && token.text === text;
}

/** Returns true if the token is a name of this spelling; without `text`, any name. */
export function isName(cursor: Cursor, text?: string, ahead = 0): boolean {
  const token = peek(cursor, ahead);
  return token.kind === 'name' && (text === undefined || token.text === text);
}

export function accept(cursor: Cursor, symbol: string): boolean {
  if (!isSymbol(cursor, symbol)) return false;
  next(cursor);
  return true;
}

export function nameOf(token: Token): Name {
  return { text: token.text, span: { start: token.start, end: token.end } };
}

/** Returns the range from the start of a node to the last consumed token. */
export function spanFrom(cursor: Cursor, start: number): Span {
  const last = cursor.tokens[Math.max(0, cursor.index - 1)]!;
  return { start, end: Math.max(start, last.end) };
}
