// Fuses an edge step with the step to its far end: OutE then ToN is Out, InE then FromN is In. The
// planner uses this rule, and the executor does so for plans that the planner has not seen
// (sessions).
import type { Step } from '../expression.js';

/**
 * Returns the step that replaces an edge step and the next step, or undefined if they do not lead
 * to the far end.
 */
export function fuseEdgeEnd(before: Step | undefined, step: Step): Step | undefined {
  if (step.kind !== 'end') return undefined;
  if (before?.kind === 'expand') return fuseWalk(before, step);
  if (before?.kind !== 'edges' || step.end === 'other') return undefined;
  const { direction, edges, turn } = before;
  const { end, edge } = step;
  const sameEdge = edge === undefined || (edges.length === 1 && edges[0] === edge);
  const isFarEnd = !turn && sameEdge && (direction === 'out') === (end === 'to');
  return isFarEnd ? { kind: 'neighbours', direction, edges } : undefined;
}

const farEnd = { out: 'to', in: 'from', both: 'other' } as const;

function fuseWalk(
  walk: Extract<Step, { kind: 'expand' }>,
  { end, edge }: Extract<Step, { kind: 'end' }>,
): Step | undefined {
  const isFarEnd = walk.take === 'edge' && farEnd[walk.direction] === end && edge === undefined;
  return isFarEnd ? { ...walk, take: 'far' } : undefined;
}
