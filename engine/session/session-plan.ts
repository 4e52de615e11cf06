// Builds the plans of sessions: one pipeline over the items of the traversal, or over a new source.
import type { CostClass, Output, Plan } from '../plan/plan.js';
import type { Expression, Pipeline, Source, Step } from '../plan/expression.js';

/** Number of rows up to which a plan may run inline, and up to which it is an ordinary read. */
const cheapRows = 16;
const ordinaryRows = 1_000;

const slot0: Expression = { kind: 'slot', slot: 0 };

export const literal = (value: string | number): Expression => ({ kind: 'literal', value });

export const propertyOf = (name: string): Expression => ({ kind: 'property', of: slot0, name });

/** Returns all items of the traversal, or those at positions start <= i < end. */
export function itemsSource(end: number, start = 0): Source {
  return { kind: 'items', start, end };
}

export function pipeline(source: Source, steps: Step[] = []): Pipeline {
  return { kind: 'pipeline', source, steps, result: 'many' };
}

/** Returns the cost of a plan that reads each row once. */
export function estimateCost(rows: number): CostClass {
  return rows <= cheapRows ? 'A' : estimateExpandCost(rows);
}

/** Returns the cost of a plan that goes from each row to an unknown number of elements. */
export function estimateExpandCost(rows: number): CostClass {
  return rows <= ordinaryRows ? 'B' : 'C';
}

/** Returns a plan that reads and returns `output`. `slotCount` is the number of slots in its expressions. */
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
