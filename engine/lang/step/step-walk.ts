// Checks traversal steps beyond the basic ones: both directions, conditions on edges, repetition, and the
// other end of a traversed edge.
import type { TypeRef } from '../../base/schema.js';
import type { Expression, Step } from '../../plan/expression.js';
import { inferTypes } from '../../plan/infer-types.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { Span } from '../syntax/source-file.js';
import type { Context, StepChecker } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { dropShape } from '../type/drop-shape.js';
import { append, toRows } from '../type/stream.js';
import { isList, type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isInteger } from '../type/type-relation.js';
import { isUnknownOrNull, type ItemType } from '../type/type.js';
import { isDeclared } from '../argument/call-argument.js';
import { refuseWrites } from './read-only.js';
import { elements } from './source-step.js';
import { toBoolean } from './step-condition.js';
import { endCardinality, reachedTypes } from './step-graph.js';
import { checkProperty, hasMember } from './step-shape.js';

type HopBounds = NonNullable<Call['hops']>;

type WalkStep = Extract<Step, { kind: 'expand' }>;

const hopMax = 2 ** 32 - 1;

/** Checks `Both<L>`, `BothE<L>`, and any edge step with a condition or repetition. */
export const checkWalk: StepChecker = (context, input, call, scope, position) => {
  const name = call.name.text;
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const types = call.types ?? [];
  const [written, extra] = call.args ?? [];
  if (types.length === 0 || extra || written?.name || (call.args && !written)) {
    const message = `\`${name}\` takes edge types and at most one condition.`;
    context.report('E305', call.span, message, `Write \`${name}<EdgeType>\`.`);
    return unknownExpr();
  }
  const declared = types.filter((type) => isDeclared(context, 'edge', type));
  if (declared.length < types.length) return unknownExpr();
  const edges = declared.map((type) => type.text);
  const step = buildWalk(name, edges);
  const first = reachedTypes(context, from, step, call, scope);
  if (first === undefined) return unknownExpr();
  const far = { ...step, take: 'far' } as const;
  const starts = findStarts(context, from);
  if (step.take === 'edge') {
    const condition = written && walkCondition(context, far, starts, written.value, scope);
    if (call.hops) refuseHops(context, call.hops.span, name);
    const type = reachedEdges(context, far, starts, edges);
    return append(from, withCondition(step, condition), { type, cardinality: 'many' });
  }
  const hops = call.hops && checkHops(context, call.hops, scope);
  const reached = hops ? repeated(context, step, starts, hops, call.hops!.span) : first;
  const around = hops ? closure(context, step, starts) : starts;
  const condition = written && walkCondition(context, far, around, written.value, scope);
  const type: ItemType = { ...elements(reached), ...(hops && { hops: true }) } as ItemType;
  const whole = { ...withCondition(step, condition), ...(hops && { hops: hops.plan }) };
  return append(from, whole, { type, cardinality: 'many' });
};

function buildWalk(name: string, edges: string[]): WalkStep {
  const direction = name.startsWith('Both') ? 'both' : name.startsWith('Out') ? 'out' : 'in';
  return { kind: 'expand', direction, edges, take: name.endsWith('E') ? 'edge' : 'far' };
}

const withCondition = (step: WalkStep, condition: WalkStep['condition']): WalkStep =>
  condition === undefined ? step : { ...step, condition };

function findStarts(context: Context, { type }: TypedExpr): readonly TypeRef[] {
  if (type.kind === 'element') return type.types.filter(({ kind }) => kind !== 'edge');
  const { schema } = context.schema;
  const types = [...schema.nodes, ...schema.vectors];
  return types.map(({ kind, name }) => ({ kind, name }));
}

/** Returns the types that are one round away; an empty list if there are none. */
function nextTypes(context: Context, step: WalkStep, types: readonly TypeRef[]): TypeRef[] {
  const inferred = inferTypes(context.schema.schema, types, step);
  return 'types' in inferred ? inferred.types : [];
}

/** Returns the edges that a step in this direction reaches from these types. */
function reachedEdges(
  context: Context,
  far: WalkStep,
  starts: readonly TypeRef[],
  edges: readonly string[],
): ItemType {
  const reached = { direction: far.direction, far: nextTypes(context, far, starts) };
  const own = edges.map((name): TypeRef => ({ kind: 'edge', name }));
  return { kind: 'element', types: own, hit: 'none', reached };
}

/** Checks the condition for following an edge; `_` is the edge. */
function walkCondition(
  context: Context,
  far: WalkStep,
  starts: readonly TypeRef[],
  written: Expr,
  scope: Scope,
): WalkStep['condition'] {
  return conditionOn(context, reachedEdges(context, far, starts, far.edges), written, scope);
}

function conditionOn(
  context: Context,
  edge: ItemType,
  written: Expr,
  scope: Scope,
): WalkStep['condition'] {
  const slot = context.fresh();
  const item = slotExpr(slot, edge);
  const inner = innerScope(scope, { item, miss: 'none' });
  const value = refuseWrites(context, written.span, () =>
    toBoolean(context, written, inner, 'E659'),
  );
  return value && { slot, value };
}

/** Returns the edges that a path may follow from any start. */
export function edgesReached(
  context: Context,
  edges: readonly string[],
  direction: WalkStep['direction'],
): ItemType {
  const { nodes, vectors } = context.schema.schema;
  const far: WalkStep = { kind: 'expand', direction, edges: [...edges], take: 'far' };
  const starts = [
    ...nodes.map(({ name }): TypeRef => ({ kind: 'node', name })),
    ...vectors.map(({ name }): TypeRef => ({ kind: 'vector', name })),
  ];
  return reachedEdges(context, far, starts, edges);
}

