// Checks shortest paths: the four steps, their endpoints, weights, estimates and conditions.
import type { TypeRef } from '../../base/schema.js';
import type { Step } from '../../plan/expression.js';
import { printCount, isDeclared } from '../argument/call-argument.js';
import type { Call } from '../syntax/ast-expression.js';
import { type ChainPosition, type Context, type StepChecker, takeEnds } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { endArgument } from '../argument/argument-kind.js';
import { innerScope, type Scope } from '../type/scope.js';
import { dropShape } from '../type/drop-shape.js';
import { bare } from '../type/shape.js';
import { elements } from './source-step.js';
import { edgeCondition, edgesReached } from './step-walk.js';
import { append, toRows } from '../type/stream.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { printItemType } from '../type/type-print.js';
import { isNumber } from '../type/type-relation.js';
import { typeOfParameter } from '../type/parameter-type.js';
import { isUnknownOrNull, type ItemType, scalarType } from '../type/type.js';

type PathStep = Extract<Step, { kind: 'shortestPath' }>;

const algorithms: Record<string, PathStep['algorithm']> = {
  ShortestPath: 'bfs',
  ShortestPathBFS: 'bfs',
  ShortestPathDijkstras: 'dijkstra',
  ShortestPathAStar: 'astar',
};

const forms: Record<PathStep['algorithm'], string> = {
  bfs: 'ShortestPath<EdgeType>',
  dijkstra: 'ShortestPathDijkstras<EdgeType>(_::{weight})',
  astar: 'ShortestPathAStar<EdgeType>(_::{weight}, "property")',
};

/** Required arguments of a step; a condition may follow them. */
const counts: Record<PathStep['algorithm'], number> = { bfs: 0, dijkstra: 1, astar: 2 };

export const checkPath: StepChecker = (context, input, call, scope, position) => {
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const algorithm = algorithms[call.name.text]!;
  const edges = pathEdges(context, call);
  const end = pathEnd(context, call, scope, position);
  const isBoth = end?.both === true;
  const cost = pathCost(context, call, algorithm, edges, isBoth ? 'both' : 'out', scope);
  if (from.type.kind !== 'element' && !isUnknownOrNull(from.type)) {
    const message = `A path starts at an element, not at ${printItemType(from.type)}.`;
    context.report('E601', call.name.span, message);
    return unknownExpr();
  }
  if (end === undefined || cost === undefined) return unknownExpr();
  const step: PathStep = {
    kind: 'shortestPath',
    algorithm,
    edges,
    reverse: end.reverse,
    ...(isBoth && { both: true }),
    target: end.target,
    ...cost,
    one: from.cardinality !== 'many',
  };
  // A lookup or nullable start must be exactly one element.
  const start = from.cardinality === 'many' ? from : single(from, 'error', 'the start', true);
  const cardinality = step.one ? 'one' : 'many';
  return append(start, step, { type: pathType(context, edges), cardinality });
};

/** Returns the edge types to follow: the written ones, otherwise all. */
function pathEdges(context: Context, call: Call): string[] {
  const names = call.types?.filter((name) => isDeclared(context, 'edge', name));
  return names?.map((name) => name.text) ?? context.schema.names('edge');
}

function pathEnd(context: Context, call: Call, scope: Scope, position: ChainPosition) {
  const [first, ...others] = takeEnds(position, true);
  const isAlone = others.length === 0 || ![first!, ...others].some(isBothEnd);
  if (!isAlone) {
    const message = '`Both` stands alone: the path goes along edges in either direction.';
    context.report('E305', others[0]!.span, message, 'Remove one.');
  }
  for (const other of isAlone ? others : []) {
    const message = `\`${other.name.text}\` is ignored: a path has one other end.`;
    context.report('W116', other.span, message, 'Remove one.');
  }
  if (first === undefined) {
    const message = `\`${call.name.text}\` has no other end.`;
    context.report('E627', call.span, message, 'Add `::To(…)`, `::From(…)` or `::Both(…)`.');
    return undefined;
  }
  const end = endArgument(context, first, scope);
  const reverse = first.name.text === 'From';
  return end && { target: end.value, reverse, ...(isBothEnd(first) && { both: true }) };
}

