// Parses properties and parameters: bodies of fields, and the types after their names. Syntax of other
// languages is reported and then read as intended, so that no further errors follow.
import type { Name } from './ast-literal.js';
import type { Field, SearchMark, TypeNode } from './ast-schema.js';
import { findClose, expectClose } from './bracket.js';
import { accept, type Cursor, isName, isSymbol, next, peek, spanFrom } from './cursor.js';
import { expect, expectName, skipUnexpected, unexpected } from './expect.js';
import { foreignType } from './dialect-hints.js';
import { parseExpression } from './parser-expression.js';
import { parseLiteral } from './parser-literal.js';
import { guarded, nested, startsItem } from './recovery.js';

/** Parses fields; an invalid field does not hide the next one. */
export function parseBody(cursor: Cursor): Field[] {
  expect(cursor, '{', 'Properties stand in braces: `{ property: String }`.');
  const opener = cursor.index - 1;
  const fields: Field[] = [];
  const open = cursor.open;
  const recover = () => skipField(cursor, open);
  while (!isSymbol(cursor, '}') && !startsItem(cursor)) {
    const field = guarded(cursor, () => parseField(cursor), recover);
    if (field !== undefined) fields.push(field);
    if (!goesOn(cursor, recover)) break;
  }
  // If the brace is missing, the fields are still used.
  guarded(cursor, () => expectClose(cursor, opener, '}'));
  return fields;
}

/** Returns true if another part follows, even if its comma is missing or a stray token is before it. */
export function goesOn(cursor: Cursor, recover?: () => void): boolean {
  const at = cursor.index;
  if (peek(cursor).isUnexpected) next(cursor);
  if (accept(cursor, ',')) return true;
  if (isSymbol(cursor, '}') || startsItem(cursor)) return false;
  const isNext = isName(cursor) && (recover === undefined || isPart(cursor));
  if (isNext) {
    if (cursor.index === at) guarded(cursor, () => unexpected(cursor, '`,` or `}`'));
    return true;
  }
  if (recover === undefined) return false;
  guarded(cursor, () => unexpected(cursor, '`,` or `}`', afterType(cursor)), recover);
  return accept(cursor, ',');
}

/** Returns true for `name:`, `name?:`, `INDEX name:`, `SEARCH(…)`: the next field or part. */
function isPart(cursor: Cursor): boolean {
  const isNamed = (ahead: number): boolean =>
    isName(cursor, undefined, ahead) &&
    (isSymbol(cursor, ':', ahead + 1) || isSymbol(cursor, '?', ahead + 1));
  return isNamed(0) || isNamed(1) || isNamed(2) || isMark(cursor, 'SEARCH');
}

/** Returns the hint for a word that other languages write after a type. */
function afterType(cursor: Cursor): string | undefined {
  const { text } = peek(cursor);
  if (/^(unique|primary|key)$/i.test(text)) return 'Write `UNIQUE INDEX` in front of the property.';
  if (/^(search|searchable|fulltext)$/i.test(text))
    return 'Write `SEARCH` in front of the property.';
  if (/^index(ed)?$/i.test(text)) return 'Write `INDEX` in front of the property.';
  if (/^(not|null|nullable|required|optional|!)$/i.test(text)) return unsetHint;
  if (text === '=' || /^default$/i.test(text)) return 'Write `DEFAULT value` behind the type.';
  return undefined;
}

const unsetHint = 'Leave it out: every property may be unset, none is compulsory.';

function skipField(cursor: Cursor, open: number): void {
  while (!startsItem(cursor)) {
    const inside = cursor.open > open;
    if (!inside && (isSymbol(cursor, ',') || isSymbol(cursor, '}'))) return;
    next(cursor);
  }
}

function parseField(cursor: Cursor): Field {
  const { index, search } = parseMarks(cursor);
  const name = expectName(cursor, 'A property name');
  const field = parseTyped(cursor, name);
  field.index = index;
  if (search !== undefined) field.search = search;
  // The lexer has reported a default with a symbol of another language.
  if (peek(cursor).isUnexpected === true && peek(cursor).text === '=') {
    next(cursor);
    field.default = parseLiteral(cursor, 'A literal');
  }
  if (isName(cursor, 'DEFAULT')) {
    next(cursor);
    field.default = parseLiteral(cursor, 'A literal, `NOW` or `NONE`');
    if (isSymbol(cursor, '(')) unexpected(cursor, '`,` or `}`', 'Write it without parentheses.');
  }
  return field;
}

/** A word is a mark if a name or another mark follows; otherwise it names the property. */
const isMark = (cursor: Cursor, word: string): boolean =>
  isName(cursor, word) &&
  (isName(cursor, undefined, 1) || (word === 'SEARCH' && isSymbol(cursor, '(', 1)));

