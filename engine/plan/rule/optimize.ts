// Applies the planner's rules to plans. Every rule preserves the result exactly: same rows, same
// order, same
// failures. The exceptions are failures of rows that an early stop may or may not read. In order:
//
//   variables that are read once move into their reader             inline-binding.ts
//   OutE then ToN becomes Out, InE then FromN becomes In            fuse-edge-steps.ts
//   adjacent conditions are merged; a condition moves before an ORDER; COUNT removes an ORDER
//   COUNT above 0 becomes EXISTS, which stops at the first row
//   a scan gets an access path: ids, indexes, edges                 choose-access.ts
//   a condition on a set operation moves into its lists             push-filter-into-set.ts
//   an ORDER before a RANGE keeps only the first rows
//   repetitions from many items become one search                   multi-source-search.ts
//   a filter that fused searches share is evaluated once            shared-filter.ts
//   a page starts at its position                                   page-seek.ts
//   groups store sums and their first items instead of all items    accumulate.ts
//   a count that is compared with a number stops early              bounded-count.ts
//   a test of many items becomes a lookup in a set                  semi-join.ts
//   an operand that does not depend on the item is hoisted          hoist-invariant.ts
import type { TypeRef } from '../../base/schema.js';
import type { Expression, Pipeline, Source, Step } from '../expression.js';
import { accumulate } from './accumulate.js';
import { planSemiJoins } from './semi-join.js';
import { limitCounts } from './bounded-count.js';
import { chooseAccess, chooseEach } from './choose-access.js';
import { splitConjuncts, failsOnFirstRow } from './conjuncts.js';
import type { Declarations, Planning } from './planner-context.js';
import { fuseEdgeEnd } from './fuse-edge-steps.js';
import { inlineBindings } from './inline-binding.js';
import { hoistInvariants } from './hoist-invariant.js';
import { freeSlots } from './free-slots.js';
import { seeking, seekingInList } from './page-seek.js';
import { shareFilters } from './shared-filter.js';
import { filterParts } from './push-filter-into-set.js';
import { planMultiSource } from './multi-source-search.js';
import type { Plan, Statement } from '../plan.js';
import { type Part, renameSlot, rewriter } from '../rewrite.js';
import { cannotThrow, pipelineCannotThrow, type Parameters } from '../can-throw.js';

export type { Declarations } from './planner-context.js';

export function optimize(plan: Plan, declarations: Declarations): Plan {
  const inlined = inlineBindings(plan);
  const { parameters, slotCount: slots } = plan;
  const planning: Planning = { declarations, parameters, filters: 0, slots };
  const rewrite = rewriter((part) => planMultiSource(planPart(planning, part), plan.parameters));
  const { statements, output } = inlined;
  const planned = { statements: rewrite(statements), output: rewrite(output) };
  const counted = limitCounts(planned, parameters);
  const accumulated = accumulate({ ...inlined, ...counted, slotCount: planning.slots });
  if (plan.writes) return accumulated;
  const bound = slotsBound(statements);
  const joined = planSemiJoins(planning, readsOf(accumulated), bound);
  return { ...accumulated, ...hoistInvariants(joined, bound), slotCount: planning.slots };
}

function planPart(planning: Planning, part: Part): Part {
  if (part.kind === 'pipeline') return planPipeline(planning, part);
  if (part.kind === 'compare') return countTest(part, planning.parameters) ?? part;
  if (part.kind === 'exists') return sameTest(part, planning.parameters) ?? part;
  if (part.kind === 'fuse') return shareFilters(part, planning);
  return part.kind === 'searchVector' ? withPrefilter(planning, part) : part;
}

const readsOf = ({ statements, output }: Plan) => ({ statements, output });

/** Returns the slots of variables and loops. They change less often than the slot of any item. */
function slotsBound(statements: readonly Statement[]): Set<number> {
  return new Set(
    statements.flatMap((statement) => {
      if (statement.kind === 'bind') return [statement.slot];
      return statement.kind === 'for' ? [...statement.slots, ...slotsBound(statement.body)] : [];
    }),
  );
}

