// Parses expressions: literals, arrays, objects, and chains of a head and its steps.
import type {
  Argument,
  Call,
  Chain,
  Expr,
  ObjectLiteral,
  Path,
  ProjectionItem,
  Step,
} from './ast-expression.js';
import type { Name } from './ast-literal.js';
import { accept, type Cursor, isName, isSymbol, nameOf, next, peek, spanFrom } from './cursor.js';
import {
  expect,
  expectName,
  skipUnexpected,
  refuseForeign,
  parseFailure,
  unexpected,
} from './expect.js';
import { tokenLiteral } from './parser-literal.js';
import { bindVariables, chainDepth, nestedOnce, readVariable } from './nesting-limit.js';
import { guarded, listUntil, nested, startsItem } from './recovery.js';

type HopBounds = NonNullable<Call['hops']>;
type MemberItem = Extract<ProjectionItem, { kind: 'member' }>;

export function parseExpression(cursor: Cursor): Expr {
  return nested(cursor, () => {
    // A symbol before a name is not part of it.
    if (/^[$@&+-]$/.test(peek(cursor).text)) skipUnexpected(cursor);
    const token = peek(cursor);
    if (accept(cursor, '!')) {
      const of = parseExpression(cursor);
      return { kind: 'not', of, span: spanFrom(cursor, token.start) };
    }
    if (isSymbol(cursor, '{')) return parseObject(cursor);
    if (isSymbol(cursor, '[')) return parseArray(cursor);
    // `NOW` may be a name; the checker decides.
    const literal = isName(cursor, 'NOW') ? undefined : tokenLiteral(token);
    if (literal !== undefined) {
      next(cursor);
      return literal;
    }
    return parseChain(cursor);
  });
}

function parseArray(cursor: Cursor): Expr {
  const { start } = peek(cursor);
  return nestedOnce(cursor, () => {
    expect(cursor, '[');
    const items = listUntil(cursor, ']', () => parseExpression(cursor));
    return { kind: 'array', items, span: spanFrom(cursor, start) };
  });
}

function parseObject(cursor: Cursor): ObjectLiteral {
  return nestedOnce(cursor, () => {
    const { start } = expect(cursor, '{');
    const members = listUntil(cursor, '}', () => {
      const name = expectName(cursor, 'A member name');
      if (accept(cursor, ':')) return { name, value: parseExpression(cursor) };
      readVariable(cursor, name.text);
      return { name, value: pathChain([name]) };
    });
    return { kind: 'object', members, span: spanFrom(cursor, start) };
  });
}

function pathChain(names: Path['names']): Chain {
  const { span } = names[0];
  return { kind: 'chain', head: { kind: 'path', names, span }, steps: [], span };
}

function parseChain(cursor: Cursor): Chain {
  const { start } = peek(cursor);
  const nextStep = () => (goesOn(cursor) ? parseStep(cursor) : undefined);
  const { head, steps } = chainDepth(cursor, () => parseHead(cursor), nextStep);
  return { kind: 'chain', head, steps, span: spanFrom(cursor, start) };
}

/** Returns true if a step follows. A `.`, `:` or `->` in place of `::` is reported, and the step is read. */
function goesOn(cursor: Cursor): boolean {
  if (accept(cursor, '::')) return true;
  const { isUnexpected, text } = peek(cursor);
  const isNamed = isName(cursor, undefined, 1);
  if (isUnexpected === true && isNamed && (text === '->' || text.startsWith('-['))) {
    next(cursor);
    if (text === '->') return true;
    // Skips the pattern of another language and the type that it leads to.
    next(cursor);
    return false;
  }
  const isPoint = isSymbol(cursor, '.') && (isNamed || isSymbol(cursor, '{', 1));
  if (!isPoint && !(isSymbol(cursor, ':') && isNamed && isTight(cursor))) return false;
  guarded(cursor, () => unexpected(cursor, '`::`', stepHint));
  cursor.index++;
  return true;
}

const stepHint = 'A step or a property follows `::`.';

/** Returns true if there is no space around the current token. */
const isTight = (cursor: Cursor): boolean => {
  const { start, end } = peek(cursor);
  return peek(cursor, -1).end === start && peek(cursor, 1).start === end;
};

