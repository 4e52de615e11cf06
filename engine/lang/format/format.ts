// Formats sources in one style without options: one line per item and statement, indent of four spaces,
// comments at their positions. Works on tokens, so that the meaning does not change.
// Invariant: the output has the same tokens and comments in the same order.
import { assert } from '../../base/assert.js';
import { defaultLimits, type Limits } from '../../base/limits.js';
import type { QueryDeclaration, SourceTree, Statement } from '../syntax/ast-query.js';
import { collectDiagnostics, type Diagnostic } from '../syntax/diagnostic.js';
import { tokenise } from '../syntax/lexer.js';
import { parseFile } from '../syntax/parser.js';
import { readSource, type SourceFile } from '../syntax/source-file.js';
import { commentLines, layOut, leadLines, pad } from './layout.js';
import { type TokenWithTrivia, readTrivia } from './token-trivia.js';

const indentStep = 4;
/**
 * Breaking a bracket may shorten a chain to one line, whose brackets then count as broken, so formatting
 * repeats until nothing changes.
 */
const roundsMax = 8;

/** The formatted text, or the diagnostics that prevent parsing. */
export type Formatted = { text: string } | { diagnostics: Diagnostic[] };

export function formatSource(
  path: string,
  content: string | Uint8Array,
  limits: Limits = defaultLimits,
): Formatted {
  const collector = collectDiagnostics();
  const file = readSource(path, content);
  const tree = parseFile(file, limits, collector);
  const diagnostics = collector.sorted().filter(({ severity }) => severity === 'error');
  if (diagnostics.length > 0) return { diagnostics };
  const formatter = new Formatter(file, tree);
  const before = fingerprint(formatter.entries);
  let text = formatter.print();
  for (let round = 1; ; round++) {
    const next = readSource(path, text);
    const reader = new Formatter(next, parseFile(next, limits, collectDiagnostics()));
    assert(fingerprint(reader.entries) === before, 'formatting keeps tokens and comments');
    const again = reader.print();
    if (again === text || round === roundsMax) return { text };
    text = again;
  }
}

/** Returns every token and comment in order, without positions. */
function fingerprint(entries: readonly TokenWithTrivia[]): string {
  const parts = entries.flatMap(({ text, lead, inline, trail }) => [
    ...lead.map((comment) => comment.text),
    ...[inline, text, trail].filter((part) => part !== ''),
  ]);
  return parts.join('\n').replace(/\s+/g, ' ');
}

class Formatter {
  readonly entries: readonly TokenWithTrivia[];
  readonly #lines: string[] = [];
  /** Index of each token by the offset at which it begins. */
  readonly #at: Map<number, number>;

  constructor(
    file: SourceFile,
    private readonly tree: SourceTree,
  ) {
    const tokens = tokenise(file, Number.POSITIVE_INFINITY, () => undefined);
    this.entries = readTrivia(file.text, tokens);
    this.#at = new Map(tokens.map(({ start }, at) => [start, at]));
  }

  print(): string {
    const items = this.#items();
    const end = this.entries.length - 1;
    let wasQuery = false;
    for (const [at, item] of items.entries()) {
      const isQuery = item.query !== undefined;
      const lead = leadLines(this.entries[item.start]!, 0, at === 0);
      if (at > 0 && (isQuery || wasQuery) && lead[0] !== '') this.#lines.push('');
      this.#lines.push(...lead);
      const next = items[at + 1]?.start ?? end;
      if (item.query !== undefined) this.#query(item.query, item.start, next);
      else this.#declaration(item.start, next, 0);
      wasQuery = isQuery;
    }
    this.#lines.push(...commentLines(this.entries[end]!.lead, 0, items.length === 0));
    return this.#lines.length === 0 ? '' : `${this.#lines.join('\n')}\n`;
  }

