// Replaces the items of a group by aggregates if only aggregates and the first few items are read. A
// sum is then updated per row instead of computed from a stored list. If the items are used in any
// other way, the group stores all of them.
//
// A stored value has a name that no query can write (`#0`, `#1`, and so on) and replaces the list of
// items. The sum over one stored sum is the sum, and fails in the same cases.
import type { Expression, Pipeline, Step } from '../expression.js';
import type { Plan } from '../plan.js';
import { eachOnce, type Part, rewriter } from '../rewrite.js';
import { cannotThrow, type Parameters } from '../can-throw.js';
import { isItems, itemsLeft, findUses, slotsOfGroups } from './group-uses.js';
import { freeSlots } from './free-slots.js';

type Aggregate = Extract<Expression, { kind: 'aggregate' }>;
type Accumulated = NonNullable<Extract<Step, { kind: 'group' }>['accumulate']>[number];
type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

export function accumulate(plan: Plan): Plan {
  if (plan.writes) return plan;
  const groups = new Set<number>();
  eachOnce([plan.statements, plan.output], (part) => {
    if (part.kind === 'group' && (part.data || part.whole)) groups.add(part.slot as number);
  });
  return [...groups].reduce((each, slot) => accumulated(each, slot) ?? each, plan);
}

/** Returns the plan with one group that stores no items, or undefined if its items are read. */
function accumulated(plan: Plan, slot: number): Plan | undefined {
  const held = slotsOfGroups(findUses(plan), slot);
  if (held === undefined) return undefined;
  const keeper: Keeper = { held, group: slot, parameters: plan.parameters, accumulated: [] };
  const rewrite = rewriter((part) => replaced(keeper, part) ?? part);
  const read = { ...plan, statements: rewrite(plan.statements), output: rewrite(plan.output) };
  if (itemsLeft(findUses(read), held)) return undefined;
  const mark = rewriter((part) => {
    const isIt = part.kind === 'group' && part.slot === slot;
    return isIt ? { ...part, accumulate: keeper.accumulated } : part;
  });
  return { ...read, statements: mark(read.statements), output: mark(read.output) };
}

interface Keeper {
  /** Slots that groups are stored in. */
  held: ReadonlySet<number>;
  /** Slot that the step stores its items in. */
  group: number;
  parameters: Parameters;
  accumulated: Accumulated[];
}

/** Adds a stored value to the group; returns the expression that replaces the items. */
function keep(keeper: Keeper, held: number, what: Accumulated): Expression {
  const name = `#${keeper.accumulated.push(what) - 1}`;
  return { kind: 'property', of: { kind: 'slot', slot: held }, name };
}

function replaced(keeper: Keeper, part: Part): Expression | undefined {
  if (part.kind === 'aggregate') return replacedAggregate(keeper, part);
  return part.kind === 'pipeline' ? replacedPipeline(keeper, part) : undefined;
}

/** A value of every item of a group, or of the items that satisfy a condition. */
interface Values extends HeldItems {
  where?: StepOf<'where'>['condition'];
  slot: number;
  value: Expression;
}

function replacedAggregate(keeper: Keeper, part: Aggregate): Expression | undefined {
  const values = part.count === undefined ? findValues(keeper, part.of) : undefined;
  if (values === undefined) return undefined;
  const { held, ...of } = values;
  const total = (name: 'SUM' | 'MIN' | 'MAX' | 'COUNT') =>
    keep(keeper, held, { kind: 'total', function: name, integer: part.integer, ...of });
  if (part.function === 'COUNT') return total('COUNT');
  if (part.function !== 'AVG') return { ...part, of: total(part.function) };
  return { ...part, of: total('SUM'), count: total('COUNT') };
}

function findValues(keeper: Keeper, list: Expression): Values | undefined {
  const slot = keeper.group;
  const held = heldItems(keeper, list);
  if (held !== undefined) return { ...held, slot, value: { kind: 'slot', slot } };
  if (list.kind === 'property') {
    const inner = findValues(keeper, list.of);
    return inner && { ...inner, value: { ...list, of: inner.value } };
  }
  const filtered = list.kind === 'pipeline' ? filteredItems(keeper, list) : undefined;
  if (filtered === undefined || (list as Pipeline).result !== 'many') return undefined;
  const { rest, ...items } = filtered;
  const [map, more] = rest;
  if (map === undefined) return { ...items, slot, value: { kind: 'slot', slot } };
  if (map.kind !== 'map' || more !== undefined) return undefined;
  const { value } = map.value;
  return isOfItem(keeper, map.value.slot, value) ? { ...items, ...map.value } : undefined;
}

/** Replaces a count of the items, or a list of the first few items in an order. */
function replacedPipeline(keeper: Keeper, part: Pipeline): Expression | undefined {
  const filtered = filteredItems(keeper, part);
  if (filtered === undefined) return undefined;
  const { rest, held, ...items } = filtered;
  const { group: slot } = keeper;
  if (rest[0]?.kind === 'count' && rest.length === 1) {
    const value: Expression = { kind: 'slot', slot };
    const integer = true;
    return keep(keeper, held, { kind: 'total', function: 'COUNT', integer, slot, value, ...items });
  }
  const order = rest[0]?.kind === 'order' ? rest[0] : undefined;
  if (order && !order.keys.every(({ value }) => isOfItem(keeper, order.slot, value))) {
    return undefined;
  }
  const steps = order === undefined ? rest : rest.slice(1);
  const max = rowLimit(steps[0]);
  if (max === undefined) return undefined;
  const by = order ?? { slot, keys: [] };
  const of = keep(keeper, held, { kind: 'top', slot: by.slot, keys: by.keys, max, ...items });
  return { ...part, source: { kind: 'value', of }, steps: [...steps] };
}

/** Returns the maximum number of rows that a step reads, or undefined if it is unknown. */
function rowLimit(step: Step | undefined): number | undefined {
  if (step?.kind === 'first') return 1;
  if (step?.kind !== 'range' || step.start.kind !== 'literal') return undefined;
  const [start, end] = [step.start, step.end].map((each) =>
    each?.kind === 'literal' ? Number(each.value) : -1,
  );
  return start! >= 0 && end! >= 0 ? end : undefined;
}

/** Returns the items of a group under a condition, and the steps after it. */
function filteredItems(
  keeper: Keeper,
  { source, steps }: Pipeline,
): (HeldItems & { where?: Values['where']; rest: readonly Step[] }) | undefined {
  const held = source.kind === 'value' ? heldItems(keeper, source.of) : undefined;
  if (held === undefined) return undefined;
  const [first] = steps;
  if (first?.kind !== 'where') return { ...held, rest: steps };
  const { condition } = first;
  if (!isOfItem(keeper, condition.slot, condition.value)) return undefined;
  return { ...held, where: condition, rest: steps.slice(1) };
}

interface HeldItems {
  held: number;
  rows?: true;
}

/** Returns the slot of the group whose items the expression reads, shaped or unshaped. */
function heldItems({ held }: Keeper, of: Expression): HeldItems | undefined {
  if (of.kind !== 'property' || !isItems(of.name) || of.of.kind !== 'slot') return undefined;
  const { slot } = of.of;
  if (!held.has(slot)) return undefined;
  return { held: slot, ...(of.name === '#rows' && { rows: true as const }) };
}

/** Returns true if the value depends only on the item in the slot. */
const isOfItem = ({ parameters }: Keeper, slot: number, value: Expression): boolean =>
  cannotThrow(value, parameters) && freeSlots(value).every((each) => each === slot);
