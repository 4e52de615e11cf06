// Parses declarations (helixql.md 2.1): node, edge and vector types, version blocks, migrations,
// types, fields.
import type { ElementKind } from '../../base/schema.js';
import type { Name } from './ast-literal.js';
import type {
  Field,
  Mapping,
  MappingRule,
  MigrationDeclaration,
  TypeDeclaration,
  TypeNode,
  Version,
} from './ast-schema.js';
import { accept, type Cursor, isName, isSymbol, next, peek, spanFrom } from './cursor.js';
import { expect, expectName, expectWord, SyntaxFault, unexpected } from './expectation.js';
import { parseLiteral } from './parser-literal.js';
import { guarded, listUntil, nested, startsItem } from './recovery.js';

const kindOfLetter: Record<string, ElementKind> = { N: 'node', E: 'edge', V: 'vector' };

/** `N::T {…}`, `E::L UNIQUE {…}`, `V::T {…}`. */
export function parseDeclaration(cursor: Cursor): TypeDeclaration {
  const kind = kindOfLetter[next(cursor).text]!;
  expect(cursor, '::');
  const name = expectTypeName(cursor);
  const unique = kind === 'edge' && isName(cursor, 'UNIQUE');
  if (unique) next(cursor);
  const declaration: TypeDeclaration = { kind, name, unique, fields: [] };
  if (kind === 'edge') parseEdgeParts(cursor, declaration);
  else if (isSymbol(cursor, '{')) declaration.fields = parseBody(cursor);
  return declaration;
}

function expectTypeName(cursor: Cursor): Name {
  if (isName(cursor) && !/^[A-Z]/.test(peek(cursor).text)) {
    unexpected(cursor, 'A type name, which begins with an upper-case letter,');
  }
  return expectName(cursor, 'A type name');
}

/** An edge type that has both ends is declared whatever else is wrong with it. */
function parseEdgeParts(cursor: Cursor, declaration: TypeDeclaration): void {
  expect(cursor, '{');
  const { open } = cursor;
  const recover = () => {
    while (!startsItem(cursor) && cursor.open >= open) next(cursor);
    if (declaration.from === undefined || declaration.to === undefined) throw new SyntaxFault();
  };
  guarded(cursor, () => parseParts(cursor, declaration), recover);
}

function parseParts(cursor: Cursor, declaration: TypeDeclaration): void {
  const seen = new Set<string>();
  while (!isSymbol(cursor, '}')) {
    const part = peek(cursor);
    if (seen.has(part.text) || !/^(From|To|Properties)$/.test(part.text) || part.kind !== 'name') {
      unexpected(cursor, '`From`, `To` or `Properties`, each once,');
    }
    seen.add(next(cursor).text);
    expect(cursor, ':');
    if (part.text === 'From') declaration.from = expectTypeName(cursor);
    else if (part.text === 'To') declaration.to = expectTypeName(cursor);
    else declaration.fields = parseBody(cursor);
    if (!goesOn(cursor)) break;
  }
  if (!seen.has('From') || !seen.has('To'))
    unexpected(cursor, seen.has('From') ? '`To`' : '`From`');
  expect(cursor, '}');
}

/** A faulty field does not hide the next one. */
export function parseBody(cursor: Cursor): Field[] {
  expect(cursor, '{');
  const fields: Field[] = [];
  const open = cursor.open;
  while (!isSymbol(cursor, '}')) {
    const recover = () => skipField(cursor, open);
    const field = guarded(cursor, () => parseField(cursor), recover);
    if (field !== undefined) fields.push(field);
    if (!goesOn(cursor)) break;
  }
  // Where the brace is missing, the fields are still fields.
  guarded(cursor, () => expect(cursor, '}'));
  return fields;
}

/** Whether another part follows, also where its comma is missing. */
function goesOn(cursor: Cursor): boolean {
  if (accept(cursor, ',')) return true;
  if (!isName(cursor) || startsItem(cursor)) return false;
  guarded(cursor, () => unexpected(cursor, '`,` or `}`'));
  return true;
}

function skipField(cursor: Cursor, open: number): void {
  while (!startsItem(cursor)) {
    const inside = cursor.open > open;
    if (!inside && (isSymbol(cursor, ',') || isSymbol(cursor, '}'))) return;
    next(cursor);
  }
}

function parseField(cursor: Cursor): Field {
  let index: Field['index'] = 'none';
  if (isName(cursor, 'UNIQUE') && isName(cursor, undefined, 1)) {
    next(cursor);
    expectWord(cursor, 'INDEX');
    index = 'unique';
  } else if (isName(cursor, 'INDEX') && isName(cursor, undefined, 1)) {
    next(cursor);
    index = 'index';
  }
  const name = expectName(cursor, 'A property name');
  const field = parseTyped(cursor, name);
  field.index = index;
  if (isName(cursor, 'DEFAULT')) {
    next(cursor);
    field.default = parseLiteral(cursor, 'A literal, `NOW` or `NONE`');
  }
  return field;
}

