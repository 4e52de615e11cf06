// Expressions that may be evaluated never, once or in another order than written, so that they must
// not write.
import type { Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import type { Scope } from '../type/scope.js';
import type { Term } from '../type/term.js';

/** Types an expression; one that creates, changes or deletes anything is E711. */
export function checkReadOnly(context: Context, expr: Expr, scope: Scope): Term {
  const before = context.writes;
  const term = context.check(expr, scope);
  if (context.writes > before) {
    const hint = 'Write it in a loop: `FOR x IN xs::WHERE(c) { … }`.';
    context.report('E711', expr.span, 'What writes may not stand here.', hint);
  }
  return term;
}
