// A condition on what a walk from the item leads to, as the walk back: from the elements that are
// named, or that an index has for the property asked about. The executor gives it up where it has
// looked at more edges than the type has elements.
import type { TypeRef } from '../../base/schema.js';
import type { Access, AccessPath, Expression, Pipeline, Source, Step } from '../expression.js';
import type { Planning } from './planning.js';

type Compare = Extract<Expression, { kind: 'compare' }>;
type Back = Extract<AccessPath, { kind: 'reached' }>['back'];

/** `choose` finds the access of a scan of the type at the far end. */
export function reachedPath(
  planning: Planning,
  type: TypeRef,
  slot: number,
  condition: Compare,
  choose: (type: TypeRef, steps: readonly Step[]) => Access | undefined,
): AccessPath | undefined {
  const walk = walkOf(condition.left, slot);
  const way = walk && wayBack(planning, type, walk.steps);
  if (way === undefined) return undefined;
  const { operator, right, any } = condition;
  const { back, far } = way;
  if (walk!.name === undefined || walk!.name === 'id') {
    const asks = any ? operator === 'EQ' || operator === 'IS_IN' : operator === 'CONTAINS';
    const list = operator === 'IS_IN';
    return asks && back.length > 1 ? { kind: 'reached', back, value: right, list } : undefined;
  }
  if (!any || far === undefined) return undefined;
  const item = planning.slots;
  const left: Expression = { kind: 'property', of: { kind: 'slot', slot: item }, name: walk!.name };
  const value: Expression = { ...condition, left, any: false };
  const where: Step = { kind: 'where', condition: { slot: item, value } };
  const access = choose(far, [where]);
  if (access === undefined) return undefined;
  planning.slots++;
  const source: Source = { kind: 'scan', types: [far], access };
  const found: Pipeline = { kind: 'pipeline', source, steps: [where], result: 'many' };
  return { kind: 'reached', back, value: found, list: true };
}

/** Steps along edges from the item, and the property that is read of where they lead. */
function walkOf(left: Expression, slot: number): { steps: Step[]; name?: string } | undefined {
  if (left.kind === 'property') {
    const walk = left.of.kind === 'pipeline' ? walkOf(left.of, slot) : undefined;
    return walk && walk.name === undefined ? { ...walk, name: left.name } : undefined;
  }
  if (left.kind !== 'pipeline' || left.result !== 'many') return undefined;
  const { source, steps } = left;
  const isItem = source.kind === 'value' && source.of.kind === 'slot' && source.of.slot === slot;
  if (!isItem) return undefined;
  const last = steps.at(-1);
  if (last?.kind !== 'map') return { steps };
  const { slot: own, value } = last.value;
  if (value.kind !== 'property' || value.of.kind !== 'slot' || value.of.slot !== own) {
    return undefined;
  }
  return { steps: steps.slice(0, -1), name: value.name };
}

/** The same steps from their far end; `far`: the type there, if it is one. */
function wayBack(
  { declarations }: Planning,
  type: TypeRef,
  steps: readonly Step[],
): { back: Back; far: TypeRef | undefined } | undefined {
  const back: Back = [];
  let far: TypeRef | undefined;
  for (const step of steps) {
    if (step.kind !== 'neighbours' || step.reach !== undefined) return undefined;
    const { direction, edges } = step;
    const found = edges.map((name) => declarations.find('edge', name));
    if (found.length === 0) return undefined;
    const fars: TypeRef[] = [];
    for (const edge of found) {
      if (edge?.kind !== 'edge') return undefined;
      const [near, end] = direction === 'out' ? [edge.from, edge.to] : [edge.to, edge.from];
      // Further on, edges of other types simply lead nowhere.
      if (back.length === 0 && !isSame(near, type)) return undefined;
      fars.push(end);
    }
    far = fars.every((each) => isSame(each, fars[0]!)) ? fars[0] : undefined;
    back.unshift({ direction: direction === 'out' ? 'in' : 'out', edges });
  }
  return back.length === 0 ? undefined : { back, far };
}

const isSame = (a: TypeRef, b: TypeRef): boolean => a.kind === b.kind && a.name === b.name;
