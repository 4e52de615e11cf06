// Parses declarations: node, edge and vector types, version blocks, migrations, types, fields.
import type { ElementKind } from '../../base/schema.js';
import type { Name } from './ast-literal.js';
import type {
  Mapping,
  MappingRule,
  MigrationDeclaration,
  TypeDeclaration,
  Version,
} from './ast-schema.js';
import { accept, type Cursor, isName, isSymbol, next, peek, spanFrom } from './cursor.js';
import { anyType } from './diagnostic.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { expectClose, refuseClose } from './bracket.js';
import { expect, expectName, expectWord, parseFailure, unexpected } from './expect.js';
import { formHints } from './dialect-hints.js';
import { goesOn, parseBody } from './parser-field.js';
import { parseLiteral } from './parser-literal.js';
import { guarded, listUntil, startsItem } from './recovery.js';

const kindOfLetter: Record<string, ElementKind> = { N: 'node', E: 'edge', V: 'vector' };

/** Parses `N::T {…}`, `E::L UNIQUE {…}`, `V::T {…}`. */
export function parseDeclaration(cursor: Cursor): TypeDeclaration {
  const kind = kindOfLetter[next(cursor).text]!;
  expect(cursor, '::');
  if (!isName(cursor)) cursor.lost.add(anyType);
  const name = expectTypeName(cursor);
  const unique = kind === 'edge' && isName(cursor, 'UNIQUE');
  if (unique) next(cursor);
  const declaration: TypeDeclaration = { kind, name, unique, fields: [] };
  if (kind === 'edge') parseEdgeParts(cursor, declaration);
  else if (isSymbol(cursor, '{')) declaration.fields = parseBody(cursor);
  else if (isSymbol(cursor, '(') || isSymbol(cursor, '['))
    unexpected(
      cursor,
      '`{`',
      `Properties follow in braces: \`${name.text} { property: String }\`.`,
    );
  return declaration;
}

function expectTypeName(cursor: Cursor): Name {
  if (isName(cursor) && !/^[A-Z]/.test(peek(cursor).text)) {
    const { text } = peek(cursor);
    const hint = `Types begin with a capital: \`${text[0]!.toUpperCase()}${text.slice(1)}\`.`;
    unexpected(cursor, 'A type name', hint);
  }
  return expectName(cursor, 'A type name');
}

/** An edge type with both endpoints is declared even if other parts are invalid. */
function parseEdgeParts(cursor: Cursor, declaration: TypeDeclaration): void {
  expect(cursor, '{', edgeHint);
  const opener = cursor.index - 1;
  const { open } = cursor;
  const recover = () => {
    while (!startsItem(cursor) && cursor.open >= open) next(cursor);
    if (declaration.from === undefined || declaration.to === undefined) throw parseFailure;
  };
  guarded(cursor, () => parseParts(cursor, declaration, opener), recover);
}

const edgeHint = 'Write `E::Type { From: A, To: B, Properties: { property: String } }`.';
const partsThereAre = ['From', 'To', 'Properties'];

function parseParts(cursor: Cursor, declaration: TypeDeclaration, opener: number): void {
  const seen = new Set<string>();
  while (!isSymbol(cursor, '}')) {
    const part = peek(cursor);
    if (seen.has(part.text) || !partsThereAre.includes(part.text) || part.kind !== 'name') {
      if (startsItem(cursor)) refuseClose(cursor, opener, '}', '');
      const near = didYouMean(part.text, partsThereAre, edgeHint);
      unexpected(cursor, '`From`, `To` or `Properties`, each once,', near);
    }
    seen.add(next(cursor).text);
    expect(cursor, ':', edgeHint);
    if (part.text === 'From') declaration.from = parseEnd(cursor);
    else if (part.text === 'To') declaration.to = parseEnd(cursor);
    else declaration.fields = parseBody(cursor);
    if (isSymbol(cursor, '|')) unexpected(cursor, '`,` or `}`', endHint);
    if (!goesOn(cursor)) break;
  }
  if (!seen.has('From') || !seen.has('To'))
    unexpected(cursor, seen.has('From') ? '`To`' : '`From`', edgeHint);
  expectClose(cursor, opener, '}');
}

const endHint = 'An edge leads from one type to one type: declare one for each.';

/** Parses the type of an endpoint; skips a kind before it. */
function parseEnd(cursor: Cursor): Name {
  if (isName(cursor) && kindOfLetter[peek(cursor).text] && isSymbol(cursor, '::', 1)) {
    guarded(cursor, () => unexpected(cursor, 'A type name', 'Write the name of the type alone.'));
    cursor.index += 2;
  }
  if (isSymbol(cursor, '[')) unexpected(cursor, 'A type name', endHint);
  return expectTypeName(cursor);
}

/** Parses `schema::n`. */
export function parseVersion(cursor: Cursor): Version {
  if (!isName(cursor, 'schema')) unexpected(cursor, '`schema`', formHints.migration);
  const { start } = next(cursor);
  expect(cursor, '::');
  const token = peek(cursor);
  const value = Number(token.value ?? -1);
  if (token.kind !== 'integer' || value < 0 || !Number.isSafeInteger(value)) {
    unexpected(cursor, 'A version number');
  }
  next(cursor);
  return { number: value, span: spanFrom(cursor, start) };
}

/** Parses the declarations of `{ … }` after `schema::n`; an invalid one does not hide the next. */
export function parseBlock(cursor: Cursor): TypeDeclaration[] {
  expect(cursor, '{');
  const opener = cursor.index - 1;
  const declarations: TypeDeclaration[] = [];
  const isDeclaration = () => isName(cursor) && kindOfLetter[peek(cursor).text] !== undefined;
  while (!isSymbol(cursor, '}')) {
    if (!isDeclaration()) refuseClose(cursor, opener, '}', '`N::`, `E::` or `V::`');
    const recover = () => {
      while (!startsItem(cursor)) next(cursor);
    };
    const declaration = guarded(cursor, () => parseDeclaration(cursor), recover);
    if (declaration !== undefined) declarations.push(declaration);
  }
  expect(cursor, '}');
  return declarations;
}

/** Consumes `=>`. The lexer has reported the equivalents of other languages. */
function expectArrow(cursor: Cursor, hint: string): void {
  const { isUnexpected, text } = peek(cursor);
  if (isUnexpected === true && /^(-->|->|=)$/.test(text)) next(cursor);
  else expect(cursor, '=>', hint);
}

export function parseMigration(cursor: Cursor): MigrationDeclaration {
  expectWord(cursor, 'MIGRATION');
  const from = parseVersion(cursor);
  expectArrow(cursor, formHints.migration);
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
  expectArrow(cursor, 'Write `N::Old => N::New { property: old }`.');
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
