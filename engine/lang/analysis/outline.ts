// Lists the declarations of a file in order, each with its name and range: for outlines, folding, and showing
// the text of a declaration.
import { defaultLimits } from '../../base/limits.js';
import type { SourceTree } from '../syntax/ast-query.js';
import { type Token, tokenise } from '../syntax/lexer.js';
import type { SourceFile, Span } from '../syntax/source-file.js';

export interface OutlineItem {
  name: string;
  kind: 'node' | 'edge' | 'vector' | 'query' | 'version' | 'migration';
  /** Range of the name. */
  at: Span;
  /** Range from the first token to the last. */
  whole: Span;
  fields: { name: string; at: Span; whole: Span }[];
}

export function buildOutline(file: SourceFile, tree: SourceTree): OutlineItem[] {
  const tokens = tokenise(file, defaultLimits.source_name, () => undefined);
  const items: OutlineItem[] = [];
  const add = (kind: OutlineItem['kind'], name: string, at: Span, start: number): OutlineItem => {
    const item = { name, kind, at, whole: { start, end: at.end }, fields: [] };
    items.push(item);
    return item;
  };
  for (const { declaration } of tree.types) {
    const { kind, name, fields } = declaration;
    const item = add(kind, name.text, name.span, before(tokens, name.span.start, 2));
    for (const field of fields) {
      const whole = { start: field.name.span.start, end: field.type.span.end };
      item.fields.push({ name: field.name.text, at: field.name.span, whole });
    }
  }
  for (const { name, macros } of tree.queries) {
    const first = macros[0]?.name.span.start;
    const start =
      first === undefined ? before(tokens, name.span.start, 1) : before(tokens, first, 2);
    add('query', name.text, name.span, start);
  }
  for (const { number, span } of tree.versions)
    add('version', `schema::${number}`, span, span.start);
  for (const { from, to } of tree.migrations) {
    const name = `${from.number} => ${to.number}`;
    add('migration', name, from.span, before(tokens, from.span.start, 1));
  }
  items.sort((a, b) => a.whole.start - b.whole.start);
  for (const [at, item] of items.entries()) {
    const next = items[at + 1]?.whole.start ?? Number.POSITIVE_INFINITY;
    item.whole.end = findEnd(tokens, item, next);
  }
  return items;
}

/** Returns the offset of the token that is `back` tokens before the one at `offset`. */
function before(tokens: readonly Token[], offset: number, back: number): number {
  const at = tokens.findIndex(({ start }) => start === offset);
  return tokens[Math.max(0, at - back)]!.start;
}

/** A block ends with its brace; a query ends with the last token before the next item. */
function findEnd(tokens: readonly Token[], { kind, at }: OutlineItem, next: number): number {
  let depth = 0;
  let end = at.end;
  for (const token of tokens) {
    if (token.start < at.start) continue;
    if (token.kind === 'end' || (kind === 'query' && token.start >= next)) break;
    end = token.end;
    if (kind === 'query' || token.kind !== 'symbol') continue;
    if (token.text === '{') depth++;
    if (token.text === '}' && --depth === 0) break;
  }
  return end;
}

/** Returns the `//` lines directly above an offset, without their slashes. */
export function commentAbove({ text, lines }: SourceFile, offset: number): string {
  let line = lines.findLastIndex((start) => start <= offset);
  const found: string[] = [];
  while (line > 0) {
    const above = text.slice(lines[line - 1], lines[line]);
    const match = /^\s*\/\/ ?(.*)$/.exec(above.trimEnd());
    if (match === null) break;
    found.unshift(match[1]!);
    line--;
  }
  return found.join('\n');
}
