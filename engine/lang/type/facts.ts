// What the checker finds out on its way, for those who ask about places of a source rather than for its
// plan. Nobody listens when a program is compiled.
import type { Chain, Expr, Step } from '../syntax/ast-expression.js';
import type { Scope } from './scope.js';
import type { Term } from './term.js';

export interface Facts {
  value(expr: Expr, term: Term, scope: Scope): void;
  head(head: Chain['head'], term: Term): void;
  step(step: Step, input: Term, output: Term): void;
}

/** Keeps what it is told, the last word on each place. */
export class FactBook implements Facts {
  readonly values = new Map<Expr, { term: Term; scope: Scope }>();
  readonly heads = new Map<Chain['head'], Term>();
  readonly steps = new Map<Step, { input: Term; output: Term }>();

  value(expr: Expr, term: Term, scope: Scope): void {
    this.values.set(expr, { term, scope });
  }

  head(head: Chain['head'], term: Term): void {
    this.heads.set(head, term);
  }

  step(step: Step, input: Term, output: Term): void {
    this.steps.set(step, { input, output });
  }

  /** All of it. */
  tell(to: Facts): void {
    for (const [expr, { term, scope }] of this.values) to.value(expr, term, scope);
    for (const [head, term] of this.heads) to.head(head, term);
    for (const [step, { input, output }] of this.steps) to.step(step, input, output);
  }
}
