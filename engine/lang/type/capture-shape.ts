// Captures the shapes of variables. A shape may read data for an item: a count, a stream, a lookup. In a
// query that writes, these values are read when the item is bound, so that later statements do not affect
// them. Queries without writes need no capture.
import type { Expression } from '../../plan/expression.js';
import type { Keep } from '../../plan/plan.js';
import { freeSlots } from '../../plan/rule/free-slots.js';
import type { QueryDeclaration } from '../syntax/ast-query.js';
import type { Context } from './context.js';
import type { Shape, ShapeMember, TypedExpr } from './typed-expression.js';

/** Returns the expression as a binding stores it; `keep` computes the values that its shape needs. */
export function captureExpr(context: Context, typed: TypedExpr): { typed: TypedExpr; keep?: Keep } {
  if (!context.changes || typed.shape === undefined) return { typed };
  const { shape, keep } = captureShape(context, typed.shape, isComputed);
  return keep === undefined ? { typed } : { typed: { ...typed, shape }, keep };
}

/** Returns the shape of the items of groups, which can be used wherever the groups go. */
export function groupShape(context: Context, shape: Shape): { shape: Shape; keep?: Keep } {
  const captured = captureShape(context, shape, (value, slot) => {
    if (context.changes && isComputed(value)) return true;
    // The slots of closures around it change for every item there.
    return freeSlots(value).some((each) => each !== slot && !context.bound.has(each));
  });
  return { ...captured, shape: { ...captured.shape, isKey: true } };
}

/** `isKept` decides whether a value of the item in the slot is computed immediately. */
function captureShape(
  context: Context,
  shape: Shape,
  isCaptured: (value: Expression, slot: number) => boolean,
): { shape: Shape; keep?: Keep } {
  const keeps: Keep['members'] = [];
  const members = shape.members.map((member): ShapeMember => {
    if (member.kind === 'spread') return member;
    const { typed } = member;
    const inner = typed.shape && captureShape(context, typed.shape, isCaptured);
    if (!isCaptured(typed.expression, shape.slot) && inner?.keep === undefined) return member;
    const key = context.fresh();
    const value = typed.expression;
    keeps.push({ key, value, ...(inner?.keep && { inner: inner.keep }) });
    const of: Expression = { kind: 'slot', slot: shape.slot };
    const expression: Expression = { kind: 'captured', key, of, value };
    return { ...member, typed: { ...typed, expression, ...(inner && { shape: inner.shape }) } };
  });
  if (keeps.length === 0) return { shape };
  return { shape: { ...shape, members }, keep: { slot: shape.slot, members: keeps } };
}

/** Kinds that read only their operands: the item as it was bound, and values. */
const pureKinds = new Set(
  (
    'now parameter slot property single compare and or not exists math aggregate ' +
    'if coalesce with text date list record project value spread pipeline where range first count dedup map order group'
  ).split(' '),
);

/** Returns true if the value depends on stored data besides the item. */
function isComputed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isComputed);
  const { kind } = value as { kind?: string };
  // A value that an earlier binding has captured is not captured again.
  if (kind === 'captured' || kind === 'literal') return false;
  return (kind !== undefined && !pureKinds.has(kind)) || Object.values(value).some(isComputed);
}

const changers = new Set(
  'AddN AddV BatchAddV AddE UPDATE Update UpsertN UpsertE UpsertV'.split(' '),
);

/** Returns true if a query creates, changes or deletes anything, judged by its keywords. */
export function changesData({ statements, returns }: QueryDeclaration): boolean {
  const doesChange = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return false;
    if (Array.isArray(node)) return node.some(doesChange);
    const { kind, name } = node as { kind?: string; name?: { text: string } };
    if (kind === 'drop' || (kind === 'call' && changers.has(name!.text))) return true;
    for (const key in node) {
      if (key !== 'span' && doesChange((node as Record<string, unknown>)[key])) return true;
    }
    return false;
  };
  return doesChange(statements) || doesChange(returns);
}
