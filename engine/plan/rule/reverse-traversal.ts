// Evaluates a condition on the far end of a traversal backwards. It starts from named elements,
// from those that an index finds, or from all elements of the far type if that type is much
// smaller. The executor abandons the path if it turns out to be more expensive.
import type { TypeRef } from '../../base/schema.js';
import type {
  Access,
  Expression,
  ItemExpression,
  Pipeline,
  ReachedPath,
  Source,
  Step,
} from '../expression.js';
import { cannotThrow } from '../can-throw.js';
import { renameSlot } from '../rewrite.js';
import { joinConditions } from './conjuncts.js';
import type { Planning } from './planner-context.js';
import { freeSlots } from './free-slots.js';

type Compare = Extract<Expression, { kind: 'compare' }>;
type Back = ReachedPath['back'];
type Choose = (type: TypeRef, steps: readonly Step[]) => Access | undefined;

/**
 * A step of the traversal: the reverse step, the type that it leads to, and the conditions on that
 * type.
 */
interface Hop {
  step: Step;
  back: Back[number];
  far: TypeRef | undefined;
  filters: ItemExpression[];
}

/**
 * `choose` finds the access of a scan of the far type. Without the item's type, the path leads to
 * all elements of any type that satisfy the condition.
 */
export function reachedPath(
  planning: Planning,
  type: TypeRef | undefined,
  slot: number,
  condition: Compare | Extract<Expression, { kind: 'exists' }>,
  choose: Choose,
): ReachedPath | undefined {
  const asks = condition.kind === 'exists' ? condition : condition.left;
  if (!cannotThrow(asks, planning.parameters)) return undefined;
  if (condition.kind === 'exists') {
    const steps = stepsFrom(condition.of, slot);
    const hops = steps && reverseSteps(planning, type, steps);
    return hops && foundPath(type, hops, slot, choose);
  }
  const walk = readWalk(condition.left, slot);
  const hops = walk && reverseSteps(planning, type, walk.steps);
  if (walk === undefined || hops === undefined) return undefined;
  if (walk.name === undefined || walk.name === 'id')
    return namedPath(condition, hops, type === undefined);
  // If nothing is reached, the comparison might never have been evaluated, so it must not be able
  // to fail.
  if (!cannotThrow(condition, planning.parameters)) return undefined;
  const last = hops.at(-1)!;
  if (!condition.any && last.back.take === undefined) return undefined;
  const item = planning.slots++;
  const left: Expression = { kind: 'property', of: { kind: 'slot', slot: item }, name: walk.name };
  last.filters.push({ slot: item, value: { ...condition, left, any: false } });
  return foundPath(type, hops, slot, choose);
}

/** Starts from elements that are named directly or by their ids. */
function namedPath({ operator, right, any }: Compare, hops: readonly Hop[], ofAny: boolean) {
  const asks = any ? operator === 'EQ' || operator === 'IS_IN' : operator === 'CONTAINS';
  if (!asks || hops.some(({ filters }) => filters.length > 0)) return undefined;
  const back = hops.map((hop) => hop.back).reverse();
  // One step along edges of one type is an `edges` path of a known element.
  const [{ direction, edges }] = back as [Back[number]];
  const touches = back.length === 1 && edges.length === 1 && direction !== 'both';
  const list = operator === 'IS_IN';
  return touches && !(ofAny && list)
    ? undefined
    : ({ kind: 'reverse', back, value: right, list } as const);
}

/** Starts from elements that a condition finds, or from all edges of a type. */
function foundPath(
  type: TypeRef | undefined,
  hops: readonly Hop[],
  slot: number,
  choose: Choose,
): ReachedPath | undefined {
  const isOpen = hops.some(({ filters }) =>
    filters.some(({ value }) => freeSlots(value).includes(slot)),
  );
  if (isOpen) return undefined;
  const last = hops.findLastIndex(({ filters }) => filters.length > 0);
  if (last < 0) return edgesPath(hops);
  const { far } = hops[last]!;
  if (far === undefined) return undefined;
  const where: Step = { kind: 'where', condition: farCondition(hops[last]!, hops.slice(last + 1)) };
  const access = choose(far, [where]);
  // Without an index the far type is read completely, which gains nothing if it is the item's type.
  const isOther = !(type && isSame(far, type)) && isSelective(where.condition.value);
  if (access === undefined && !isOther) return undefined;
  const source: Source = { kind: 'scan', types: [far], ...(access && { access }) };
  return pathFrom({ source, steps: [where] }, hops.slice(0, last + 1), access ? undefined : far);
}

/** Returns the condition at the end of a step, including the rest of the traversal. */
function farCondition({ filters }: Hop, further: readonly Hop[]): ItemExpression {
  const [{ slot, value }, ...more] = filters as [ItemExpression, ...ItemExpression[]];
  const of = [value, ...more.map((each) => renameSlot(each.value, each.slot, slot))];
  if (further.length > 0) {
    const source: Source = { kind: 'value', of: { kind: 'slot', slot } };
    const steps = further.map(({ step }) => step);
    of.push({ kind: 'exists', of: { kind: 'pipeline', source, steps, result: 'many' } });
  }
  return { slot, value: joinConditions('and', of) };
}

/** Returns the path from all edges of a type to the elements at their near end. */
function edgesPath(hops: readonly Hop[]): ReachedPath | undefined {
  const { back } = hops.at(-1)!;
  const [name, other] = back.edges;
  if (name === undefined || other !== undefined || back.take || back.direction === 'both') {
    return undefined;
  }
  const type: TypeRef = { kind: 'edge', name };
  const end: Step = { kind: 'end', end: back.direction === 'in' ? 'from' : 'to' };
  const source: Source = { kind: 'scan', types: [type] };
  return pathFrom({ source, steps: [end] }, hops.slice(0, -1), type);
}

