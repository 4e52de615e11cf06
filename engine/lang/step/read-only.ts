// Checks expressions that must not write, because they may be evaluated never, once or in another order than
// written.
import type { Expr } from '../syntax/ast-expression.js';
import type { Span } from '../syntax/source-file.js';
import type { Context } from '../type/context.js';
import type { Scope } from '../type/scope.js';
import type { TypedExpr } from '../type/typed-expression.js';

/** Checks an expression; reports E711 if it creates, changes or deletes anything. */
export function checkReadOnly(context: Context, expr: Expr, scope: Scope): TypedExpr {
  return refuseWrites(context, expr.span, () => context.check(expr, scope));
}

/** Reports E711 if anything that `check` types writes. */
export function refuseWrites<T>(context: Context, span: Span, check: () => T): T {
  const before = context.writes;
  const checked = check();
  if (context.writes > before) reportWrites(context, span);
  return checked;
}

export function reportWrites(context: Context, span: Span): void {
  const hint = 'Write it in a loop: `FOR x IN xs::WHERE(c) { … }`.';
  context.report('E711', span, 'What writes may not stand here.', hint);
}
