// The parser's place in the token list: looking ahead, expecting, nesting, and getting back on its feet after a
// fault. A fault is reported where it is found and then thrown as `SyntaxFault`; whoever can resume catches it.
import type { Limits } from '../base/limits.js';
import type { Name } from './ast.js';
import type { Report } from './diagnostic.js';
import type { Token } from './lexer.js';
import type { Span } from './source.js';

export interface Cursor {
  readonly tokens: readonly Token[];
  readonly limits: Limits;
  /** Replaced while a query is parsed, so that reports carry its name. */
  report: Report;
  index: number;
  /** Brackets consumed and not yet closed. */
  open: number;
  depth: number;
}

/** Thrown after a report; carries nothing. */
export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
}

const fault = new SyntaxFault();

export function peek(cursor: Cursor, ahead = 0): Token {
  const { tokens } = cursor;
  return tokens[Math.min(cursor.index + ahead, tokens.length - 1)]!;
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

/** A name of this spelling; without `text`, any name. */
export function isName(cursor: Cursor, text?: string, ahead = 0): boolean {
  const token = peek(cursor, ahead);
  return token.kind === 'name' && (text === undefined || token.text === text);
}

export function accept(cursor: Cursor, symbol: string): boolean {
  if (!isSymbol(cursor, symbol)) return false;
  next(cursor);
  return true;
}

export function expect(cursor: Cursor, symbol: string): Token {
  if (!isSymbol(cursor, symbol)) unexpected(cursor, `\`${symbol}\``);
  return next(cursor);
}

export function expectName(cursor: Cursor, what: string): Name {
  if (!isName(cursor)) unexpected(cursor, what);
  return nameOf(next(cursor));
}

export function expectWord(cursor: Cursor, word: string): Token {
  if (!isName(cursor, word)) unexpected(cursor, `\`${word}\``);
  return next(cursor);
}

export function nameOf(token: Token): Name {
  return { text: token.text, span: { start: token.start, end: token.end } };
}

/** From the start of a node to the last token consumed. */
export function spanFrom(cursor: Cursor, start: number): Span {
  const last = cursor.tokens[Math.max(0, cursor.index - 1)]!;
  return { start, end: Math.max(start, last.end) };
}

/** Reports the token at hand as unexpected; `wanted` says what could stand there. */
export function unexpected(cursor: Cursor, wanted: string): never {
  const token = peek(cursor);
  // What the lexer could not read has been reported already.
  if (token.kind !== 'faulty') {
    const text = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
    const shown =
      token.kind === 'end' ? text : token.kind === 'string' ? 'a string' : `\`${text}\``;
    cursor.report('E001', token, `Unexpected ${shown}.`, `${wanted} could stand here.`);
  }
  throw fault;
}

/** Parses one level deeper; too deep is E005. */
export function nested<T>(cursor: Cursor, parse: () => T): T {
  const depthMax = cursor.limits.source_depth;
  if (cursor.depth >= depthMax) {
    const hint = 'The limit is `limits.source_depth`.';
    cursor.report('E005', peek(cursor), `This nests deeper than ${depthMax} levels.`, hint);
    throw fault;
  }
  cursor.depth++;
  try {
    return parse();
  } finally {
    cursor.depth--;
  }
}

/** Runs `parse`; after a fault runs `recover` instead, which must stop where the caller can go on. */
export function guarded<T>(cursor: Cursor, parse: () => T, recover: () => void): T | undefined {
  const { open } = cursor;
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    recover();
    cursor.open = open;
    return undefined;
  }
}

/** `item {"," item} [","]` up to, and including, the closing symbol. */
export function listUntil<T>(cursor: Cursor, close: string, item: () => T): T[] {
  const items: T[] = [];
  while (!isSymbol(cursor, close)) {
    items.push(item());
    if (!accept(cursor, ',')) break;
  }
  expect(cursor, close);
  return items;
}

const kinds = new Set(['N', 'E', 'V']);

/** Whether a new item of the file begins here. A chain on a variable called `N` is told by what follows. */
export function startsItem(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token.kind === 'end' || isSymbol(cursor, '#')) return true;
  if (token.kind !== 'name') return false;
  switch (token.text) {
    case 'QUERY':
      return isName(cursor, undefined, 1);
    case 'MIGRATION':
      return isName(cursor, 'schema', 1);
    case 'schema':
      return isSymbol(cursor, '::', 1) && peek(cursor, 2).kind === 'integer';
    default:
      if (!kinds.has(token.text) || !isSymbol(cursor, '::', 1)) return false;
      if (!isName(cursor, undefined, 2)) return false;
      return !isSymbol(cursor, '<', 3) && !isSymbol(cursor, '(', 3) && !isSymbol(cursor, '::', 3);
  }
}