  /** Returns the items with the indexes of their first tokens, in order. */
  #items(): { start: number; query?: QueryDeclaration }[] {
    const { tree } = this;
    const position = (offset: number): number => this.#at.get(offset)!;
    const blocks = new Set(tree.versions.map(({ span }) => span.start));
    const inBlock = (offset: number): boolean => blocks.has(offset);
    const items = [
      ...tree.queries.map((query) => ({
        start: this.#startOfQuery(query),
        query,
      })),
      ...tree.versions.map(({ span }) => ({ start: position(span.start) })),
      ...tree.types
        .filter(({ version }) => !inBlock(version.span.start))
        .map(({ declaration }) => ({ start: position(declaration.name.span.start) - 2 })),
      ...tree.migrations.map(({ from }) => ({ start: position(from.span.start) - 1 })),
    ];
    return items.sort((a, b) => a.start - b.start);
  }

  #text(at: number): string | undefined {
    const entry = this.entries[at];
    return entry?.token.kind === 'symbol' || entry?.token.kind === 'name' ? entry.text : undefined;
  }

  /** Returns the index of the first token of a query: its `QUERY`, or the `#` of its first macro. */
  #startOfQuery({ name, macros }: QueryDeclaration): number {
    const [first] = macros;
    const at = this.#at.get((first?.name ?? name).span.start)!;
    return first === undefined ? at - 1 : at - 2;
  }

  #line(from: number, to: number, indent: number, spaced = false): void {
    const entries = this.entries.slice(from, to);
    const { trail } = entries.at(-1)!;
    this.#lines.push(pad(indent) + layOut(entries, indent, spaced) + (trail && ` ${trail}`));
  }

  #query(query: QueryDeclaration, start: number, end: number): void {
    const keyword = this.#at.get(query.name.span.start)! - 1;
    let from = start;
    for (let at = start; at < keyword; at++) {
      if (this.#text(at) !== ']') continue;
      this.#lead(from, 0, from === start);
      this.#line(from, at + 1, 0);
      from = at + 1;
    }
    this.#lead(keyword, 0, keyword === start);
    const returnAt = this.#findReturn(query, end);
    const first = this.#findStart(query.statements[0]) ?? returnAt ?? end;
    this.#line(keyword, first, 0);
    this.#statements(query.statements, indentStep, returnAt ?? end);
    if (returnAt === undefined) return;
    this.#lead(returnAt, indentStep, first === returnAt);
    this.#line(returnAt, end, indentStep);
  }

  /** Writes the line that ends with the brace at `open`. */
  #opened(start: number, open: number, indent: number): void {
    const head = pad(indent) + layOut(this.entries.slice(start, open), indent, false);
    const { lead, inline, trail } = this.entries[open]!;
    const before = this.entries[open - 1]!;
    const brace = `${inline && `${inline} `}{${trail && ` ${trail}`}`;
    const isApart = lead.length > 0 || before.trail !== '';
    if (!isApart) return void this.#lines.push(`${head} ${brace}`);
    this.#lines.push(head + (before.trail && ` ${before.trail}`));
    this.#lines.push(...commentLines(lead, indent + indentStep, true), pad(indent) + brace);
  }

  /** Writes the comments above a token. `isWritten`: those of an item have been written already. */
  #lead(at: number, indent: number, isWritten: boolean): void {
    const entry = this.entries[at]!;
    if (isWritten && indent === 0) return;
    this.#lines.push(...leadLines(entry, indent, isWritten));
  }

  #findReturn({ returns }: QueryDeclaration, end: number): number | undefined {
    if (returns === undefined) return undefined;
    for (let at = end - 1; at >= 0; at--) {
      const { token } = this.entries[at]!;
      const isBefore = returns[0] === undefined || token.start < returns[0].span.start;
      if (isBefore && token.kind === 'name' && token.text === 'RETURN') return at;
    }
    return undefined;
  }

  #findStart(statement: Statement | undefined): number | undefined {
    if (statement === undefined) return undefined;
    switch (statement.kind) {
      case 'bind':
        return this.#at.get(statement.name.span.start)!;
      case 'effect':
        return this.#at.get(statement.value.span.start)!;
      case 'drop':
        return this.#at.get(statement.value.span.start)! - 1;
      case 'for':
        return this.#at.get(statement.names[0]!.span.start)! - (statement.destructured ? 2 : 1);
    }
  }

  #statements(statements: readonly Statement[], indent: number, end: number): void {
    for (const [i, statement] of statements.entries()) {
      const start = this.#findStart(statement)!;
      const next = this.#findStart(statements[i + 1]) ?? end;
      this.#lead(start, indent, i === 0);
      if (statement.kind === 'for') this.#loop(statement, start, next, indent);
      else this.#line(start, next, indent);
    }
  }

  #loop(
    loop: Extract<Statement, { kind: 'for' }>,
    start: number,
    end: number,
    indent: number,
  ): void {
    let open = this.#at.get(loop.in.span.start)!;
    while (this.entries[open]!.token.start < loop.in.span.end) open++;
    this.#opened(start, open, indent);
    const close = end - 1;
    this.#statements(loop.body, indent + indentStep, close);
    this.#lines.push(
      ...commentLines(this.entries[close]!.lead, indent + indentStep, loop.body.length === 0),
    );
    this.#line(close, end, indent);
  }

  /** Writes a type, or the block of a version or a migration with its declarations. */
  #declaration(start: number, end: number, indent: number): void {
    const word = this.#text(start);
    if (word !== 'schema' && word !== 'MIGRATION') return this.#line(start, end, indent, true);
    let open = start;
    while (this.#text(open) !== '{') open++;
    this.#opened(start, open, indent);
    const close = end - 1;
    const starts = this.#startsIn(open + 1, close);
    for (const [i, at] of starts.entries()) {
      this.#lead(at, indent + indentStep, i === 0);
      this.#line(at, starts[i + 1] ?? close, indent + indentStep, true);
    }
    this.#lines.push(
      ...commentLines(this.entries[close]!.lead, indent + indentStep, starts.length === 0),
    );
    this.#line(close, end, indent);
  }

  /** Returns the indexes of `N::`, `E::` and `V::` in a block. */
  #startsIn(from: number, to: number): number[] {
    const starts: number[] = [];
    let depth = 0;
    for (let at = from; at < to; at++) {
      const text = this.#text(at);
      if (text === '{') depth++;
      if (text === '}') depth--;
      const begins = /^[NEV]$/.test(text ?? '') && this.#text(at + 1) === '::';
      if (depth === 0 && begins && this.#text(at - 1) !== '=>') starts.push(at);
    }
    return starts;
  }
}