function planPipeline(planning: Planning, pipeline: Pipeline): Pipeline {
  const arranged = arrange(pipeline.steps, planning.parameters);
  const { source } = pipeline;
  const asScan = source.kind === 'lookup' ? sortedLookup(planning, source, arranged) : undefined;
  if (asScan !== undefined) {
    const planned = planPipeline(planning, { ...pipeline, ...asScan });
    if (planned.steps.some((step) => step.kind === 'order' && step.seek)) return planned;
  }
  const spread = filterParts(planning, { ...pipeline, steps: arranged }, (part) =>
    planPipeline(planning, part),
  );
  if (spread !== undefined) return planPipeline(planning, spread);
  const access =
    source.kind === 'scan' ? chooseScanAccess(planning, source.types, arranged) : undefined;
  const marked = arranged.map((step, at) => markTop(step, arranged[at + 1]));
  const sorted = access?.covers === 0 ? marked.findIndex(({ kind }) => kind === 'order') : -1;
  const steps = marked.map((step, at): Step => {
    return at === sorted && step.kind === 'order' ? { ...step, sorted: true } : step;
  });
  const listed = seekingInList(planning, steps) ?? steps;
  const isOne = source.kind === 'scan' && source.types.length === 1;
  const sought = isOne ? seeking(planning, source.types[0]!, steps, access) : undefined;
  if (sought !== undefined) return { ...pipeline, steps: sought };
  if (access === undefined || source.kind !== 'scan') return { ...pipeline, steps: listed };
  return { ...pipeline, source: { ...source, access }, steps: listed };
}

/** Types with exact scalars, for which a lookup and EQ find the same elements. */
const exact = /^([IU]\d+|String|Boolean)$/;

/** Rewrites a lookup followed by an ORDER and a limit as a scan with a condition. */
function sortedLookup(
  planning: Planning,
  { type, property: name, value, first }: Extract<Source, { kind: 'lookup' }>,
  steps: readonly Step[],
): Pick<Pipeline, 'source' | 'steps'> | undefined {
  const [order, cut] = steps;
  if (first || order?.kind !== 'order' || cut === undefined || !isCut(cut)) return undefined;
  const property = planning.declarations.property(type, name);
  if (property?.type.kind !== 'scalar' || !exact.test(property.type.name)) return undefined;
  const isNeverNull =
    value.kind === 'parameter'
      ? planning.parameters[value.index]?.optional === false
      : value.kind === 'literal' && value.value !== null;
  if (!isNeverNull) return undefined;
  const slot = planning.slots++;
  const left: Expression = { kind: 'property', of: { kind: 'slot', slot }, name };
  const condition: Expression = {
    kind: 'compare',
    operator: 'EQ',
    left,
    right: value,
    any: false,
    f32: false,
  };
  const where: Step = { kind: 'where', condition: { slot, value: condition } };
  return { source: { kind: 'scan', types: [type] }, steps: [where, ...steps] };
}

function chooseScanAccess(planning: Planning, types: readonly TypeRef[], steps: readonly Step[]) {
  return types.length === 1
    ? chooseAccess(planning, types[0]!, steps)
    : chooseEach(planning, types, steps);
}

/**
 * Gives the elements that a vector search may return an access path, as a scan with a condition.
 */
function withPrefilter(planning: Planning, source: Source): Source {
  if (source.kind !== 'searchVector' || source.prefilter === undefined) return source;
  const where: Step = { kind: 'where', condition: source.prefilter };
  const access = chooseAccess(planning, { kind: 'vector', name: source.type }, [where]);
  return access === undefined ? source : { ...source, access };
}

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

function arrange(steps: readonly Step[], parameters: Parameters): Step[] {
  const arranged: Step[] = [];
  for (const step of steps) addStep(arranged, step, parameters);
  return arranged;
}

