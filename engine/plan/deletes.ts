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
