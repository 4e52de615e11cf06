// Nesting, lists and recovery from syntax errors: a caller that can resume catches the error.
import { beginsItem, refuseClose } from './bracket.js';
import { accept, type Cursor, isSymbol, next, peek } from './cursor.js';
import { skipUnexpected, parseFailure } from './expect.js';

/** Parses one level deeper; reports E005 if it is too deep. */
export function nested<T>(cursor: Cursor, parse: () => T): T {
  const depthMax = cursor.limits.source_depth;
  if (cursor.depth >= depthMax) {
    const hint = 'The limit is `limits.source_depth`.';
    cursor.report('E005', peek(cursor), `This nests deeper than ${depthMax} levels.`, hint);
    throw parseFailure;
  }
  cursor.depth++;
  try {
    return parse();
  } finally {
    cursor.depth--;
  }
}

/**
 * Runs `parse`. After a syntax error runs `recover`, which must stop where the caller can continue; without
 * `recover` that is the position of the error.
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
    if (error !== parseFailure) throw error;
    const failure = cursor.index;
    try {
      recover();
    } finally {
      cursor.open = open;
      loseNames(cursor, index, failure);
    }
    return undefined;
  }
}

/** Records the names in the skipped tokens of the part from `index` whose error is at `failure`. */
function loseNames(cursor: Cursor, index: number, failure: number): void {
  for (let at = index; at < cursor.index; at++) {
    const { kind, text, start } = cursor.tokens[at]!;
    if (kind === 'name') cursor.lost.add(text);
    // The symbol at `failure` is the reported error; only later ones are left unreported.
    else if (kind === 'faulty' && at > failure) cursor.unread.add(start);
  }
}

/**
 * Parses `item {"," item} [","]` up to and including the closing symbol; the opening one has been consumed.
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

/** Returns true if a new item of the file begins here. */
export function startsItem(cursor: Cursor): boolean {
  return beginsItem(cursor.tokens, cursor.index);
}
