// Checks the operand of DROP: every element that the expression yields is deleted.
import type { Expression } from '../../plan/expression.js';
import type { Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { innerScope, type Scope } from '../type/scope.js';
import { toRows } from '../type/stream.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';

export function checkDropped(context: Context, value: Expr, scope: Scope): Expression {
  context.writes++;
  context.drops++;
  const typed = toRows(context.check(value, innerScope(scope, { miss: 'none' })));
  if (typed.type.kind !== 'element' && !isUnknownOrNull(typed.type)) {
    const message = `\`DROP\` deletes elements; this is ${printItemType(typed.type)}.`;
    context.report('E628', value.span, message);
  } else if (typed.shape !== undefined) {
    context.report('W108', value.span, '`DROP` needs no projection.', 'Remove it.');
  }
  return typed.expression;
}
