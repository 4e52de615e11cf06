// Stores the results of the checker for each node of the syntax tree. Used by analyses of positions;
// compiling a program does not need it.
import type { Chain, Expr, Step } from '../syntax/ast-expression.js';
import type { Scope } from './scope.js';
import type { TypedExpr } from './typed-expression.js';

export interface Facts {
  value(expr: Expr, term: TypedExpr, scope: Scope): void;
  head(head: Chain['head'], term: TypedExpr): void;
  step(step: Step, input: TypedExpr, output: TypedExpr): void;
}

/** Stores what the checker reports; for each node the last report counts. */
export class SemanticModel implements Facts {
  readonly values = new Map<Expr, { term: TypedExpr; scope: Scope }>();
  readonly heads = new Map<Chain['head'], TypedExpr>();
  readonly steps = new Map<Step, { input: TypedExpr; output: TypedExpr }>();

  value(expr: Expr, term: TypedExpr, scope: Scope): void {
    this.values.set(expr, { term, scope });
  }

  head(head: Chain['head'], term: TypedExpr): void {
    this.heads.set(head, term);
  }

  step(step: Step, input: TypedExpr, output: TypedExpr): void {
    this.steps.set(step, { input, output });
  }

  /** Repeats all results to another receiver. */
  tell(to: Facts): void {
    for (const [expr, { term, scope }] of this.values) to.value(expr, term, scope);
    for (const [head, term] of this.heads) to.head(head, term);
    for (const [step, { input, output }] of this.steps) to.step(step, input, output);
  }
}
