// Parses queries: macros, header, statements, RETURN. An invalid statement does not hide the next.
import type { Expr } from './ast-expression.js';
import type { Macro, QueryDeclaration, Statement } from './ast-query.js';
import type { Field } from './ast-schema.js';
import { accept, type Cursor, isName, isSymbol, nameOf, next, peek, spanFrom } from './cursor.js';
import { findClose, expectClose } from './bracket.js';
import { expect, expectName, expectWord, parseFailure, unexpected } from './expect.js';
import { foreignWord, formHints } from './dialect-hints.js';
import { parseExpression } from './parser-expression.js';
import { parseTyped } from './parser-field.js';
import { resetNesting, bindVariables } from './nesting-limit.js';
import { guarded, listUntil, nested, startsItem } from './recovery.js';

/** Parses `#[mcp]` and `#[model("…")]`. */
export function parseMacro(cursor: Cursor): Macro {
  expect(cursor, '#');
  expect(cursor, '[');
  const macro: Macro = { name: expectName(cursor, 'A macro name') };
  if (accept(cursor, '(')) {
    const token = peek(cursor);
    if (token.kind !== 'string' && token.kind !== 'name') unexpected(cursor, 'A model');
    macro.argument = next(cursor).text;
    expect(cursor, ')');
  }
  expect(cursor, ']');
  return macro;
}

/**
 * Parses `QUERY name(…) =>` and its body, after its macros that begin at `start`. Calls `named` with the name
 * as soon as it is known.
 */
export function parseQuery(
  cursor: Cursor,
  macros: Macro[],
  start: number,
  named: (name: string) => void,
): QueryDeclaration {
  expectWord(cursor, 'QUERY');
  const name = expectName(cursor, 'A query name');
  named(name.text);
  cursor.levelsOf.clear();
  expect(cursor, '(', 'Parameters stand in parentheses, also none at all: `()`.');
  const parameters = listUntil(cursor, ')', () => parseParameter(cursor));
  for (const { name } of parameters) cursor.levelsOf.set(name.text, 0);
  guarded(cursor, () => expect(cursor, '=>', formHints.query));
  const braced = passBrace(cursor);
  const budget = { left: cursor.limits.source_statements };
  const statements = parseStatements(cursor, budget);
  // An extra brace does not hide the statements after it.
  while (isSymbol(cursor, '}') && !braced) {
    guarded(cursor, () => unexpected(cursor, 'A statement or `RETURN`'));
    cursor.index++;
    statements.push(...parseStatements(cursor, budget));
  }
  const span = { start, end: start };
  const query: QueryDeclaration = { name, span, macros, parameters, statements, faulty: false };
  if (isReturn(cursor)) query.returns = parseReturn(cursor);
  if (braced && isSymbol(cursor, '}')) cursor.index++;
  query.span = spanFrom(cursor, start);
  return query;
}

/** A brace around the whole query is reported once, and its end is expected. */
function passBrace(cursor: Cursor): boolean {
  if (!isSymbol(cursor, '{')) return false;
  guarded(cursor, () =>
    unexpected(cursor, 'A statement or `RETURN`', 'Braces are for `FOR` only.'),
  );
  cursor.index++;
  return true;
}

function parseParameter(cursor: Cursor): Field {
  return parseTyped(cursor, expectName(cursor, 'A parameter name'));
}

function isReturn(cursor: Cursor): boolean {
  return isKeyword(cursor, 'RETURN');
}

/** Returns true for a keyword, unless the token after it makes it a variable. */
function isKeyword(cursor: Cursor, word: string): boolean {
  if (!isName(cursor, word)) return false;
  return !isSymbol(cursor, '<-', 1) && !isSymbol(cursor, '::', 1) && !isSymbol(cursor, '.', 1);
}

/** Returns true for `x <-` and its equivalents in other languages. */
function isBinding(cursor: Cursor): boolean {
  return isName(cursor) && (isSymbol(cursor, '<-', 1) || isForeignBinding(cursor));
}

