// Runs steps of the oracle over functions in place of expressions.
import type { Expression, Step } from '../../../engine/plan/expression.js';
import type { Run } from '../oracle/oracle-run.js';
import { take } from '../oracle/oracle-step.js';
import { rowsOf, type Value } from '../oracle/oracle-value.js';
import { withItem } from './meaning.js';
import type { Env, Part } from './part.js';

/** A piece of a plan that is a function. */
export const piece = (of: () => Value): Expression => ({ kind: 'piece', of }) as never;

/** What the oracle's steps need to run over functions instead of expressions. */
export function runOf(env: Env): Run {
  const slots: Value[] = [null];
  return {
    graph: env.graph,
    slots,
    args: [],
    now: env.now,
    compat: false,
    items: [],
    kept: new Map(),
    value: (expression) =>
      expression.kind === 'slot'
        ? slots[expression.slot]!
        : (expression as never as { of(): Value }).of(),
    rows: () => [],
  };
}

/** A function of the item in slot 0. */
export function perItem(run: Run, env: Env, part: Pick<Part, 'of'>) {
  return { slot: 0, value: piece(() => part.of(withItem(env, run.slots[0]!))) };
}

/** A step of the oracle over the rows of a part. */
export function stepOf(
  of: Part['of'],
  step: (run: Run, env: Env) => Step,
): (env: Env) => readonly Value[] {
  return (env) => {
    const run = runOf(env);
    return take(run, step(run, env), rowsOf(of(env)));
  };
}
