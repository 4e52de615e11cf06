// Nesting, lists, and getting back on its feet after a fault: whoever can resume catches it.
import { beginsItem, refuseClose } from './bracket.js';
import { accept, type Cursor, isSymbol, next, peek } from './cursor.js';
import { skipUnexpected, syntaxFault } from './expect.js';

/** Parses one level deeper; too deep is E005. */
export function nested<T>(cursor: Cursor, parse: () => T): T {
  const depthMax = cursor.limits.source_depth;
  if (cursor.depth >= depthMax) {
    const hint = 'The limit is `limits.source_depth`.';
    cursor.report('E005', peek(cursor), `This nests deeper than ${depthMax} levels.`, hint);
    throw syntaxFault;
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
  const { open, index } = cursor;
  try {
    return parse();
  } catch (error) {
    if (error !== syntaxFault) throw error;
    const fault = cursor.index;
    try {
      recover();
    } finally {
      cursor.open = open;
      loseNames(cursor, index, fault);
    }
    return undefined;
  }
}

/** Notes what was passed over of the part that begins at `index` and could not be read at `fault`. */
function loseNames(cursor: Cursor, index: number, fault: number): void {
  for (let at = index; at < cursor.index; at++) {
    const { kind, text, start } = cursor.tokens[at]!;
    if (kind === 'name') cursor.lost.add(text);
    // A sign that is the fault itself stays reported.
    else if (kind === 'faulty' && at > fault) cursor.unread.add(start);
  }
}

/**
 * `item {"," item} [","]` up to, and including, the closing symbol; the opening one has just been
 * read.
 */
export function listUntil<T>(cursor: Cursor, close: string, item: () => T): T[] {
  const opener = cursor.index - 1;
  const items: T[] = [];
  while (!isSymbol(cursor, close)) {
    if (peek(cursor).kind === 'end') refuseClose(cursor, opener, close, '');
    items.push(item());
    skipUnexpected(cursor, ',', close);
    if (accept(cursor, ',')) continue;
    if (!isSymbol(cursor, close)) refuseClose(cursor, opener, close, `\`,\` or \`${close}\``);
  }
  next(cursor);
  return items;
}

/** Whether a new item of the file begins here. */
export function startsItem(cursor: Cursor): boolean {
  return beginsItem(cursor.tokens, cursor.index);
}
