// Checks changes: UPDATE and the three upserts.
import type { EdgeType, ElementKind, TypeRef } from '../../base/schema.js';
import type { End } from '../../plan/expression.js';
import { argument, asObject, objectArgument } from '../argument/call-argument.js';
import { checkAssignments } from './assignment.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { ChainPosition, Context, StepChecker } from '../type/context.js';
import { edgeEnds, reportMissingEnds, warnEnd } from './edge-end.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { vectorArgument } from '../argument/argument-kind.js';
import { innerScope, type Scope } from '../type/scope.js';
import { dropShape } from '../type/drop-shape.js';
import { elements } from './source-step.js';
import { append, toRows } from '../type/stream.js';
import { sameCardinality, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { joinHits } from '../type/type-relation.js';
import { isUnknownOrNull, type ItemType } from '../type/type.js';

export const checkUpdate: StepChecker = (context, input, call, scope, position) => {
  context.writes++;
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const object = objectArgument(context, call, 'UPDATE({property: value})');
  if (object === undefined) return from;
  if (from.type.kind !== 'element') {
    if (isUnknownOrNull(from.type)) return from;
    const message = `\`UPDATE\` changes elements, not ${printItemType(from.type)}.`;
    context.report('E604', call.name.span, message);
    return unknownExpr();
  }
  const slot = context.fresh();
  const item = slotExpr(slot, from.type);
  const set = checkAssignments(context, from.type.types, object, innerScope(scope, { item }));
  const change = { type: from.type, cardinality: sameCardinality(from) };
  return append(from, { kind: 'update', slot, set }, change);
};

const upsertOf = { node: 'UpsertN', edge: 'UpsertE', vector: 'UpsertV' } as const;

/** Returns the one type of the chain, of this kind; undefined after a report. */
function upsertType(
  context: Context,
  from: TypedExpr,
  kind: ElementKind,
  call: Call,
): TypeRef | undefined {
  if (isUnknownOrNull(from.type)) return undefined;
  const types = from.type.kind === 'element' ? from.type.types : [];
  const [type] = types;
  if (type === undefined || types.some((other) => other.kind !== kind)) {
    const hint = type && type.kind !== kind ? `Write \`${upsertOf[type.kind]}\`.` : undefined;
    const message = `\`${call.name.text}\` is not for ${printItemType(from.type)}.`;
    context.report('E604', call.name.span, message, hint);
    return undefined;
  }
  if (types.length === 1) return type;
  const message = `Which type to create is not clear among ${printItemType(from.type)}.`;
  context.report('E601', call.name.span, message);
  return undefined;
}

function warnBoundLookup(
  context: Context,
  input: TypedExpr,
  call: Call,
  position: ChainPosition,
): void {
  if (input.uniqueLookup !== true || position.chain.head.kind !== 'path') return;
  const message = 'This can never create: the selection before it has failed already.';
  context.report('W110', call.name.span, message, 'Write the selection in the same chain.');
}

/** A found element keeps the members that the search has set; a created one has none of them. */
function upserted({ compat }: Context, { type }: TypedExpr): ItemType {
  return compat || type.kind !== 'element' ? type : { ...type, hit: joinHits([type.hit, 'none']) };
}

/** Checks values whose type is unknown, to report their own errors. */
function checkLoose(context: Context, written: Expr | undefined, scope: Scope): TypedExpr {
  if (written?.kind === 'object') {
    for (const { value } of written.members) context.check(value, scope);
  }
  return unknownExpr();
}

export const checkUpsertNode: StepChecker = (context, input, call, scope, position) => {
  context.writes++;
  warnBoundLookup(context, input, call, position);
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const object = objectArgument(context, call, 'UpsertN({property: value})');
  const type = upsertType(context, from, 'node', call);
  if (type === undefined || object === undefined) return checkLoose(context, object, scope);
  const slot = context.fresh();
  const inner = innerScope(scope, { item: slotExpr(slot, from.type, 'opt') });
  const set = checkAssignments(context, [type], object, inner);
  const step = { kind: 'upsertNode', type: type.name, slot, set } as const;
  return append(from, step, { type: upserted(context, from), cardinality: 'one' });
};

export const checkUpsertVector: StepChecker = (context, input, call, scope, position) => {
  context.writes++;
  warnBoundLookup(context, input, call, position);
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const form = 'UpsertV(vector, {property: value})';
  const [written, second, ...extra] = call.args ?? [];
  if (written === undefined || extra.length > 0) {
    const message = `\`UpsertV\` has ${call.args?.length ?? 0} arguments.`;
    context.report('E305', call.span, message, `Write \`${form}\`.`);
    return unknownExpr();
  }
  const type = upsertType(context, from, 'vector', call);
  const slot = context.fresh();
  const inner = innerScope(scope, { item: slotExpr(slot, from.type, 'opt') });
  const vector = vectorArgument(context, written.value, inner, type?.name ?? '');
  const object = second && asObject(context, second.value, form);
  if (type === undefined) return checkLoose(context, object, inner);
  const set = object === undefined ? [] : checkAssignments(context, [type], object, inner);
  const change = { type: upserted(context, from), cardinality: 'one' } as const;
  if (vector === undefined) return { ...unknownExpr(), ...change };
  const step = { kind: 'upsertVector', type: type.name, slot, vector, set } as const;
  return append(from, step, change);
};

/** The chain before an edge upsert only names the type; it is not evaluated. */
export const checkUpsertEdge: StepChecker = (context, input, call, scope, position) => {
  context.writes++;
  const written = argument(context, call, 'UpsertE({property: value})');
  const object = written && asObject(context, written, 'UpsertE({property: value})');
  const ends = edgeEnds(context, position, scope);
  reportMissingEnds(context, call, ends.written, ['To', 'From'], position);
  const before = dropShape(context, toRows(input), call.name, position.chain);
  const type = upsertType(context, before, 'edge', call);
  if (type === undefined) return checkLoose(context, object, scope);
  const edge = context.schema.find('edge', type.name) as EdgeType;
  const { from, to } = ends;
  if (from) warnEnd(context, edge, 'from', from.typed, from.call);
  if (to) warnEnd(context, edge, 'to', to.typed, to.call);
  const slot = context.fresh();
  const item = slotExpr(slot, elements([type]), 'opt');
  const set = object ? checkAssignments(context, [type], object, innerScope(scope, { item })) : [];
  const result = { type: elements([type]), cardinality: 'one' } as const;
  if (from === undefined || to === undefined) return { ...unknownExpr(), ...result };
  const [a, b] = [from, to].map(({ value }) => ({ value, many: false })) as [End, End];
  const expression = { kind: 'upsertEdge', type: type.name, slot, set, from: a, to: b } as const;
  return { ...result, expression };
};
