// The plans that sessions make: one pipeline over the items of the traversal, or over a source that
// starts anew.
import type { CostClass, Output, Plan } from '../plan/plan.js';
import type { Expression, Pipeline, Source, Step } from '../plan/expression.js';

/**
 * Rows up to which a plan is cheap enough to run at once, and up to which it is an ordinary read.
 */
const cheapRows = 16;
const ordinaryRows = 1_000;

const slot0: Expression = { kind: 'slot', slot: 0 };

export const literal = (value: string | number): Expression => ({ kind: 'literal', value });

export const propertyOf = (name: string): Expression => ({ kind: 'property', of: slot0, name });

/** All items of the traversal, or those at positions start <= i < end. */
export function itemsSource(end: number, start = 0): Source {
  return { kind: 'items', start, end };
}

export function pipeline(source: Source, steps: Step[] = []): Pipeline {
  return { kind: 'pipeline', source, steps, result: 'many' };
}

/** Of work that looks at each row once. */
export function costOf(rows: number): CostClass {
  return rows <= cheapRows ? 'A' : costOfReach(rows);
}

/** Of work that goes from each row to elements nobody has counted. */
export function costOfReach(rows: number): CostClass {
  return rows <= ordinaryRows ? 'B' : 'C';
}

/** A plan that reads and answers `output`. `slotCount` counts the slots its expressions use. */
export function sessionPlan(tool: string, output: Output, cost: CostClass, slotCount = 0): Plan {
  return {
    name: `mcp/${tool}`,
    parameters: [],
    slotCount,
    statements: [],
    output,
    writes: false,
    cost,
    embeds: [],
    compat: false,
  };
}