/** Returns true if `let`, `const` or a similar word precedes the name. */
function isDeclared(cursor: Cursor): boolean {
  return /^(let|const|var|val|auto|mut)$/.test(peek(cursor, -1).text);
}

function isForeignBinding(cursor: Cursor): boolean {
  const sign = peek(cursor, 1);
  return (sign.kind === 'symbol' || sign.isUnexpected === true) && /^:?=$/.test(sign.text);
}

/** Parses statements up to `RETURN`, `}` or the next item. */
function parseStatements(cursor: Cursor, budget: { left: number }): Statement[] {
  const statements: Statement[] = [];
  while (!isReturn(cursor) && !startsItem(cursor) && !isSymbol(cursor, '}')) {
    if (budget.left-- === 0) {
      const hint = 'The limit is `limits.source_statements`.';
      const statementsMax = cursor.limits.source_statements;
      const message = `A query has at most ${statementsMax} statements.`;
      cursor.report('E005', peek(cursor), message, hint);
    }
    const statement = parseStatement(cursor, budget);
    if (statement !== undefined) statements.push(statement);
  }
  return statements;
}

function parseStatement(cursor: Cursor, budget: { left: number }): Statement | undefined {
  const { open } = cursor;
  const recover = () => skipStatement(cursor, open);
  resetNesting(cursor);
  if (peek(cursor).isUnexpected) {
    // The assigned value is skipped together with its symbol.
    const isAssigned = peek(cursor, -1).text !== ')';
    if (next(cursor).text === '=' && isAssigned)
      guarded(cursor, () => parseExpression(cursor), recover);
    return undefined;
  }
  if (isBinding(cursor)) {
    const name = nameOf(next(cursor));
    if (isSymbol(cursor, '=')) guarded(cursor, () => unexpected(cursor, '`<-`'));
    const { start } = next(cursor);
    // An invalid value still binds its name, so that its uses are not reported as unknown.
    const value = guarded(cursor, () => parseBound(cursor), recover);
    // The depth of a rejected value does not count for its readers.
    if (value === undefined) resetNesting(cursor);
    bindVariables(cursor, [name.text]);
    return {
      kind: 'bind',
      name,
      value: value ?? { kind: 'faulty', span: spanFrom(cursor, start) },
    };
  }
  return guarded(cursor, () => parseOther(cursor, budget), recover);
}

/**
 * Parses the value of a variable. `DROP` returns the number of deleted elements, unless it names a variable.
 */
function parseBound(cursor: Cursor): Expr {
  const { start } = peek(cursor);
  const isDrop =
    isKeyword(cursor, 'DROP') && !isSymbol(cursor, '(', 1) && !isSymbol(cursor, '<', 1);
  if (!isDrop || cursor.levelsOf.has('DROP')) return parseExpression(cursor);
  next(cursor);
  const of = parseExpression(cursor);
  resetNesting(cursor);
  return { kind: 'drop', of, span: spanFrom(cursor, start) };
}

function parseOther(cursor: Cursor, budget: { left: number }): Statement {
  if (isKeyword(cursor, 'DROP')) {
    next(cursor);
    const value = parseExpression(cursor);
    if (isSymbol(cursor, ','))
      unexpected(cursor, 'A statement or `RETURN`', 'Write `DROP` in front of each.');
    return { kind: 'drop', value };
  }
  refuseBranch(cursor);
  const isFor = isName(cursor, undefined, 1) || isSymbol(cursor, '{', 1);
  if (isName(cursor, 'FOR') && (isFor || isWrapped(cursor))) return parseFor(cursor, budget);
  if (!isName(cursor) && !isSymbol(cursor, '_')) unexpected(cursor, 'A statement or `RETURN`');
  return { kind: 'effect', value: parseExpression(cursor) };
}

