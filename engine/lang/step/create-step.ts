// Checks creations: AddN, AddV, BatchAddV and AddE as heads of chains, and AddE as a step.
import type { EdgeType, PropertyType, TypeRef } from '../../base/schema.js';
import type { Assignment, End } from '../../plan/expression.js';
import { argument, asObject, objectArgument, typeArgument } from '../argument/call-argument.js';
import { checkAssignments } from './assignment.js';
import type { Call, ObjectLiteral } from '../syntax/ast-expression.js';
import type { ChainPosition, Context, StepChecker } from '../type/context.js';
import { convert } from '../type/load-conversion.js';
import { edgeEnds, type TypedEnd, reportMissingEnds, warnEnd } from './edge-end.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { vectorArgument } from '../argument/argument-kind.js';
import { innerScope, type Scope } from '../type/scope.js';
import { dropShape } from '../type/drop-shape.js';
import { elements } from './source-step.js';
import { append, toRows } from '../type/stream.js';
import { isList, sameCardinality, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';

export function checkAddNode(context: Context, call: Call, scope: Scope): TypedExpr {
  context.writes++;
  const type = typeArgument(context, call, 'node');
  const object = objectArgument(context, call, 'AddN<Type>({property: value})', true);
  if (type === undefined) return checkMembers(context, object, scope);
  const ref: TypeRef = { kind: 'node', name: type.text };
  const set = object === undefined ? [] : checkAssignments(context, [ref], object, scope);
  const expression = { kind: 'addNode', type: ref.name, set } as const;
  return { type: elements([ref]), cardinality: 'one', expression };
}

/** Checks the values even if their type is not known. */
function checkMembers(
  context: Context,
  object: ObjectLiteral | undefined,
  scope: Scope,
): TypedExpr {
  for (const { value } of object?.members ?? []) context.check(value, scope);
  return unknownExpr();
}

/** Checks `AddV<T>(vector, {…}, …)`; several objects are merged. */
export function checkAddVector(context: Context, call: Call, scope: Scope): TypedExpr {
  context.writes++;
  const type = typeArgument(context, call, 'vector');
  const form = 'AddV<Type>(vector, {property: value})';
  const [written, ...rest] = call.args ?? [];
  if (written === undefined) {
    context.report('E305', call.span, '`AddV` needs a vector.', `Write \`${form}\`.`);
  }
  const vector = written && vectorArgument(context, written.value, scope, type?.text ?? '');
  const objects = rest.flatMap((arg) => asObject(context, arg.value, form) ?? []);
  const [{ span } = call] = objects;
  const members = objects.flatMap((object) => object.members);
  const merged: ObjectLiteral = { kind: 'object', members, span };
  if (type === undefined) return checkMembers(context, merged, scope);
  const ref: TypeRef = { kind: 'vector', name: type.text };
  const set = checkAssignments(context, [ref], merged, scope);
  if (vector === undefined) return { ...unknownExpr(), type: elements([ref]) };
  const expression = { kind: 'addVector', type: ref.name, vector, set } as const;
  return { type: elements([ref]), cardinality: 'one', expression };
}

const vectorList: PropertyType = {
  kind: 'list',
  of: { kind: 'list', of: { kind: 'scalar', name: 'F64' } },
};

export function checkAddVectors(context: Context, call: Call, scope: Scope): TypedExpr {
  context.writes++;
  const type = typeArgument(context, call, 'vector');
  const written = argument(context, call, 'BatchAddV<Type>(vectors)');
  const typed = written && context.check(written, scope);
  const vectors = typed && convert(context, typed, vectorList, written.span, 'the vectors');
  if (type === undefined || vectors === undefined) return unknownExpr();
  const expression = { kind: 'addVectors', type: type.text, vectors } as const;
  const items = elements([{ kind: 'vector', name: type.text }]);
  return { type: items, cardinality: 'many', expression };
}

interface EdgeCall {
  ref: TypeRef;
  edge: EdgeType;
  set: Assignment[];
}

/** Returns the type and the assignments of `AddE<L>({…})`; undefined after a report. */
function edgeCall(context: Context, call: Call, scope: Scope): EdgeCall | undefined {
  const type = typeArgument(context, call, 'edge');
  const object = objectArgument(
    context,
    call,
    'AddE<Type>({property: value})::From(a)::To(b)',
    true,
  );
  if (type === undefined) {
    checkMembers(context, object, scope);
    return undefined;
  }
  const ref: TypeRef = { kind: 'edge', name: type.text };
  const edge = context.schema.find('edge', type.text) as EdgeType;
  const set = object === undefined ? [] : checkAssignments(context, [ref], object, scope);
  return { ref, edge, set };
}

/** Checks `AddE<L>({…})::From(a)::To(b)`. */
export function checkAddEdge(
  context: Context,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  context.writes++;
  const made = edgeCall(context, call, scope);
  const ends = edgeEnds(context, position, scope);
  reportMissingEnds(context, call, ends.written, ['To', 'From'], position);
  const { from, to } = ends;
  if (made === undefined) return unknownExpr();
  const { ref, edge, set } = made;
  if (from) warnEnd(context, edge, 'from', from.typed, from.call);
  if (to) warnEnd(context, edge, 'to', to.typed, to.call);
  if (from === undefined || to === undefined) return { ...unknownExpr(), type: elements([ref]) };
  const [a, b] = [buildEnd(from), buildEnd(to)];
  const expression = { kind: 'addEdge', type: ref.name, set, from: a, to: b } as const;
  const cardinality = a.many || b.many ? 'many' : 'one';
  return { type: elements([ref]), cardinality, expression };
}

/** Checks `UpsertE<L>({…})::From(a)::To(b)`, which sets the values of an existing edge or creates one. */
export function checkUpsertEdges(
  context: Context,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  context.writes++;
  const type = typeArgument(context, call, 'edge');
  const object = objectArgument(context, call, 'UpsertE<Type>({property: value})', true);
  const { from, to, written } = edgeEnds(context, position, scope);
  reportMissingEnds(context, call, written, ['To', 'From'], position);
  if (type === undefined) return checkMembers(context, object, scope);
  const ref: TypeRef = { kind: 'edge', name: type.text };
  const edge = context.schema.find('edge', type.text) as EdgeType;
  if (from) warnEnd(context, edge, 'from', from.typed, from.call);
  if (to) warnEnd(context, edge, 'to', to.typed, to.call);
  const slot = context.fresh();
  const inner = innerScope(scope, { item: slotExpr(slot, elements([ref]), 'opt') });
  const set = object === undefined ? [] : checkAssignments(context, [ref], object, inner);
  if (from === undefined || to === undefined) return { ...unknownExpr(), type: elements([ref]) };
  const [a, b] = [buildEnd(from), buildEnd(to)];
  const expression = { kind: 'upsertEdge', type: ref.name, slot, set, from: a, to: b } as const;
  const cardinality = a.many || b.many ? 'many' : 'one';
  return { type: elements([ref]), cardinality, expression };
}

/** Every element of a stream is an endpoint; a lookup stands for its only element. */
function buildEnd({ typed, value }: TypedEnd): End {
  const many = typed.cardinality === 'many';
  return { value: many ? typed.expression : value, many };
}

/** Checks `x::AddE<L>({…})::To(b)`: one edge per item, where `_` is the endpoint that is not written. */
export const checkAddEdgeStep: StepChecker = (context, input, call, scope, position) => {
  context.writes++;
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const slot = context.fresh();
  const each = innerScope(scope, { item: slotExpr(slot, from.type), miss: scope.miss });
  const made = edgeCall(context, call, each);
  const ends = edgeEnds(context, position, scope);
  if (ends.written.size === 0) reportMissingEnds(context, call, ends.written, ['To'], position);
  if (from.type.kind !== 'element' && !isUnknownOrNull(from.type)) {
    const message = `Edges join elements, not ${printItemType(from.type)}.`;
    context.report('E601', call.name.span, message);
    return unknownExpr();
  }
  if (made === undefined) return unknownExpr();
  const { ref, edge, set } = made;
  const item: TypedExpr = { ...from };
  if (ends.from) warnEnd(context, edge, 'from', ends.from.typed, ends.from.call);
  else warnEnd(context, edge, 'from', item, call);
  if (ends.to) warnEnd(context, edge, 'to', ends.to.typed, ends.to.call);
  else if (ends.from) warnEnd(context, edge, 'to', item, call);
  const step = {
    kind: 'addEdge',
    type: ref.name,
    set,
    slot,
    ...(ends.from && { from: ends.from.value }),
    ...(ends.to && { to: ends.to.value }),
  } as const;
  const cardinality = isList(from) ? 'many' : sameCardinality(from);
  return append(from, step, { type: elements([ref]), cardinality });
};
