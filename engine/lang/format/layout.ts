// Lays out one statement or declaration: on one line if it fits, otherwise broken at the steps of its chain,
// otherwise inside its brackets. A bracket that the author broke stays broken.
import { isApart } from './spacing.js';
import type { Comment, TokenWithTrivia } from './token-trivia.js';

const widthMax = 100;
const indentStep = 4;

interface Group {
  open: TokenWithTrivia;
  /** Each item with its comma. */
  items: Node[][];
  close: TokenWithTrivia;
  /** True if the bracket is broken into lines. */
  broken: boolean;
}
type Node = TokenWithTrivia | Group;

const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}', '<': '>' };
const isGroup = (node: Node): node is Group => 'items' in node;
const isSign = ({ token }: TokenWithTrivia, text: string): boolean =>
  token.kind === 'symbol' && token.text === text;

export const pad = (indent: number): string => ' '.repeat(indent);

/** Returns the text of tokens, without the comments before the first and after the last token. */
export function layOut(
  entries: readonly TokenWithTrivia[],
  indent: number,
  spaced: boolean,
): string {
  const nodes = readNodes(entries);
  if (spaced) breakAround(nodes);
  if (isAwkward(nodes)) return verbatim(entries, indent, spaced);
  return best(nodes, indent, indent, spaced);
}

function readNodes(entries: readonly TokenWithTrivia[]): Node[] {
  let at = 0;
  const read = (until: string | undefined): Node[][] => {
    const items: Node[][] = [];
    let item: Node[] = [];
    for (; at < entries.length; at++) {
      const entry = entries[at]!;
      if (until !== undefined && isSign(entry, until)) break;
      const closer = entry.token.kind === 'symbol' ? closers[entry.token.text] : undefined;
      if (closer !== undefined) {
        at++;
        const inner = read(closer);
        const close = entries[at]!;
        const isBroken = inner.length > 0 && firstOf(inner[0]!).begins && closer !== '>';
        const broken = isBroken || hasComments(inner, entry, close);
        item.push({ open: entry, items: inner, close, broken });
      } else item.push(entry);
      if (until !== undefined && isSign(entry, ',')) {
        items.push(item);
        item = [];
      }
    }
    if (item.length > 0) items.push(item);
    return items;
  };
  return read(undefined).flat();
}

const firstOf = (nodes: readonly Node[]): TokenWithTrivia => {
  const [first] = nodes as [Node];
  return isGroup(first) ? first.open : first;
};
const lastOf = (nodes: readonly Node[]): TokenWithTrivia => {
  const last = nodes.at(-1)!;
  return isGroup(last) ? last.close : last;
};

/** Returns true if the braces of a declaration must be broken because a bracket inside them is. */
function breakAround(nodes: readonly Node[]): boolean {
  let isBroken = false;
  for (const node of nodes) {
    if (!isGroup(node)) continue;
    for (const item of node.items) if (breakAround(item)) node.broken = true;
    if (node.broken) isBroken = true;
  }
  return isBroken;
}

function hasComments(
  items: readonly Node[][],
  open: TokenWithTrivia,
  close: TokenWithTrivia,
): boolean {
  if (open.trail !== '' || close.lead.length > 0) return true;
  return items.some((item) => firstOf(item).lead.length > 0 || lastOf(item).trail !== '');
}

/** Returns true if there are comments at positions that this layout has no line for. */
function isAwkward(nodes: readonly Node[]): boolean {
  return nodes.some((node, at) => {
    const [isFirst, isLast] = [at === 0, at === nodes.length - 1];
    const [open, close] = isGroup(node) ? [node.open, node.close] : [node, node];
    if (open.lead.length > 0 && !isFirst) return true;
    if (close.trail !== '' && !isLast) return true;
    if (!isGroup(node)) return false;
    if (open.token.text === '<' && hasComments(node.items, open, close)) return true;
    return node.items.some(isAwkward) || (node.items.length === 0 && open.trail !== '');
  });
}

const fits = (text: string, column: number): boolean =>
  text.split('\n').every((line, at) => line.length + (at === 0 ? column : 0) <= widthMax);

function best(nodes: readonly Node[], indent: number, column: number, spaced: boolean): string {
  const text = inline(nodes, indent, spaced);
  if (fits(text, column)) return text;
  const parts = splitParts(nodes);
  if (parts.length > 1) {
    const inner = indent + indentStep;
    const rest = parts.slice(1).map((part) => pad(inner) + best(part, inner, inner, spaced));
    const isList = lastOf(parts[0]!).token.text === ',';
    return [best(parts[0]!, isList ? inner : indent, column, spaced), ...rest].join('\n');
  }
  for (const node of [...nodes].reverse()) {
    if (!isGroup(node) || node.broken || node.items.length === 0 || node.open.text === '<')
      continue;
    node.broken = true;
    const tried = inline(nodes, indent, spaced);
    if (fits(tried, column)) return tried;
  }
  return inline(nodes, indent, spaced);
}