/** Reports `if (…) { … }` and similar statements once, and skips the content of the braces. */
function refuseBranch(cursor: Cursor): void {
  const word = peek(cursor);
  if (!/^(if|while|switch|unless)$/i.test(word.text) || !isSymbol(cursor, '(', 1)) return;
  const condition = findClose(cursor.tokens, cursor.index + 1);
  const body =
    cursor.tokens[condition + 1]?.text === '{' ? findClose(cursor.tokens, condition + 1) : 0;
  if (body === 0) return;
  cursor.report('E301', word, `\`${word.text}\` is not known here.`, foreignWord('if'));
  cursor.index = body + 1;
  throw parseFailure;
}

/** Returns true for `FOR (x IN …)`. */
const isWrapped = (cursor: Cursor): boolean =>
  isSymbol(cursor, '(', 1) && isName(cursor, undefined, 2) && isName(cursor, 'IN', 3);

const loopHint = 'Write `FOR x IN list { … }`.';

function parseFor(cursor: Cursor, budget: { left: number }): Statement {
  return nested(cursor, () => {
    const wrapped = isWrapped(cursor);
    expectWord(cursor, 'FOR');
    if (wrapped) guarded(cursor, () => unexpected(cursor, 'A name', loopHint));
    if (wrapped) cursor.index++;
    const destructured = accept(cursor, '{');
    const names = destructured
      ? listUntil(cursor, '}', () => expectName(cursor, 'A member name'))
      : [expectName(cursor, 'A name')];
    if (destructured && names.length === 0) unexpected(cursor, 'A member name');
    if (isSymbol(cursor, '.')) {
      const hint = `Loop over \`${names[0]!.text}\` and use its members inside.`;
      cursor.report('E654', peek(cursor), 'A loop variable is a plain name.', hint);
      while (accept(cursor, '.')) expectName(cursor, 'A member name');
    }
    expectWord(cursor, 'IN');
    const list = parseExpression(cursor);
    bindVariables(
      cursor,
      names.map(({ text }) => text),
    );
    if (wrapped && isSymbol(cursor, ')')) cursor.index++;
    const isRange = isSymbol(cursor, '..');
    const bodyHint = 'The body of a loop stands in braces.';
    expect(
      cursor,
      '{',
      isRange ? 'A loop goes over a list: `[0, 1, 2]`, or a parameter.' : bodyHint,
    );
    const opener = cursor.index - 1;
    const body = parseStatements(cursor, budget);
    // If the brace is missing, the statements before are still used.
    guarded(cursor, () => expectClose(cursor, opener, '}'));
    return { kind: 'for', names, destructured, in: list, body };
  });
}

/** Skips tokens until a statement, `RETURN`, the end of the block or the next item begins. */
function skipStatement(cursor: Cursor, open: number): void {
  while (!startsItem(cursor)) {
    if ((isName(cursor) && isSymbol(cursor, '<-', 1)) || isReturn(cursor)) return;
    if (cursor.open <= open) {
      if (isBinding(cursor) && isDeclared(cursor)) return;
      if (isSymbol(cursor, '}') || isKeyword(cursor, 'DROP')) return;
      if (isName(cursor, 'FOR') && (isName(cursor, 'IN', 2) || isSymbol(cursor, '{', 1))) return;
    }
    next(cursor);
  }
}

function parseReturn(cursor: Cursor): Expr[] {
  next(cursor);
  const items: Expr[] = [];
  do {
    if (items.length > 0 && startsItem(cursor)) break;
    const { open } = cursor;
    const recover = () => skipReturn(cursor, open);
    resetNesting(cursor);
    const item = guarded(cursor, () => parseExpression(cursor), recover);
    items.push(item ?? { kind: 'faulty', span: peek(cursor) });
  } while (accept(cursor, ','));
  return items;
}

function skipReturn(cursor: Cursor, open: number): void {
  while (!startsItem(cursor)) {
    if (cursor.open <= open && isSymbol(cursor, ',')) return;
    next(cursor);
  }
}
