// Stores the results of the checker for each node of the syntax tree. Used by analyses of positions;
// compiling a program does not need it.
import type { Chain, Expr, Step } from '../syntax/ast-expression.js';
import type { Scope } from './scope.js';
import type { TypedExpr } from './typed-expression.js';

export interface Facts {
  value(expr: Expr, typed: TypedExpr, scope: Scope): void;
  head(head: Chain['head'], typed: TypedExpr): void;
  step(step: Step, input: TypedExpr, output: TypedExpr): void;
}

/** Stores what the checker reports; for each node the last report counts. */
export class SemanticModel implements Facts {
  readonly values = new Map<Expr, { typed: TypedExpr; scope: Scope }>();
  readonly heads = new Map<Chain['head'], TypedExpr>();
  readonly steps = new Map<Step, { input: TypedExpr; output: TypedExpr }>();

  value(expr: Expr, typed: TypedExpr, scope: Scope): void {
    this.values.set(expr, { typed, scope });
  }

  head(head: Chain['head'], typed: TypedExpr): void {
    this.heads.set(head, typed);
  }

  step(step: Step, input: TypedExpr, output: TypedExpr): void {
    this.steps.set(step, { input, output });
  }

  /** Repeats all results to another receiver. */
  replay(to: Facts): void {
    for (const [expr, { typed, scope }] of this.values) to.value(expr, typed, scope);
    for (const [head, typed] of this.heads) to.head(head, typed);
    for (const [step, { input, output }] of this.steps) to.step(step, input, output);
  }
}
