// Parses literals: strings, numbers, `true`, `false`, `NONE` and `NOW`.
import type { Faulty, Literal, LiteralValue } from './ast-literal.js';
import { type Cursor, next, peek } from './cursor.js';
import { unexpected } from './expect.js';
import type { Token } from './lexer.js';

/** Returns the literal at the current token, or undefined if the token begins none. */
export function tokenLiteral(token: Token): Literal | Faulty | undefined {
  const span = { start: token.start, end: token.end };
  if (token.kind === 'faulty') return { kind: 'faulty', span };
  const value = literalValue(token);
  return value === undefined ? undefined : { kind: 'literal', value, span };
}

function literalValue(token: Token): LiteralValue | undefined {
  switch (token.kind) {
    case 'string':
      return { kind: 'string', value: token.text };
    case 'integer':
      return { kind: 'integer', value: token.value! };
    case 'float':
      return { kind: 'float', value: Number(token.value) };
    case 'name':
      if (token.text === 'NONE') return { kind: 'none' };
      if (token.text === 'NOW') return { kind: 'now' };
      if (token.text === 'true' || token.text === 'false') {
        return { kind: 'boolean', value: token.text === 'true' };
      }
      return undefined;
    default:
      return undefined;
  }
}

export function parseLiteral(cursor: Cursor, wanted: string): Literal | Faulty {
  const literal = tokenLiteral(peek(cursor));
  if (literal === undefined) unexpected(cursor, wanted);
  next(cursor);
  return literal;
}