const isBothEnd = (call: Call) => call.name.text === 'Both';

function pathCost(
  context: Context,
  call: Call,
  algorithm: PathStep['algorithm'],
  edges: string[],
  direction: 'out' | 'both',
  scope: Scope,
): Pick<PathStep, 'weight' | 'heuristic' | 'condition'> | undefined {
  const args = call.args ?? [];
  const count = counts[algorithm];
  const isRight = args.length === count || args.length === count + 1;
  if (!isRight || args.some((arg) => arg.name !== undefined)) {
    const has = printCount(args.length, 'no arguments');
    const message = `\`${call.name.text}\` has ${has}; it takes ${count}, and a condition.`;
    context.report('E305', call.span, message, `Write \`${forms[algorithm]}\`.`);
    return undefined;
  }
  const cost = weightCost(context, args.slice(0, count), edges, direction, scope);
  if (args.length === count) return cost;
  const condition = edgeCondition(context, edges, direction, args[count]!.value, scope);
  return cost && condition && { ...cost, condition };
}

function weightCost(
  context: Context,
  [weight, heuristic]: NonNullable<Call['args']>,
  edges: string[],
  direction: 'out' | 'both',
  scope: Scope,
): Pick<PathStep, 'weight' | 'heuristic'> | undefined {
  if (weight === undefined) return {};
  const slot = context.fresh();
  const item = slotExpr(slot, edgesReached(context, edges, direction));
  const inner = innerScope(scope, { item, miss: 'none' });
  const typed = single(bare(context, context.check(weight.value, inner)), 'none', 'the weight');
  if (!isNumber(typed.type)) {
    const message = `A weight is a number, not ${printItemType(typed.type)}.`;
    context.report('E205', weight.value.span, message);
    return undefined;
  }
  const cost = { weight: { slot, value: typed.expression } };
  if (heuristic === undefined) return cost;
  const name = estimateName(context, heuristic, edges);
  return name === undefined ? undefined : { ...cost, heuristic: name };
}

/**
 * Returns the property that estimates the remaining cost. It must be numeric and declared by the types that
 * the edges connect.
 */
function estimateName(
  context: Context,
  { value }: NonNullable<Call['args']>[number],
  edges: string[],
): string | undefined {
  if (value.kind !== 'literal' || value.value.kind !== 'string') {
    if (value.kind === 'faulty') return undefined;
    const hint = `Write \`${forms.astar}\`.`;
    context.report('E206', value.span, 'The name of a property stands here, as a String.', hint);
    return undefined;
  }
  const name = value.value.value;
  const ends = joinedTypes(context, edges);
  const declared = ends.flatMap((type) => context.schema.property(type, name) ?? []);
  if (declared.some((property) => isNumber(typeOfParameter(property.type)))) return name;
  const types = ends.map((type) => context.schema.find(type.kind, type.name));
  const names = types.flatMap((type) => type?.properties.map((property) => property.name) ?? []);
  const message = `The elements joined have no numeric property \`${name}\`.`;
  context.report('E202', value.span, message, didYouMean(name, names));
  return undefined;
}

function joinedTypes(context: Context, edges: string[]): TypeRef[] {
  const joined = new Map<string, TypeRef>();
  for (const edge of context.schema.schema.edges) {
    if (!edges.includes(edge.name)) continue;
    for (const end of [edge.from, edge.to]) joined.set(`${end.kind} ${end.name}`, end);
  }
  return [...joined.values()];
}

function pathType(context: Context, edges: string[]): ItemType {
  const along = edges.map((name): TypeRef => ({ kind: 'edge', name }));
  const members: [string, ItemType][] = [
    ['path', { kind: 'list', of: elements(joinedTypes(context, edges)) }],
    ['edges', { kind: 'list', of: elements(along) }],
    ['total_weight', scalarType('F64')],
    ['hop_count', scalarType('U64')],
  ];
  return { kind: 'record', members: new Map(members) };
}