/** Splits after the commas of `RETURN`, or before the steps of a chain. */
function splitParts(nodes: readonly Node[]): Node[][] {
  const isComma = (node: Node): boolean => !isGroup(node) && isSign(node, ',');
  const byComma = split(nodes, (at) => isComma(nodes[at - 1]!));
  if (byComma.length > 1) return byComma;
  return split(nodes, (at) => {
    const node = nodes[at]!;
    return !isGroup(node) && isSign(node, '::') && isApartFromSource(nodes, at);
  });
}

/** `_::` and the `::` of a declaration are not separated from the token before. */
function isApartFromSource(nodes: readonly Node[], at: number): boolean {
  const before = nodes[at - 1]!;
  return isGroup(before) || !(isSign(before, '_') || /^([NEV]|schema)$/.test(before.text));
}

function split(nodes: readonly Node[], begins: (at: number) => boolean): Node[][] {
  const parts: Node[][] = [[]];
  for (const [at, node] of nodes.entries()) {
    if (at > 0 && begins(at)) parts.push([]);
    parts.at(-1)!.push(node);
  }
  return parts;
}

function inline(nodes: readonly Node[], indent: number, spaced: boolean): string {
  let text = '';
  let before: TokenWithTrivia | undefined;
  for (const node of nodes) {
    const first = isGroup(node) ? node.open : node;
    text += joint(before, first, spaced);
    text += isGroup(node) ? groupText(node, indent, spaced) : node.text;
    before = isGroup(node) ? node.close : node;
  }
  return text;
}

function joint(
  before: TokenWithTrivia | undefined,
  entry: TokenWithTrivia,
  spaced: boolean,
): string {
  if (entry.inline !== '') return before === undefined ? `${entry.inline} ` : ` ${entry.inline} `;
  return before !== undefined && isApart(before.token, entry.token, spaced) ? ' ' : '';
}

function groupText(group: Group, indent: number, spaced: boolean): string {
  const { open, items, close, broken } = group;
  if (items.length === 0 && close.lead.length === 0) {
    return open.text + (close.inline === '' ? '' : joint(open, close, spaced)) + close.text;
  }
  if (!broken) {
    const parts = items.map((item) => inline(item, indent, spaced)).join(' ');
    const first = items[0]![0]!;
    const head = joint(open, isGroup(first) ? first.open : first, spaced);
    const tail = joint(lastOf(items.at(-1)!), close, spaced);
    return open.text + head + parts + tail + close.text;
  }
  const inner = indent + indentStep;
  const lines = [open.text + (open.trail === '' ? '' : ` ${open.trail}`)];
  for (const [at, item] of items.entries()) {
    const first = firstOf(item);
    lines.push(...leadLines(first, inner, at === 0));
    const trail = lastOf(item).trail;
    const text = best(item, inner, inner, spaced);
    lines.push(pad(inner) + text + (trail === '' ? '' : ` ${trail}`));
  }
  lines.push(...commentLines(close.lead, inner, items.length === 0));
  return `${lines.join('\n')}\n${pad(indent)}${close.text}`;
}

/** Returns the comments above a token, with at most one blank line at each gap of the author. */
export function leadLines(entry: TokenWithTrivia, indent: number, isFirst: boolean): string[] {
  const lines = commentLines(entry.lead, indent, isFirst);
  if (entry.blank && !(isFirst && lines.length === 0)) lines.push('');
  return lines;
}

export function commentLines(
  comments: readonly Comment[],
  indent: number,
  isFirst: boolean,
): string[] {
  return comments.flatMap(({ text, blank }, at) => {
    const line = pad(indent) + text;
    return blank && !(isFirst && at === 0) ? ['', line] : [line];
  });
}

/** Writes the author's lines unchanged, each indented by its brackets. */
function verbatim(entries: readonly TokenWithTrivia[], indent: number, spaced: boolean): string {
  let text = '';
  let depth = 0;
  for (const [at, entry] of entries.entries()) {
    const { token } = entry;
    const isCloser = token.kind === 'symbol' && /^[)\]}]$/.test(token.text);
    const inner = indent + (depth > 0 ? depth : 1) * indentStep;
    const own = isCloser ? indent + (depth - 1) * indentStep : inner;
    if (isCloser) depth--;
    if (at > 0) {
      const lines = entry.lead.map((each) => `\n${pad(inner)}${each.text}`);
      const begins = entry.begins || lines.length > 0;
      text += lines.join('');
      text += begins ? `\n${pad(own)}` : joint(entries[at - 1], entry, spaced);
      if (begins && entry.inline !== '') text += `${entry.inline} `;
    }
    text += entry.text;
    if (entry.trail !== '' && at < entries.length - 1) text += ` ${entry.trail}`;
    if (token.kind === 'symbol' && /^[([{]$/.test(token.text)) depth++;
  }
  return text;
}