function parseHead(cursor: Cursor): Chain['head'] {
  const { start } = peek(cursor);
  if (accept(cursor, '_')) {
    readVariable(cursor, '_');
    const members: Name[] = [];
    while (accept(cursor, '.')) members.push(expectName(cursor, 'A member name'));
    return { kind: 'item', members, span: spanFrom(cursor, start) };
  }
  if (!isName(cursor) || isOther(cursor)) unexpected(cursor, 'An expression');
  refuseForeign(cursor);
  const isCall = isSymbol(cursor, '<', 1) && !isCompared(cursor);
  if (isCall || isSymbol(cursor, '(', 1)) return parseCall(cursor);
  const names: Path['names'] = [nameOf(next(cursor))];
  readVariable(cursor, names[0].text);
  while (isSymbol(cursor, '.') && !isSymbol(cursor, '{', 1)) {
    next(cursor);
    names.push(expectName(cursor, 'A member name'));
  }
  return { kind: 'path', names, span: spanFrom(cursor, start) };
}

/** `level < 3`: a name in lower case has no type arguments. */
function isCompared(cursor: Cursor): boolean {
  if (!/^[a-z]/.test(peek(cursor).text)) return false;
  const isType = isName(cursor, undefined, 2) && /^[A-Z]/.test(peek(cursor, 2).text);
  return !isType && !isSymbol(cursor, '>', 2);
}

const literals = new Set(['string', 'integer', 'float']);

/** Returns true if `QUERY` or `RETURN` follows where an expression is missing; both may be variables. */
function isOther(cursor: Cursor): boolean {
  const isNamed = isName(cursor, undefined, 1);
  if (isName(cursor, 'QUERY')) return isNamed && isSymbol(cursor, '(', 2);
  if (!isName(cursor, 'RETURN')) return false;
  return literals.has(peek(cursor, 1).kind) || (isNamed && !isSymbol(cursor, '<-', 2));
}

function parseCall(cursor: Cursor): Call {
  const name = nameOf(next(cursor));
  const call: Call = { kind: 'call', name, span: name.span };
  if (accept(cursor, '<')) {
    if (name.text === 'ORDER') parseDirections(cursor, call);
    else call.types = listUntil(cursor, '>', () => expectName(cursor, 'A type name'));
  }
  if (accept(cursor, '(')) call.args = listUntil(cursor, ')', () => parseArgument(cursor));
  call.span = spanFrom(cursor, name.span.start);
  return call;
}

/** Parses the name of a step; other languages write `ORDER BY` and `GROUP BY` in two words. */
function parseStepCall(cursor: Cursor): Call {
  const { text } = peek(cursor);
  const isPair = /^(order|group)$/i.test(text) && /^by$/i.test(peek(cursor, 1).text);
  if (!isPair) return parseCall(cursor);
  next(cursor);
  const isGroup = /^group$/i.test(text);
  const hint = isGroup ? 'Write `GROUP_BY(property)`.' : 'Write `ORDER<Asc>(_::{property})`.';
  return unexpected(cursor, '`(`', hint);
}

/** Parses `Asc`, `Desc NULLS FIRST`. After an error, the tokens after `>` are still read. */
function parseDirections(cursor: Cursor, call: Call): void {
  const nulls: (Name | undefined)[] = [];
  const parse = () =>
    listUntil(cursor, '>', () => {
      const direction = expectName(cursor, '`Asc` or `Desc`');
      const isPlaced = isName(cursor, 'NULLS');
      if (isPlaced) next(cursor);
      const position = isPlaced ? expectName(cursor, '`FIRST` or `LAST`') : undefined;
      nulls.push(position);
      return direction;
    });
  const recover = () => {
    const ends = ['>', '(', ')', '}', '<-', '::'];
    while (!startsItem(cursor) && !ends.some((end) => isSymbol(cursor, end))) next(cursor);
    if (!accept(cursor, '>')) throw parseFailure;
  };
  // An invalid direction has been reported.
  const unknown: Name = { text: 'Asc', span: call.name.span };
  call.types = guarded(cursor, parse, recover) ?? [unknown];
  call.nulls = nulls;
}

/** Parses a step and its bounds: a `{` followed by an integer, which no projection begins with. */
function parseRepeated(cursor: Cursor): Call {
  const call = parseStepCall(cursor);
  if (!isSymbol(cursor, '{') || peek(cursor, 1).kind !== 'integer') return call;
  const { start } = next(cursor);
  const bounds = guarded(
    cursor,
    () => parseHops(cursor),
    () => passHops(cursor),
  );
  if (bounds !== undefined) call.hops = { ...bounds, span: spanFrom(cursor, start) };
  return call;
}

