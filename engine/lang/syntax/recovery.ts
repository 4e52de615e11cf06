// Nesting, lists, and getting back on its feet after a fault: whoever can resume catches it.
import { accept, type Cursor, isName, isSymbol, peek } from './cursor.js';
import { expect, SyntaxFault, unexpected } from './expectation.js';

/** Parses one level deeper; too deep is E005. */
export function nested<T>(cursor: Cursor, parse: () => T): T {
  const depthMax = cursor.limits.source_depth;
  if (cursor.depth >= depthMax) {
    const hint = 'The limit is `limits.source_depth`.';
    cursor.report('E005', peek(cursor), `This nests deeper than ${depthMax} levels.`, hint);
    throw new SyntaxFault();
  }
  cursor.depth++;
  try {
    return parse();
  } finally {
    cursor.depth--;
  }
}

/**
 * Runs `parse`; after a fault runs `recover` instead, which must stop where the caller can go on:
 * without it, that is where the fault is.
 */
export function guarded<T>(
  cursor: Cursor,
  parse: () => T,
  recover: () => void = () => {},
): T | undefined {
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
    if (accept(cursor, ',')) continue;
    if (!isSymbol(cursor, close)) unexpected(cursor, `\`,\` or \`${close}\``);
  }
  expect(cursor, close);
  return items;
}

const kinds = new Set(['N', 'E', 'V']);

/**
 * Whether a new item of the file begins here. A chain on a variable called `N` is told by what
 * follows.
 */
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
