// Finds, from the tokens alone, where items of the file begin and which brackets are never closed. A missing
// bracket is reported where it was opened, not where its absence is noticed.
import { type Cursor, isSymbol, peek } from './cursor.js';
import { parseFailure, unexpected } from './expect.js';
import type { Token } from './lexer.js';

const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
const isCloser = /^[)\]}]$/;

/**
 * Reports that the bracket at `opener` is not closed here: at the bracket if it is never closed, otherwise at
 * the current token, where `wanted` could be.
 */
export function refuseClose(cursor: Cursor, opener: number, close: string, wanted: string): never {
  const { tokens } = cursor;
  const isOpen = close === '>' ? isOpenAngle(tokens, opener) : isOpenBracket(tokens, opener);
  if (!isOpen || peek(cursor).kind === 'faulty') return unexpected(cursor, wanted);
  const { text } = tokens[opener]!;
  const hint = `Add \`${close}\`.`;
  cursor.report('E001', tokens[opener]!, `This \`${text}\` is never closed.`, hint);
  throw parseFailure;
}

/** Consumes the closing bracket of the one at `opener`, or reports its absence. */
export function expectClose(cursor: Cursor, opener: number, close: string): void {
  if (!isSymbol(cursor, close)) refuseClose(cursor, opener, close, `\`${close}\``);
  cursor.open--;
  cursor.index++;
}

/** Type arguments are names, so any other token before `>` shows that it is missing. */
function isOpenAngle(tokens: readonly Token[], opener: number): boolean {
  for (let at = opener + 1; ; at++) {
    const { kind, text } = tokens[at]!;
    if (kind === 'symbol' && text === '>') return false;
    const isBreak = kind === 'end' || (kind === 'symbol' && /^([()[\]{}]|<-|=>|::)$/.test(text));
    if (isBreak || (kind === 'name' && text === 'RETURN')) return true;
  }
}

/**
 * Returns true if the following brackets do not match before the item ends, or before a token that cannot be
 * inside.
 */
function isOpenBracket(tokens: readonly Token[], opener: number): boolean {
  const wanted = [closers[tokens[opener]!.text]!];
  for (let at = opener + 1; ; at++) {
    const { kind, text } = tokens[at]!;
    if (kind === 'end' || beginsItem(tokens, at)) return true;
    if (kind === 'name' && endsValue(tokens, at) && !wanted.includes('}')) return true;
    if (kind !== 'symbol') continue;
    const close = closers[text];
    if (close !== undefined) wanted.push(close);
    else if (isCloser.test(text)) {
      // A bracket that is opened inside and not closed ends with the one around it.
      const from = wanted.lastIndexOf(text);
      if (from < 0) return true;
      wanted.length = from;
      if (from === 0) return false;
    }
  }
}

/** Returns true for a new statement or `RETURN`: neither occurs in parentheses. */
function endsValue(tokens: readonly Token[], at: number): boolean {
  const follows = tokens[at + 1];
  if (follows?.kind === 'symbol' && follows.text === '<-') return true;
  if (tokens[at]!.text !== 'RETURN' || follows === undefined) return false;
  return follows.kind !== 'symbol' || !/^(::|\.|,|[)\]}])$/.test(follows.text);
}

/** Maximum number of tokens to skip after one report. Later tokens are parsed normally. */
const skippedMax = 1000;

/** Returns the index of the closing bracket; 0 if it is not near or not before the end of the item. */
export function findClose(tokens: readonly Token[], opener: number): number {
  const wanted: string[] = [];
  for (let at = opener; at < opener + skippedMax; at++) {
    const { kind, text } = tokens[at]!;
    if (kind === 'end' || beginsItem(tokens, at)) return 0;
    if (kind !== 'symbol') continue;
    const close = closers[text];
    if (close !== undefined) wanted.push(close);
    else if (isCloser.test(text) && wanted.pop() !== text) return 0;
    if (wanted.length === 0) return at;
  }
  return 0;
}

const kinds = new Set(['N', 'E', 'V']);

/**
 * Returns true if a new item of the file begins at this token. The tokens after it distinguish an item from a
 * chain on a variable called `N`.
 */
export function beginsItem(tokens: readonly Token[], at: number): boolean {
  const token = (ahead: number): Token => tokens[Math.min(at + ahead, tokens.length - 1)]!;
  const isSymbol = (text: string, ahead: number): boolean =>
    token(ahead).kind === 'symbol' && token(ahead).text === text;
  const isName = (ahead: number): boolean => token(ahead).kind === 'name';
  const { kind, text } = token(0);
  if (kind === 'end' || isSymbol('#', 0)) return true;
  if (kind !== 'name') return false;
  switch (text) {
    case 'QUERY':
      return isName(1);
    case 'MIGRATION':
      return isName(1) && token(1).text === 'schema';
    case 'schema':
      return isSymbol('::', 1) && token(2).kind === 'integer';
    default:
      if (!kinds.has(text) || !isSymbol('::', 1) || !isName(2)) return false;
      return !isSymbol('<', 3) && !isSymbol('(', 3) && !isSymbol('::', 3);
  }
}
