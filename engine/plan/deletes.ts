// Decides whether a plan only deletes. Such a plan may run when the disk has no space for more
// data.
import type { Plan } from './plan.js';
import { eachPart } from './rewrite.js';

/** Steps and expressions that store data. */
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

/**
 * Returns true if a plan deletes elements. The number of deleted elements is unknown before it
 * runs.
 */
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