/** Appends a step, moves it before another step, or merges the two. */
function addStep(steps: Step[], step: Step, parameters: Parameters): void {
  const last = steps.at(-1);
  const fused = fuseEdgeEnd(last, step);
  if (fused !== undefined) {
    steps[steps.length - 1] = fused;
  } else if (step.kind === 'where' && last?.kind === 'where') {
    steps[steps.length - 1] = bothConditions(last, step);
  } else if (last?.kind === 'order' && mayPass(step, last, parameters)) {
    steps.pop();
    addStep(steps, step, parameters);
    if (step.kind === 'where') steps.push(last);
  } else steps.push(step);
}

function bothConditions(first: StepOf<'where'>, second: StepOf<'where'>): Step {
  const { slot, value } = first.condition;
  const other = renameSlot(second.condition.value, second.condition.slot, slot);
  const of = [...splitConjuncts(value), ...splitConjuncts(other)];
  return { kind: 'where', condition: { slot, value: { kind: 'and', of } } };
}

/**
 * Returns true if the step gives the same result before an ORDER (a condition) or without it
 * (COUNT).
 */
function mayPass(step: Step, { keys }: StepOf<'order'>, parameters: Parameters): boolean {
  if (!keys.every((key) => cannotThrow(key.value, parameters))) return false;
  return (
    step.kind === 'count' ||
    (step.kind === 'where' &&
      failsOnFirstRow(step.condition.value, step.condition.slot, parameters))
  );
}

/** Marks an ORDER if the next step reads only the first rows. */
function markTop(step: Step, next: Step | undefined): Step {
  return step.kind === 'order' && next && isCut(next) ? { ...step, top: true } : step;
}

const isCut = (step: Step): boolean =>
  step.kind === 'first' || (step.kind === 'range' && step.end !== null);

/** Rewrites `…::COUNT::GT(0)` and equivalent comparisons as EXISTS. */
function countTest(
  { operator, left, right, any }: Extract<Expression, { kind: 'compare' }>,
  parameters: Parameters,
): Expression | undefined {
  if (any || left.kind !== 'pipeline' || left.steps.at(-1)?.kind !== 'count') return undefined;
  if (right.kind !== 'literal') return undefined;
  const number = typeof right.value === 'bigint' ? Number(right.value) : right.value;
  const asksAny =
    number === 0 ? operator === 'GT' || operator === 'NEQ' : number === 1 && operator === 'GTE';
  const asksNone =
    number === 0 ? operator === 'EQ' || operator === 'LTE' : number === 1 && operator === 'LT';
  if (!asksAny && !asksNone) return undefined;
  const of: Pipeline = { ...left, steps: left.steps.slice(0, -1), result: 'many' };
  if (!pipelineCannotThrow(of, parameters)) return undefined;
  const exists: Expression = { kind: 'exists', of };
  return asksAny ? exists : { kind: 'not', of: exists };
}

/** Rewrites `EXISTS(xs::WHERE(_::ID::EQ(y)))` as a membership test. */
function sameTest(
  { of }: Extract<Expression, { kind: 'exists' }>,
  parameters: Parameters,
): Expression | undefined {
  if (of.kind !== 'pipeline' || of.result !== 'many') return undefined;
  // A scan with an access path already leads there, and relies on the condition that the path
  // covers.
  if (of.source.kind === 'scan' && of.source.access !== undefined) return undefined;
  const last = of.steps.at(-1);
  if (last?.kind !== 'where' || last.condition.value.kind !== 'compare') return undefined;
  const { slot, value } = last.condition;
  const { operator, left, right, any } = value;
  const named = left.kind === 'property' && left.name === 'id' ? left.of : left;
  if (operator !== 'EQ' || any || named.kind !== 'slot' || named.slot !== slot) return undefined;
  if (!cannotThrow(right, parameters) || freeSlots(right).includes(slot)) return undefined;
  const steps = of.steps.slice(0, -1);
  const ids: Step[] = named === left ? [] : [{ kind: 'map', value: { slot, value: left } }];
  return { ...value, left: { ...of, steps: [...steps, ...ids] }, any: true };
}