/** Checks the condition for a path to follow an edge. */
export function edgeCondition(
  context: Context,
  edges: readonly string[],
  direction: WalkStep['direction'],
  written: Expr,
  scope: Scope,
): WalkStep['condition'] {
  return conditionOn(context, edgesReached(context, edges, direction), written, scope);
}

interface KnownHops {
  plan: NonNullable<WalkStep['hops']>;
  /** Infinity: no bound, or a bound that is known only at run time. */
  max: number;
}

export function refuseHops(context: Context, span: Span, name: string): void {
  const hint = 'Repeat `Out`, `In` or `Both`.';
  context.report('E713', span, `\`${name}\` cannot be repeated.`, hint);
}

function checkHops(context: Context, { low, high, span }: HopBounds, scope: Scope): KnownHops {
  const min = literalBound(low) ?? reportBound(context, low.span);
  if (high === undefined) return { plan: { min, max: literal(min) }, max: min };
  if (high.kind === 'any') return { plan: { min, max: null }, max: Number.POSITIVE_INFINITY };
  if (high.kind === 'literal') {
    const max = literalBound(high) ?? reportBound(context, high.span);
    if (max < min) context.report('W106', span, 'This repetition is always empty.');
    return { plan: { min, max: literal(max) }, max };
  }
  const isName = high.kind === 'chain' && high.head.kind === 'path' && high.steps.length === 0;
  const typed = single(bare(context, context.check(high, scope)), scope.miss, 'the bound');
  const isFit =
    isName && !isList(typed) && (isInteger(typed.type) || isUnknownOrNull(wholeType(typed)));
  if (!isFit) reportBound(context, high.span);
  return { plan: { min, max: typed.expression }, max: Number.POSITIVE_INFINITY };
}

const literal = (value: number): Expression => ({ kind: 'literal', value });

/** Returns the value of a literal integer bound. */
function literalBound(written: HopBounds['low']): number | undefined {
  if (written.kind !== 'literal' || written.value.kind !== 'integer') return undefined;
  const { value } = written.value;
  return value >= 0 && value <= hopMax ? Number(value) : undefined;
}

function reportBound(context: Context, span: Span): number {
  const message = `A bound is an integer from 0 to ${hopMax}, \`*\` or the name of one.`;
  context.report('E713', span, message, 'Write `{1, 3}`.');
  return 1;
}

/** Number of rounds that are followed type by type; later rounds use the closure. */
const roundsMax = 64;

/** Returns the types within the bounds, including the starts if the lower bound is 0. */
function repeated(
  context: Context,
  step: WalkStep,
  starts: readonly TypeRef[],
  { plan, max }: KnownHops,
  span: Span,
): readonly TypeRef[] {
  const found = new Map<string, TypeRef>();
  const take = (types: readonly TypeRef[]) => {
    for (const type of types) found.set(`${type.kind} ${type.name}`, type);
  };
  const first = nextTypes(context, step, starts);
  if (max > 1 && nextTypes(context, step, first).length === 0) {
    const message = 'This walk can go one round only.';
    context.report('W119', span, message, 'Drop the bounds.');
  }
  let types = starts;
  for (let round = 0; round <= Math.min(max, roundsMax); round++) {
    if (round >= plan.min) take(types);
    types = nextTypes(context, step, types);
  }
  if (max > roundsMax) take(closure(context, step, types));
  return found.size > 0 ? [...found.values()] : first;
}

/** Returns the types and all types reachable from them. */
function closure(context: Context, step: WalkStep, starts: readonly TypeRef[]): readonly TypeRef[] {
  const found = new Map<string, TypeRef>();
  let added: readonly TypeRef[] = starts;
  while (added.length > 0) {
    for (const type of added) found.set(`${type.kind} ${type.name}`, type);
    const next = nextTypes(context, step, added);
    added = next.filter((type) => !found.has(`${type.kind} ${type.name}`));
  }
  return [...found.values()];
}

const ends = { out: 'to', in: 'from', both: 'other' } as const;

/**
 * Checks `Other`: the endpoint from which the edge was not reached. A property of that name has precedence.
 */
export const checkOther: StepChecker = (context, input, call, scope, position) => {
  const { name } = call;
  const isPlain = call.types === undefined && call.args === undefined;
  if (isPlain && hasMember(context, input, name.text)) {
    const message = '`Other` is the property here.';
    context.report('W117', name.span, message, 'Rename it.');
    return checkProperty(context, input, name, scope, []);
  }
  if (!isPlain) {
    context.report('E305', call.span, '`Other` takes no arguments.', 'Write `Other`.');
  }
  const from = dropShape(context, toRows(input), name, position.chain);
  if (isUnknownOrNull(from.type)) return unknownExpr();
  const { type } = from;
  if (type.kind !== 'element' || !type.types.some(({ kind }) => kind === 'edge')) {
    const message = `\`Other\` needs edges, not ${printItemType(type)}.`;
    context.report('E601', name.span, message);
    return unknownExpr();
  }
  if (type.reached === undefined) {
    const message = 'No step has reached these edges from an end.';
    context.report('E715', name.span, message, 'Write `ToN`, `FromN`, `ToV` or `FromV`.');
    return unknownExpr();
  }
  const { direction, far } = type.reached;
  const step = { kind: 'end', end: ends[direction] } as const;
  return append(from, step, { type: elements(far), cardinality: endCardinality(from) });
};
