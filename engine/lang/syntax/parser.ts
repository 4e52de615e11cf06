// Parses one file: declarations, migrations and queries in any order. Every item is read even if others are
// invalid. The time is linear in the number of tokens.
import type { Limits } from '../../base/limits.js';
import type { Macro, SourceTree } from './ast-query.js';
import type { TypeDeclaration, Version } from './ast-schema.js';
import { nearestName } from '../../base/did-you-mean.js';
import { type Cursor, isName, isSymbol, next, peek } from './cursor.js';
import type { Collector, Report } from './diagnostic.js';
import { unexpected } from './expect.js';
import { foreignItem } from './dialect-hints.js';
import { type Token, tokenise } from './lexer.js';
import { parseMacro, parseQuery } from './parser-query.js';
import { parseBlock, parseDeclaration, parseMigration, parseVersion } from './parser-schema.js';
import { guarded, startsItem } from './recovery.js';
import type { SourceFile } from './source-file.js';

/** `before`: tokens that are read as if they preceded the others. */
export function parseFile(
  file: SourceFile,
  limits: Limits,
  collector: Collector,
  before?: (tokens: readonly Token[]) => Token[],
): SourceTree {
  const lost = new Set<string>();
  const tree: SourceTree = { types: [], versions: [], migrations: [], queries: [], lost };
  const report = collector.in(file);
  if (file.badUtf8At !== undefined) {
    const span = { start: file.badUtf8At, end: file.badUtf8At + 1 };
    report('E002', span, 'This file is not UTF-8.', 'Save it as UTF-8.');
  }
  if (file.bytes > limits.source_bytes) {
    const message = `The file has ${file.bytes} bytes; ${limits.source_bytes} at most.`;
    report('E005', { start: 0, end: 0 }, message, 'The limit is `limits.source_bytes`.');
    return tree;
  }
  const lexical: Parameters<Report>[] = [];
  const written = tokenise(file, limits.source_name, (...failure) => lexical.push(failure));
  const tokens = before === undefined ? written : [...before(written), ...written];
  const cursor: Cursor = {
    tokens,
    limits,
    report,
    index: 0,
    open: 0,
    depth: 0,
    steps: 0,
    levels: 0,
    levelsOf: new Map(),
    unread: new Set(),
    lost: new Set(),
  };
  const recover = () => {
    while (!startsItem(cursor)) next(cursor);
  };
  let reported = 0;
  while (peek(cursor).kind !== 'end') {
    const { length } = tree.queries;
    const isQuery = isName(cursor, 'QUERY') || isSymbol(cursor, '#');
    cursor.lost = new Set();
    cursor.unread.clear();
    guarded(cursor, () => parseTopLevel(cursor, tree, file, collector), recover);
    cursor.open = 0;
    // Names that a query uses may be declared in unreadable source text.
    if (tree.queries.length > length) tree.queries.at(-1)!.lost = cursor.lost;
    else if (!isQuery) for (const name of cursor.lost) lost.add(name);
    // A token that the lexer could not read belongs to the item that was just parsed.
    const { start } = peek(cursor);
    const from = reported;
    for (; reported < lexical.length && lexical[reported]![1].start < start; reported++)
      if (!follows(cursor, lexical[reported]!)) cursor.report(...lexical[reported]!);
    if (reported > from && tree.queries.length > length) tree.queries.at(-1)!.faulty = true;
    cursor.report = report;
  }
  for (const failure of lexical.slice(reported)) report(...failure);
  return tree;
}

function parseTopLevel(
  cursor: Cursor,
  tree: SourceTree,
  file: SourceFile,
  collector: Collector,
): void {
  const macros: Macro[] = [];
  const { start } = peek(cursor);
  while (isSymbol(cursor, '#')) macros.push(parseMacro(cursor));
  if (macros.length > 0 || isName(cursor, 'QUERY')) {
    let errors = 0;
    const named = (name: string) => {
      const report = collector.in(file, name);
      cursor.report = (...failure) => {
        errors++;
        report(...failure);
      };
    };
    const query = parseQuery(cursor, macros, start, named);
    tree.queries.push(query);
    query.faulty = errors > 0 || !startsItem(cursor);
    if (!startsItem(cursor)) passRest(cursor, tree);
  } else if (isName(cursor, 'schema')) {
    const version = parseVersion(cursor);
    tree.versions.push(version);
    for (const declaration of parseBlock(cursor)) tree.types.push({ version, declaration });
  } else if (isName(cursor, 'MIGRATION')) {
    tree.migrations.push(parseMigration(cursor));
  } else if (isName(cursor) && /^[NEV]$/.test(peek(cursor).text) && isSymbol(cursor, '::', 1)) {
    const declaration = parseDeclaration(cursor);
    tree.types.push({ version: firstVersion(declaration), declaration });
  } else {
    refuseItem(cursor);
  }
}

/** The tokens after a query may have been a declaration. */
function passRest(cursor: Cursor, tree: SourceTree): void {
  const { lost } = cursor;
  cursor.lost = tree.lost;
  const recover = () => {
    while (!startsItem(cursor)) next(cursor);
  };
  guarded(cursor, () => unexpected(cursor, 'The next query or type'), recover);
  cursor.lost = lost;
}

/** Reports a token that begins no item, with a hint for `N:Type` and `N<Type>`. */
function refuseItem(cursor: Cursor): never {
  const { kind, text } = peek(cursor);
  const near = nearestName(text, ['QUERY', 'MIGRATION', 'schema']);
  const hint = foreignItem(text) ?? (near === undefined ? undefined : `Did you mean \`${near}\`?`);
  const wanted = '`N::`, `E::`, `V::`, `QUERY`, `schema` or `MIGRATION`';
  const sign = kind === 'symbol' ? betweenItems.get(text) : undefined;
  return unexpected(cursor, wanted, kind === 'name' ? hint : sign);
}

/** Symbols before or after an item. */
const betweenItems = new Map([
  [',', 'Leave it out: nothing separates declarations.'],
  [':', 'Write `N::Type { property: String }`.'],
  ['{', 'Properties stand inside: `E::Type { From: A, To: B, Properties: { property: String } }`.'],
]);

/** Returns true if a foreign symbol lies in tokens that were skipped because of another error. */
function follows(cursor: Cursor, [code, { start }]: Parameters<Report>): boolean {
  return (code === 'E003' || code === 'E001') && cursor.unread.has(start);
}

/** A declaration outside every block belongs to version 1. */
function firstVersion(declaration: TypeDeclaration): Version {
  return { number: 1, span: declaration.name.span };
}
