// Moves a condition on a set operation into its lists, where it may find an index:
// `UNION(N<A>, N<B>)::WHERE(..)`. An EXCEPT or INTERSECT needs the condition only on its first list.
// Invariant: applies only to stored elements. If a search or a traversal found an element twice, a
// condition might accept one copy and reject the other.
import type { Expression, Pipeline, Source, Step } from '../expression.js';
import { renameSlot } from '../rewrite.js';
import { cannotThrow } from '../can-throw.js';
import type { Planning } from './planner-context.js';

type Where = Extract<Step, { kind: 'where' }>;

/**
 * Returns the pipeline with its first condition moved into the lists of its set, if an index
 * decides it there.
 */
export function filterParts(
  planning: Planning,
  { source, steps, ...rest }: Pipeline,
  plan: (pipeline: Pipeline) => Pipeline,
): Pipeline | undefined {
  const [where, ...others] = steps;
  if (source.kind !== 'set' || where?.kind !== 'where' || !source.of.every(isPlain))
    return undefined;
  if (!cannotThrow(where.condition.value, planning.parameters)) return undefined;
  const filteredCount = source.operation === 'union' ? source.of.length : 1;
  const of = source.of.map((part, at) =>
    at < filteredCount ? filtered(planning, part, where, plan) : part,
  );
  return of.some(isFound) ? { ...rest, source: { ...source, of }, steps: others } : undefined;
}

/** Returns true for stored elements that no step has processed. */
function isPlain(part: Expression): boolean {
  if (part.kind !== 'pipeline' || part.steps.some(({ kind }) => kind !== 'where')) return false;
  const { source } = part;
  if (source.kind === 'set') return source.of.every(isPlain);
  return ['scan', 'lookup', 'batch', 'byId'].includes(source.kind);
}

function filtered(
  planning: Planning,
  part: Expression,
  { condition }: Where,
  plan: (pipeline: Pipeline) => Pipeline,
): Expression {
  const slot = planning.slots++;
  const value = renameSlot(condition.value, condition.slot, slot);
  const where: Where = { kind: 'where', condition: { slot, value } };
  // A single element counts as a list of one here, and still fails if it is missing.
  if (part.kind !== 'pipeline' || part.result !== 'many') {
    const source: Source = { kind: 'value', of: part };
    return { kind: 'pipeline', source, steps: [where], result: 'many' };
  }
  // The access path of the scan is chosen again, for all its conditions.
  const { source } = part;
  const plain: Source = source.kind === 'scan' ? { kind: 'scan', types: source.types } : source;
  return plan({ ...part, source: plain, steps: [...part.steps, where] });
}

function isFound(part: Expression): boolean {
  if (part.kind !== 'pipeline') return false;
  const { source } = part;
  if (source.kind === 'set') return source.of.some(isFound);
  return source.kind === 'scan' && source.access !== undefined;
}