/** Parses `UNIQUE INDEX`, `INDEX` and `SEARCH`, in any order, each once. */
function parseMarks(cursor: Cursor): Pick<Field, 'index' | 'search'> {
  const marks: Pick<Field, 'index' | 'search'> = { index: 'none' };
  for (;;) {
    const { start, text } = peek(cursor);
    const isTwice = text === 'SEARCH' ? marks.search !== undefined : marks.index !== 'none';
    if (isMark(cursor, 'UNIQUE')) {
      next(cursor);
      if (!isName(cursor, 'INDEX')) unexpected(cursor, '`INDEX`', 'Write `UNIQUE INDEX`.');
      next(cursor);
      marks.index = 'unique';
    } else if (isMark(cursor, 'INDEX')) {
      next(cursor);
      marks.index = 'index';
      if (isMark(cursor, 'UNIQUE')) unexpected(cursor, 'A property name', 'Write `UNIQUE INDEX`.');
    } else if (isMark(cursor, 'SEARCH')) {
      next(cursor);
      const options = accept(cursor, '(') ? parseOptions(cursor) : [];
      marks.search = { span: spanFrom(cursor, start), options };
    } else return marks;
    if (isTwice) {
      const span = spanFrom(cursor, start);
      cursor.report('E733', span, `\`${text}\` stands here twice.`, 'Remove one.');
    }
  }
}

/** Parses `weight: 3, language: "german")` behind the parenthesis. */
function parseOptions(cursor: Cursor): SearchMark['options'] {
  const opener = cursor.index - 1;
  const options: SearchMark['options'] = [];
  while (!isSymbol(cursor, ')')) {
    const name = expectName(cursor, 'An option of `SEARCH`');
    expect(cursor, ':', 'Write `SEARCH(weight: 3)`.');
    options.push({ name, value: parseLiteral(cursor, 'A literal') });
    if (!accept(cursor, ',')) break;
  }
  expectClose(cursor, opener, ')');
  return options;
}

/** Parses `[?] : Type [= value]` after a name: a field without modifiers, or a parameter. */
export function parseTyped(cursor: Cursor, name: Name): Field {
  const optional = accept(cursor, '?');
  expect(cursor, ':', 'A name and its type are written `name: Type`.');
  const field: Field = { name, index: 'none', optional, type: parseType(cursor) };
  // The lexer accepts the symbol only among parameters.
  if (accept(cursor, '=')) field.defaultExpr = parseExpression(cursor);
  return field;
}

function parseType(cursor: Cursor): TypeNode {
  return nested(cursor, () => {
    const { start } = peek(cursor);
    if (accept(cursor, '[')) {
      const opener = cursor.index - 1;
      const of = parseType(cursor);
      skipUnexpected(cursor, ']');
      expectClose(cursor, opener, ']');
      return { kind: 'list', of, span: spanFrom(cursor, start) };
    }
    if (isSymbol(cursor, '{')) {
      const fields = parseBody(cursor);
      return { kind: 'object', fields, span: spanFrom(cursor, start) };
    }
    const { kind, text } = peek(cursor);
    if (kind === 'string' && !isScalar.test(text))
      unexpected(cursor, 'A type', 'A type is a name: `String`, `I64`, `Date`, …');
    const name = expectName(cursor, 'A type');
    const type: TypeNode = { kind: 'name', name, span: name.span };
    return parseForeignType(cursor, type, name) ?? type;
  });
}

const isScalar = /^(String|Boolean|Date|ID|[IU]\d+|F\d+)$/;

/**
 * Parses `List<T>`, `T[]`, `Option<T>`, `T!` of other languages: reported once, and read as intended, so that
 * no further errors follow.
 */
function parseForeignType(cursor: Cursor, type: TypeNode, name: Name): TypeNode | undefined {
  const refuse = (hint: string): void => {
    guarded(cursor, () => unexpected(cursor, '`,`', hint));
  };
  if (isSymbol(cursor, '[') && isSymbol(cursor, ']', 1)) {
    refuse(`Write \`[${name.text}]\`.`);
    cursor.index += 2;
    return { kind: 'list', of: type, span: spanFrom(cursor, name.span.start) };
  }
  if (isSymbol(cursor, '(') && foreignType(name.text) !== undefined)
    cursor.index = Math.max(cursor.index, findClose(cursor.tokens, cursor.index) + 1);
  if (isSymbol(cursor, '[')) unexpected(cursor, '`,`', `A list is written \`[${name.text}]\`.`);
  if (isSymbol(cursor, '!') || isSymbol(cursor, '?')) {
    refuse(isSymbol(cursor, '!') ? 'Leave it out.' : '`?` stands behind the name: `name?: Type`.');
    cursor.index++;
    return undefined;
  }
  if (!isSymbol(cursor, '<')) return undefined;
  const { start } = name.span;
  next(cursor);
  const opener = cursor.index - 1;
  const of = parseType(cursor);
  expectClose(cursor, opener, '>');
  const span = spanFrom(cursor, start);
  const isList = /^(list|array|vec|vector|set|sequence)$/i.test(name.text);
  const inner = of.kind === 'name' ? of.name.text : 'Type';
  const hint = isList ? `Write \`[${inner}]\`.` : (foreignType(name.text) ?? 'Leave it out.');
  cursor.report('E209', span, `Types take no arguments.`, hint);
  return isList ? { kind: 'list', of, span } : of;
}
