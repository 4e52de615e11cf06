// Whether a plan only takes away: what may still run when there is no room for more data.
import type { Plan } from './plan.js';
import { eachPart } from './rewrite.js';

/** Steps and expressions that store something. */
const storing = new Set<unknown>([
  'addNode',
  'addVector',
  'addVectors',
  'addEdge',
  'update',
  'upsertNode',
  'upsertVector',
  'upsertEdge',
]);

export function onlyDeletes(plan: Plan): boolean {
  let stores = false;
  eachPart([plan.statements, plan.output], ({ kind }) => {
    stores ||= storing.has(kind);
  });
  return plan.writes && !stores;
}

const known = new WeakMap<Plan, boolean>();

/** Whether a plan drops elements: how many, its form does not say. */
export function drops(plan: Plan): boolean {
  let found = known.get(plan);
  if (found !== undefined) return found;
  found = false;
  eachPart([plan.statements, plan.output], ({ kind }) => {
    found ||= kind === 'drop';
  });
  known.set(plan, found);
  return found;
}