/** `[?] : Type` after a name: a field without decoration, or a parameter. */
export function parseTyped(cursor: Cursor, name: Name): Field {
  const optional = accept(cursor, '?');
  expect(cursor, ':');
  return { name, index: 'none', optional, type: parseType(cursor) };
}

function parseType(cursor: Cursor): TypeNode {
  return nested(cursor, () => {
    const { start } = peek(cursor);
    if (accept(cursor, '[')) {
      const of = parseType(cursor);
      expect(cursor, ']');
      return { kind: 'list', of, span: spanFrom(cursor, start) };
    }
    if (isSymbol(cursor, '{')) {
      const fields = parseBody(cursor);
      return { kind: 'object', fields, span: spanFrom(cursor, start) };
    }
    const name = expectName(cursor, 'A type');
    return { kind: 'name', name, span: name.span };
  });
}

/** `schema::n`. */
export function parseVersion(cursor: Cursor): Version {
  const { start } = expectWord(cursor, 'schema');
  expect(cursor, '::');
  const token = peek(cursor);
  const value = Number(token.value ?? -1);
  if (token.kind !== 'integer' || value < 0 || !Number.isSafeInteger(value)) {
    unexpected(cursor, 'A version number');
  }
  next(cursor);
  return { number: value, span: spanFrom(cursor, start) };
}

/** The declarations of `{ … }` after `schema::n`; a faulty one does not hide the next. */
export function parseBlock(cursor: Cursor): TypeDeclaration[] {
  expect(cursor, '{');
  const declarations: TypeDeclaration[] = [];
  const isDeclaration = () => isName(cursor) && kindOfLetter[peek(cursor).text] !== undefined;
  while (!isSymbol(cursor, '}')) {
    if (!isDeclaration()) unexpected(cursor, '`N::`, `E::` or `V::`');
    const recover = () => {
      while (!startsItem(cursor)) next(cursor);
    };
    const declaration = guarded(cursor, () => parseDeclaration(cursor), recover);
    if (declaration !== undefined) declarations.push(declaration);
  }
  expect(cursor, '}');
  return declarations;
}

export function parseMigration(cursor: Cursor): MigrationDeclaration {
  expectWord(cursor, 'MIGRATION');
  const from = parseVersion(cursor);
  expect(cursor, '=>');
  const to = parseVersion(cursor);
  expect(cursor, '{');
  const mappings: Mapping[] = [];
  while (!isSymbol(cursor, '}')) {
    mappings.push(parseMapping(cursor));
    accept(cursor, ',');
  }
  expect(cursor, '}');
  return { from, to, mappings };
}

function parseKind(cursor: Cursor): ElementKind {
  const kind = isName(cursor) ? kindOfLetter[peek(cursor).text] : undefined;
  if (kind === undefined) unexpected(cursor, '`N::`, `E::` or `V::`');
  next(cursor);
  expect(cursor, '::');
  return kind;
}

function parseMapping(cursor: Cursor): Mapping {
  const kind = parseKind(cursor);
  const from = expectTypeName(cursor);
  expect(cursor, '=>');
  const mapping: Mapping = { kind, from, rules: [] };
  if (accept(cursor, '_')) expect(cursor, '::');
  else mapping.to = { kind: parseKind(cursor), name: expectTypeName(cursor) };
  expect(cursor, '{');
  const wrapped = isName(cursor, 'Properties') && isSymbol(cursor, '{', 2);
  if (wrapped) {
    next(cursor);
    expect(cursor, ':');
    expect(cursor, '{');
  }
  mapping.rules = listUntil(cursor, '}', () => parseRule(cursor));
  if (wrapped) {
    accept(cursor, ',');
    expect(cursor, '}');
  }
  return mapping;
}

function parseRule(cursor: Cursor): MappingRule {
  const name = expectName(cursor, 'A property name');
  expect(cursor, ':');
  const literalWord = /^(NOW|NONE|true|false)$/;
  if (!isName(cursor) || literalWord.test(peek(cursor).text)) {
    return { name, value: parseLiteral(cursor, 'A literal or a property') };
  }
  const from = expectName(cursor, 'A property');
  if (!isName(cursor, 'AS')) return { name, value: { kind: 'copy', from } };
  next(cursor);
  return { name, value: { kind: 'copy', from, as: expectName(cursor, 'A scalar type') } };
}