/**
 * Returns the path back from the elements that `found` yields. Steps up to the last condition are
 * evaluated first; the remaining ones are the steps of the path.
 */
function pathFrom(
  { source, steps }: Pick<Pipeline, 'source' | 'steps'>,
  hops: readonly Hop[],
  reads: TypeRef | undefined,
): ReachedPath | undefined {
  const found = [...steps];
  let at = hops.length;
  const first = hops.slice(0, -1).findIndex(({ filters }) => filters.length > 0);
  while (first >= 0 && at > first + 1) {
    const { back } = hops[--at]!;
    const { far, filters } = hops[at - 1]!;
    if (far === undefined && filters.length > 0) return undefined;
    found.push(stepBack(back), { kind: 'dedup' });
    for (const condition of filters) found.push({ kind: 'where', condition });
  }
  const back = hops
    .slice(0, at)
    .map((hop) => hop.back)
    .reverse();
  const value: Pipeline = { kind: 'pipeline', source, steps: found, result: 'many' };
  return { kind: 'reverse', back, value, list: true, ...(reads && { reads }) };
}

function stepBack({ direction, edges }: Back[number]): Step {
  return direction === 'both'
    ? { kind: 'expand', direction, edges, take: 'far' }
    : { kind: 'neighbours', direction, edges };
}

/** Returns true if a condition probably selects few elements of a type. */
function isSelective(condition: Expression): boolean {
  if (condition.kind === 'semiJoin') return isSelective(condition.of);
  if (condition.kind === 'and') return condition.of.some(isSelective);
  if (condition.kind === 'or') return condition.of.every(isSelective);
  return condition.kind === 'compare' && selective.has(condition.operator);
}

const selective = new Set(['EQ', 'IS_IN', 'CONTAINS', 'STARTS_WITH', 'ENDS_WITH']);

/** Returns the edge steps from the item, and the property that is read at their end. */
function readWalk(left: Expression, slot: number): { steps: Step[]; name?: string } | undefined {
  if (left.kind === 'property') {
    const walk = left.of.kind === 'pipeline' ? readWalk(left.of, slot) : undefined;
    return walk && walk.name === undefined ? { ...walk, name: left.name } : undefined;
  }
  const steps = stepsFrom(left, slot);
  const last = steps?.at(-1);
  if (last?.kind !== 'map') return steps && { steps };
  const { slot: own, value } = last.value;
  if (value.kind !== 'property' || value.of.kind !== 'slot' || value.of.slot !== own) {
    return undefined;
  }
  return { steps: steps!.slice(0, -1), name: value.name };
}

/** Returns the steps of a pipeline that begins at the item. */
function stepsFrom(chain: Expression, slot: number): Step[] | undefined {
  if (chain.kind !== 'pipeline') return undefined;
  const { source, steps, result } = chain;
  const isItem = source.kind === 'value' && source.of.kind === 'slot' && source.of.slot === slot;
  if (!isItem || steps.length === 0) return undefined;
  // An edge has one element at each end. In other pipelines `one` means the first row.
  return result === 'many' || steps.every(({ kind }) => kind === 'end') ? steps : undefined;
}

/** Returns the reverse steps, starting with that of the first step. */
function reverseSteps(
  planning: Planning,
  type: TypeRef | undefined,
  steps: readonly Step[],
): Hop[] | undefined {
  const hops: Hop[] = [];
  for (const step of steps) {
    const last = hops.at(-1);
    if (step.kind === 'where') {
      if (last === undefined) return undefined;
      last.filters.push(step.condition);
    } else if (step.kind !== 'dedup' || step.by !== undefined) {
      const hop = reverseStep(planning, hops.length === 0 ? type : undefined, step);
      if (hop === undefined || (hop.back.take !== undefined && hops.length > 0)) return undefined;
      hops.push(hop);
    }
  }
  return hops.length === 0 ? undefined : hops;
}

function reverseStep(
  { declarations }: Planning,
  near: TypeRef | undefined,
  step: Step,
): Hop | undefined {
  if (step.kind === 'end') {
    const edge = near?.kind === 'edge' ? declarations.find('edge', near.name) : undefined;
    if (edge?.kind !== 'edge' || step.end === 'other' || step.edge !== undefined) return undefined;
    const [direction, far] =
      step.end === 'from' ? ['out' as const, edge.from] : ['in' as const, edge.to];
    return { step, back: { direction, edges: [edge.name], take: 'edge' }, far, filters: [] };
  }
  const isPlain = step.kind === 'neighbours' && step.farKind === undefined;
  const isBoth =
    step.kind === 'expand' &&
    step.direction === 'both' &&
    step.take === 'far' &&
    !step.condition &&
    !step.hops;
  if (!isPlain && !isBoth) return undefined;
  const { edges, direction } = step;
  const fars: TypeRef[] = [];
  for (const name of edges) {
    const edge = declarations.find('edge', name);
    if (edge?.kind !== 'edge') return undefined;
    const [start, end] = direction === 'in' ? [edge.to, edge.from] : [edge.from, edge.to];
    // For a step in both directions between different types, the end of the item is unknown.
    if (direction === 'both' && !isSame(start, end)) return undefined;
    // In later steps, edges of other types lead nowhere.
    if (near !== undefined && !isSame(start, near)) return undefined;
    fars.push(end);
  }
  if (fars.length === 0) return undefined;
  const far = fars.every((each) => isSame(each, fars[0]!)) ? fars[0] : undefined;
  const back = ({ out: 'in', in: 'out', both: 'both' } as const)[direction];
  return { step, back: { direction: back, edges }, far, filters: [] };
}

const isSame = (a: TypeRef, b: TypeRef): boolean => a.kind === b.kind && a.name === b.name;
