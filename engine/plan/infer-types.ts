// Types of graph steps: which types a step reaches from given types, or why it cannot be taken. The
// compiler and sessions share these rules.
import type { EdgeType, Schema, TypeRef } from '../base/schema.js';
import type { Direction, Step } from './expression.js';

export type GraphStep = Extract<Step, { kind: 'neighbours' | 'edges' | 'expand' | 'end' }>;

/**
 * `kind`: the step does not apply to elements of this kind. `ends`: its edges do not connect to
 * these types.
 */
export type Inference = { types: TypeRef[] } | { mismatch: 'kind' | 'ends' };

/**
 * Returns the types that `step` reaches from elements of `types`, each once, in the order of the
 * step's edges.
 */
export function inferTypes(schema: Schema, types: readonly TypeRef[], step: GraphStep): Inference {
  const fromEdges = step.kind === 'end';
  const starts = types.filter((type) => (type.kind === 'edge') === fromEdges);
  if (starts.length === 0) return { mismatch: 'kind' };
  const reached =
    step.kind === 'end' ? inferEnds(schema, starts, step) : touching(schema, starts, step);
  return reached.length === 0 ? { mismatch: 'ends' } : { types: distinct(reached) };
}

function inferEnds(
  schema: Schema,
  edges: readonly TypeRef[],
  step: Extract<GraphStep, { kind: 'end' }>,
): TypeRef[] {
  const wanted = edges.filter((edge) => step.edge === undefined || edge.name === step.edge);
  return wanted.flatMap((ref) => {
    const edge = schema.edges.find((type) => type.name === ref.name);
    if (edge === undefined) return [];
    return step.end === 'other' ? [edge.from, edge.to] : [edge[step.end]];
  });
}

function touching(
  schema: Schema,
  starts: readonly TypeRef[],
  step: Exclude<GraphStep, { kind: 'end' }>,
): TypeRef[] {
  const reached: TypeRef[] = [];
  const directions: Direction[] = step.direction === 'both' ? ['out', 'in'] : [step.direction];
  const isEdge = step.kind === 'edges' || (step.kind === 'expand' && step.take === 'edge');
  const kind = step.kind === 'neighbours' ? step.farKind : undefined;
  for (const name of step.edges) {
    const edge = schema.edges.find((type) => type.name === name);
    if (edge === undefined) continue;
    for (const direction of directions) {
      if (!starts.some((start) => same(start, near(edge, direction)))) continue;
      const far = direction === 'out' ? edge.to : edge.from;
      if (isEdge) reached.push({ kind: 'edge', name });
      else if (kind === undefined || kind === far.kind) reached.push(far);
    }
  }
  return reached;
}

const near = (edge: EdgeType, direction: 'out' | 'in') =>
  direction === 'out' ? edge.from : edge.to;

const same = (a: TypeRef, b: TypeRef) => a.kind === b.kind && a.name === b.name;

function distinct(types: TypeRef[]): TypeRef[] {
  return types.filter((type, i) => types.findIndex((other) => same(other, type)) === i);
}
