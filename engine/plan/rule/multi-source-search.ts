// Merges the repetitions from many items into one search from all of them (multi-source BFS).
// Applies if each reached element is wanted once, neither order nor `hops` are read, and nothing
// can fail.
import type { Expression, Pipeline, Step } from '../expression.js';
import { eachOnce, type Part } from '../rewrite.js';
import { stepCannotThrow, type Parameters } from '../can-throw.js';

/** Returns `part` with the lists that it reads as sets computed by one search. */
export function planMultiSource(part: Part, parameters: Parameters): Part {
  const of = <E extends Expression>(list: E): E =>
    list.kind === 'pipeline' && list.result === 'many' ? (together(list, parameters) as E) : list;
  switch (part.kind) {
    case 'pipeline':
      return part.steps.at(-1)?.kind === 'count' ? together(part, parameters) : part;
    case 'exists':
      return { ...part, of: of(part.of) };
    case 'aggregate':
      return part.function === 'COUNT' ? { ...part, of: of(part.of) } : part;
    case 'compare':
      if (part.operator === 'IS_IN') return { ...part, right: of(part.right) };
      return part.operator === 'CONTAINS' ? { ...part, left: of(part.left) } : part;
    case 'set': {
      if (part.operation === 'union') return part;
      const [first, ...others] = part.of;
      return { ...part, of: [first!, ...others.map(of)] };
    }
    default:
      return part;
  }
}

/** Merges a pipeline that is read as a set, or counted. */
function together(pipeline: Pipeline, parameters: Parameters): Pipeline {
  let steps = pipeline.steps;
  for (let at = steps.length - 1; at > 0; at--) {
    const [walk, next] = [steps[at - 1]!, steps[at]!];
    if (!isBlind(next, parameters)) break;
    if (walk.kind !== 'expand' || walk.hops === undefined || walk.hops.min > 1) continue;
    const isOnce = next.kind === 'dedup' && next.by === undefined;
    if (isOnce && stepCannotThrow(walk, parameters)) {
      steps = steps.with(at - 1, { ...walk, hops: { ...walk.hops, multiSource: true } });
    }
  }
  return steps === pipeline.steps ? pipeline : { ...pipeline, steps };
}

const blind = new Set<Step['kind']>([
  'where',
  'neighbours',
  'edges',
  'expand',
  'end',
  'map',
  'dedup',
  'count',
]);

/** Returns true if a step gives the same rows in any order and does not read `hops`. */
function isBlind(step: Step, parameters: Parameters): boolean {
  if (!blind.has(step.kind) || !stepCannotThrow(step, parameters)) return false;
  if (step.kind === 'dedup' && step.by !== undefined) return false;
  let reads = false;
  eachOnce(step, (part) => {
    reads ||= part.kind === 'property' && part.name === 'hops';
  });
  return !reads;
}