function parseHops(cursor: Cursor): Pick<HopBounds, 'low' | 'high'> {
  const low = parseExpression(cursor);
  if (accept(cursor, '}')) return { low };
  if (!accept(cursor, ',')) unexpected(cursor, '`,` or `}`');
  const high = accept(cursor, '*') ? ({ kind: 'any' } as const) : parseExpression(cursor);
  expect(cursor, '}');
  return { low, high };
}

/** Skips invalid bounds up to and including the closing brace, if it is near. */
function passHops(cursor: Cursor): void {
  const isPart = () => peek(cursor).kind !== 'name' || isSymbol(cursor, '}', 1);
  while (peek(cursor).kind !== 'end' && !isSymbol(cursor, '}') && isPart()) next(cursor);
  accept(cursor, '}');
}

function parseArgument(cursor: Cursor): Argument {
  if (!isName(cursor) || !isSymbol(cursor, ':', 1)) return { value: parseExpression(cursor) };
  const name = nameOf(next(cursor));
  expect(cursor, ':');
  return { name, value: parseExpression(cursor) };
}

function parseStep(cursor: Cursor): Step {
  const { start } = peek(cursor);
  if (isName(cursor) && !isOther(cursor) && !isSymbol(cursor, '<-', 1))
    return parseRepeated(cursor);
  if (isSymbol(cursor, '{')) {
    const items = parseItems(cursor);
    return { kind: 'projection', items, span: spanFrom(cursor, start) };
  }
  if (accept(cursor, '!')) {
    expect(cursor, '{');
    const names = listUntil(cursor, '}', () => expectName(cursor, 'A property'));
    const span = spanFrom(cursor, start);
    if (names.length === 0) cursor.report('E645', span, 'This exclusion names nothing.');
    return { kind: 'exclusion', names, span };
  }
  if (accept(cursor, '|')) {
    const closure = expectName(cursor, 'A name for the item');
    expect(cursor, '|');
    if (!isSymbol(cursor, '{')) unexpected(cursor, '`{`');
    readVariable(cursor, '_');
    bindVariables(cursor, [closure.text]);
    cursor.levels = 0;
    const items = parseItems(cursor);
    return { kind: 'projection', items, closure, span: spanFrom(cursor, start) };
  }
  const isForeign = isSymbol(cursor, '(') || isSymbol(cursor, '[');
  return unexpected(cursor, 'A step', isForeign ? 'A projection is `x::{property}`.' : stepHint);
}

function parseItems(cursor: Cursor): ProjectionItem[] {
  const parse = (): ProjectionItem[] => {
    const { start } = expect(cursor, '{');
    const items = listUntil(cursor, '}', () => parseItem(cursor));
    if (items.every(({ kind }) => kind === 'binding')) {
      const hint = 'Name a member, or write `..` for all of them.';
      cursor.report('E645', spanFrom(cursor, start), 'This projection is empty.', hint);
    }
    return items;
  };
  return nested(cursor, () => nestedOnce(cursor, parse));
}

function parseItem(cursor: Cursor): ProjectionItem {
  const { start } = peek(cursor);
  if (accept(cursor, '..')) return { kind: 'spread', span: spanFrom(cursor, start) };
  accept(cursor, '::');
  const name = expectName(cursor, 'A member name or `..`');
  if (accept(cursor, '<-')) {
    const value = parseExpression(cursor);
    bindVariables(cursor, [name.text]);
    return { kind: 'binding', name, value };
  }
  if (!accept(cursor, ':')) return { kind: 'member', name };
  return { kind: 'member', name, value: parseItemValue(cursor, name) };
}

function parseItemValue(cursor: Cursor, name: Name): MemberItem['value'] {
  const { start } = peek(cursor);
  if (isSymbol(cursor, '}') || isSymbol(cursor, ',')) {
    const hint = 'Name a member, or write `..` for all of them.';
    cursor.report('E646', name.span, `Member \`${name.text}\` has no value.`, hint);
    return { kind: 'faulty', span: name.span };
  }
  if (isSymbol(cursor, '{')) {
    const items = parseItems(cursor);
    return { kind: 'nested', items, span: spanFrom(cursor, start) };
  }
  if (accept(cursor, '::')) {
    if (!isName(cursor, 'ID')) unexpected(cursor, '`ID`');
    return pathChain([nameOf(next(cursor))]);
  }
  return parseExpression(cursor);
}
