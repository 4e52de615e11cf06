// A repetition from each of many items, of whose elements each is wanted once, is one search from all
// of them, where nobody can tell the difference: neither order nor `hops` are read, nothing can fail.
import type { Expression, Pipeline, Step } from '../expression.js';
import { eachOnce, type Part } from '../rewrite.js';
import { stepCannotThrow, type Parameters } from '../can-throw.js';

/** `part` with the lists in it that it reads as sets made sooner. */
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

/** The pipeline read as a set, or counted. */
function together(pipeline: Pipeline, parameters: Parameters): Pipeline {
  let steps = pipeline.steps;
  for (let at = steps.length - 1; at > 0; at--) {
    const [walk, next] = [steps[at - 1]!, steps[at]!];
    if (!isBlind(next, parameters)) break;
    if (walk.kind !== 'walk' || walk.hops === undefined || walk.hops.min > 1) continue;
    const isOnce = next.kind === 'dedup' && next.by === undefined;
    if (isOnce && stepCannotThrow(walk, parameters)) {
      steps = steps.with(at - 1, { ...walk, hops: { ...walk.hops, together: true } });
    }
  }
  return steps === pipeline.steps ? pipeline : { ...pipeline, steps };
}

const blind = new Set<Step['kind']>([
  'where',
  'neighbours',
  'edges',
  'walk',
  'end',
  'map',
  'dedup',
  'count',
]);

/** Whether a step gives the same rows in any order, and does not look at `hops`. */
function isBlind(step: Step, parameters: Parameters): boolean {
  if (!blind.has(step.kind) || !stepCannotThrow(step, parameters)) return false;
  if (step.kind === 'dedup' && step.by !== undefined) return false;
  let reads = false;
  eachOnce(step, (part) => {
    reads ||= part.kind === 'property' && part.name === 'hops';
  });
  return !reads;
}
