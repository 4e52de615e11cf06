// Consumes required tokens, and reports any other token in their place.
import type { Name } from './ast-literal.js';
import { type Cursor, isName, isSymbol, nameOf, next, peek } from './cursor.js';
import { foreignSign, foreignWord, formHints, takesValue } from './dialect-hints.js';
import type { Token } from './lexer.js';

class ParseFailure extends Error {
  override readonly name = 'SyntaxFault';
}

/**
 * Thrown after a report. It carries no data, so one instance serves all throws and no stack trace is made.
 */
export const parseFailure = new ParseFailure();

/** Skips a stray symbol before one of these symbols, or before a name. */
export function skipUnexpected(cursor: Cursor, ...symbols: string[]): void {
  if (peek(cursor).isUnexpected !== true) return;
  const isWanted = symbols.some((symbol) => isSymbol(cursor, symbol, 1));
  if (symbols.length === 0 ? isName(cursor, undefined, 1) : isWanted) next(cursor);
}

export function expect(cursor: Cursor, symbol: string, hint?: string): Token {
  skipUnexpected(cursor, symbol);
  if (!isSymbol(cursor, symbol)) unexpected(cursor, `\`${symbol}\``, hint);
  return next(cursor);
}

export function expectName(cursor: Cursor, what: string): Name {
  skipUnexpected(cursor);
  if (!isName(cursor)) {
    const { kind, text } = peek(cursor);
    const isQuoted = kind === 'string' && /^\w+$/.test(text);
    const hint = isQuoted ? `Write \`${text}\` without quotes.` : undefined;
    const isDigits = kind === 'integer' && peek(cursor, -1).text === '.';
    unexpected(cursor, what, isDigits ? `Write \`0.${text}\`.` : hint);
  }
  return nameOf(next(cursor));
}

export function expectWord(cursor: Cursor, word: string): Token {
  if (!isName(cursor, word)) unexpected(cursor, `\`${word}\``);
  return next(cursor);
}

/** Reports the current token as unexpected; `wanted` describes what could be there. */
export function unexpected(cursor: Cursor, wanted: string, hint?: string): never {
  const token = peek(cursor);
  // A token that the lexer could not read has been reported.
  if (token.kind !== 'faulty') {
    const text = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
    const shown =
      token.kind === 'end' ? text : token.kind === 'string' ? 'a string' : `\`${text}\``;
    const meant = hint ?? dialectHint(cursor);
    const hintText = meant ?? `${wanted} could stand here.`;
    cursor.report('E001', token, `Unexpected ${shown}.`, hintText);
  }
  throw parseFailure;
}

/** Returns the hint for a word or symbol of another language. */
function dialectHint(cursor: Cursor): string | undefined {
  const { kind, text } = peek(cursor);
  if (kind === 'name') return foreignWord(text);
  const before = cursor.tokens[cursor.index - 1];
  const isNumber = before?.kind === 'integer' || before?.kind === 'float';
  if (kind === 'integer' && text.startsWith('-')) {
    const isYear = isNumber && /^\d{4}$/.test(before.text);
    return isYear ? 'A date is a text: `"2026-03-01"`.' : foreignSign('-');
  }
  if (kind !== 'symbol') return undefined;
  const isNamed = before?.kind === 'name' && !takesValue(before);
  const isAfterValue = isNumber || isNamed || /^[)}\]>]$/.test(before?.text ?? '');
  if (text === '{' && isAfterWalk(cursor)) return ofWalk;
  if (!isAfterValue) return beforeValue.get(text) ?? foreignSign(text);
  if (text === '.' && isNumber) return `Write \`${before.text}.0\`.`;
  if (text === '>' && before?.text === '>') return undefined;
  const isMember = /^(\.|::)$/.test(cursor.tokens[cursor.index - 2]?.text ?? '');
  if (text === '<-') return isMember || before?.text === '}' ? formHints.change : undefined;
  return afterValue.get(text) ?? foreignSign(text);
}

/** Returns true if the tokens before are `Out<Edge>`, `In<Edge>` or `Both<Edge>`. */
function isAfterWalk({ tokens, index }: Cursor): boolean {
  if (tokens[index - 1]?.text !== '>') return false;
  const open = tokens.slice(0, index).findLastIndex(({ text }) => text === '<');
  return /^(Out|In|Both)$/.test(tokens[open - 1]?.text ?? '');
}

/** Hint about the two meanings of braces after a step. */
const ofWalk = 'A projection follows `::`: `x::{property}`; bounds begin with a number: `{1, 3}`.';

/** Hints for words that other languages write without `::` after a value. */
const afterValue = new Map([
  ['.', 'A step follows `::`.'],
  ['{', 'A projection follows `::`: `x::{property}`.'],
  ['[', 'A slice is `x::RANGE(0, 1)`, a member `x::{property}`.'],
  ['>', 'Compare with `::GT(…)`.'],
  ['<', 'Compare with `::LT(…)`.'],
  ['..', 'Bounds are separated by `,`: `RANGE(0, 20)`, `Out<Edge>{1, 3}`.'],
  ['|', 'Write `OR(a, b)`; what may be absent is written `name?: Type`.'],
  ['=>', formHints.item],
]);

/** Hints for symbols that other languages write before a value. */
const beforeValue = new Map([
  ['|', formHints.item],
  ['(', 'Parentheses hold arguments only: write the value without them.'],
  [':', 'Parameters are plain names.'],
]);

/**
 * Reports a word of another language in the position of a value if no value could be followed by the next
 * token. The error is then reported once, not for every later word.
 */
export function refuseForeign(cursor: Cursor): void {
  const token = peek(cursor);
  const follows = peek(cursor, 1);
  if (token.kind !== 'name' || cursor.levelsOf.has(token.text)) return;
  const isSign = follows.kind === 'symbol';
  const isCalled = isSign && follows.text === '(';
  const isAlone = isSign ? /^[([_!*]$/.test(follows.text) : follows.kind !== 'end';
  const isRead = isName(cursor, 'RETURN', 1) || (isCalled && !foreignStatement.test(token.text));
  const hint = isAlone && !isRead ? foreignWord(token.text) : undefined;
  if (hint === undefined) return;
  const known = isCalled ? 'begins nothing here' : 'is not known here';
  const message = `\`${token.text}\` ${known}.`;
  cursor.report(isCalled ? 'E001' : 'E301', token, message, hint);
  throw parseFailure;
}

/** Words before parentheses whose content is not of this language. */
const foreignStatement = /^(match|create|merge|insert|select|while|for|foreach|values|delete)$/i;
