// What the parser insists on: a token that must be there, and the report when another is.
import type { Name } from './ast-literal.js';
import { type Cursor, isName, isSymbol, nameOf, next, peek } from './cursor.js';
import type { Token } from './lexer.js';

/** Thrown after a report; carries nothing. */
export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
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
  throw new SyntaxFault();
}
