// A condition on lists taken together is one on each of them, and may find an index there:
// `UNION(N<A>, N<B>)::WHERE(..)`. What is not in the first list is in neither EXCEPT nor INTERSECT, so that
// these take it on the first. Invariant: only lists of stored elements as they are; of what a search or a
// walk has found, a condition may pass one copy and not the other.
import type { Expression, Pipeline, Source, Step } from '../expression.js';
import { renameSlot } from '../rewrite.js';
import { cannotThrow } from '../can-throw.js';
import type { Planning } from './planner-context.js';

type Where = Extract<Step, { kind: 'where' }>;

/** The pipeline with its first condition on the parts of its set, where an index answers it there. */
export function filterParts(
  planning: Planning,
  { source, steps, ...rest }: Pipeline,
  plan: (pipeline: Pipeline) => Pipeline,
): Pipeline | undefined {
  const [where, ...others] = steps;
  if (source.kind !== 'set' || where?.kind !== 'where' || !source.of.every(isPlain))
    return undefined;
  if (!cannotThrow(where.condition.value, planning.parameters)) return undefined;
  const most = source.operation === 'union' ? source.of.length : 1;
  const of = source.of.map((part, at) =>
    at < most ? filtered(planning, part, where, plan) : part,
  );
  return of.some(isFound) ? { ...rest, source: { ...source, of }, steps: others } : undefined;
}

/** Elements of the store, not yet gone through in any way. */
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
  // A single element is a list of one here, and fails as ever where it is missing.
  if (part.kind !== 'pipeline' || part.result !== 'many') {
    const source: Source = { kind: 'value', of: part };
    return { kind: 'pipeline', source, steps: [where], result: 'many' };
  }
  // The way that a scan has is chosen anew, for all its conditions.
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
