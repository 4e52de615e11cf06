// Names bound in a projection (`name <- value`). Each expression receives only the names that it reads. A
// branch that may not be taken receives them separately, so that a name used only there is computed when the
// branch is taken.
import type { Expression } from '../../plan/expression.js';
import { freeSlots } from '../../plan/rule/free-slots.js';
import type { Shape, ShapeMember, TypedExpr } from './typed-expression.js';

export type Let = Extract<Expression, { kind: 'with' }>['lets'][number];

/**
 * Returns the expression with the names that it reads for the item `of`, also in the members of its shape.
 */
export function withLets(typed: TypedExpr, of: Expression, lets: readonly Let[]): TypedExpr {
  if (lets.length === 0) return typed;
  const expression = bindLets(typed.expression, of, lets);
  const { shape } = typed;
  if (shape === undefined)
    return expression === typed.expression ? typed : { ...typed, expression };
  return { ...typed, expression, shape: shapeWithLets(shape, of, lets) };
}

function shapeWithLets(shape: Shape, of: Expression, lets: readonly Let[]): Shape {
  const members = shape.members.map(
    (member): ShapeMember =>
      member.kind === 'spread' ? member : { ...member, typed: withLets(member.typed, of, lets) },
  );
  return { ...shape, members };
}

function bindLets(expression: Expression, of: Expression, lets: readonly Let[]): Expression {
  const needed = neededBy(expression, lets);
  if (needed.length === 0) return expression;
  const inner = (part: Expression): Expression => bindLets(part, of, lets);
  switch (expression.kind) {
    case 'if': {
      const { condition, value, otherwise } = expression;
      const parts = { condition: inner(condition), value: inner(value) };
      return { kind: 'if', ...parts, otherwise: inner(otherwise) };
    }
    case 'coalesce':
    case 'and':
    case 'or':
      return { ...expression, of: expression.of.map(inner) };
    default:
      return { kind: 'with', of, lets: needed, value: expression };
  }
}

/** Returns the names in the order in which they were bound. */
function neededBy(expression: Expression, lets: readonly Let[]): Let[] {
  const wanted = new Set(freeSlots(expression));
  for (const each of lets.toReversed()) {
    if (wanted.has(each.slot)) for (const slot of freeSlots(each.value)) wanted.add(slot);
  }
  return lets.filter(({ slot }) => wanted.has(slot));
}
