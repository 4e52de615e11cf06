// Rewrites plans: returns a copy in which every expression was visited once, innermost first.
// Unchanged parts are shared with the original, which is never modified.
import type { Expression, Source, Step } from './expression.js';

type Node = Record<string, unknown>;

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** A part of a plan that a rule may replace by another part of the same category. */
export type Part = Expression | Source | Step;

/** Calls `visit` with every part that has a `kind`, after its own parts were rewritten. */
export function rewriter(visit: (part: Part) => Part): <T>(value: T) => T {
  const done = new Map<object, unknown>();
  const rewrite = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = done.get(value);
    if (known !== undefined) return known;
    const result = Array.isArray(value) ? copyList(value, rewrite) : copyNode(value, rewrite);
    const rewritten = (result as Node).kind === undefined ? result : visit(result as Part);
    done.set(value, rewritten);
    return rewritten;
  };
  return rewrite as <T>(value: T) => T;
}

function copyList(list: readonly unknown[], rewrite: (value: unknown) => unknown): unknown {
  const copy = list.map(rewrite);
  return copy.every((item, i) => item === list[i]) ? list : copy;
}

function copyNode(value: object, rewrite: (value: unknown) => unknown): unknown {
  const node = value as Node;
  if (node.kind === 'literal' || !isPlain(value)) return value;
  let copy: Node | undefined;
  for (const key in node) {
    const member = rewrite(node[key]);
    if (member === node[key]) continue;
    copy ??= { ...node };
    copy[key] = member;
  }
  return copy ?? value;
}

/** Returns the expression with every reference to slot `from` replaced by slot `to`. */
export function renameSlot(expression: Expression, from: number, to: number): Expression {
  return rewriter((part) =>
    part.kind === 'slot' && part.slot === from ? { kind: 'slot', slot: to } : part,
  )(expression);
}

/**
 * Calls `visit` with every part of plain data that has a `kind`; a shared part is visited once per
 * occurrence.
 */
export function eachPart(value: unknown, visit: (part: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) eachPart(item, visit);
    return;
  }
  const node = value as Node;
  if (node.kind !== undefined) visit(node);
  if (node.kind === 'literal' || !isPlain(value)) return;
  for (const key in node) eachPart(node[key], visit);
}

/** Calls `visit` with every part of plain data that has a `kind`; a shared part is visited once. */
export function eachOnce(value: unknown, visit: (part: Node) => void): void {
  const done = new Set<unknown>();
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || done.has(part)) return;
    done.add(part);
    if (!Array.isArray(part) && (part as Node).kind !== undefined) visit(part as Node);
    if ((part as Node).kind === 'literal') return;
    for (const each of Object.values(part)) walk(each);
  };
  walk(value);
}
