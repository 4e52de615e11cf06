// What tests of writing plans share: a garden of their own for every test, the forms of changes, and
// what a plan answers or how it is refused.
import { beforeEach, expect } from 'vitest';
import { TrellisError } from '../../../engine/base/errors.js';
import type { Argument } from '../../../engine/exec/runtime/execute.js';
import type { End, Expression } from '../../../engine/plan/expression.js';
import type { Statement } from '../../../engine/plan/plan.js';
import { Garden, named, plan, uuid } from './garden.js';
import { kit } from './kit.js';

const { lit, set } = kit;

type Values = Record<string, Expression | undefined>;

const form = {
  bind: (n: number, value: Expression): Statement => ({ kind: 'bind', slot: n, value }),
  effect: (value: Expression): Statement => ({ kind: 'effect', value }),
  drop: (value: Expression): Statement => ({ kind: 'drop', value }),
  node: (type: string, values: Values = {}): Expression => ({
    kind: 'addNode',
    type,
    set: set(values),
  }),
  edge: (type: string, from: End, to: End, values: Values = {}): Expression => ({
    kind: 'addEdge',
    type,
    set: set(values),
    from,
    to,
  }),
  single: (value: Expression): End => ({ value, many: false }),
  id: (alias: string) => lit(uuid(alias)),
  update: (values: Values) => ({ kind: 'update' as const, slot: 9, set: set(values) }),
};

/** Call once per test file. */
export function writing() {
  const at = { garden: new Garden() };
  beforeEach(() => {
    at.garden = new Garden();
  });
  const run = (value: Expression, statements: Statement[] = [], args: Argument[] = []): string =>
    at.garden.run(plan({ kind: 'bare', value, data: false }, statements, { slotCount: 30 }), args);
  /** The error of a plan, with its arguments; the data must be as before. */
  const refused: typeof run = (value, statements, args) => {
    const before = at.garden.view;
    try {
      run(value, statements, args);
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      expect(at.garden.view).toBe(before);
      const printed = JSON.stringify(error.data.args, (_, each) =>
        typeof each === 'bigint' ? `${each}` : each,
      );
      return named(`${error.code} ${printed}`);
    }
    return 'accepted';
  };
  return { at, run, refused, ...form };
}
