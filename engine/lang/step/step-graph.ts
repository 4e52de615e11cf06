// Checks graph steps and INTERSECT: from elements to their edges and neighbors, from edges to endpoints.
import type { TypeRef } from '../../base/schema.js';
import { type GraphStep, inferTypes } from '../../plan/infer-types.js';
import { argument, isDeclared } from '../argument/call-argument.js';
import type { Call } from '../syntax/ast-expression.js';
import type { Context, StepChecker } from '../type/context.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { dropShape } from '../type/drop-shape.js';
import { elements } from './source-step.js';
import { append, toRows } from '../type/stream.js';
import { type Cardinality, sameCardinality, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';

/** Checks `Out<L>`, `In<L>`, `OutE<L>`, `InE<L>`. */
export const checkEdgeStep: StepChecker = (context, input, call, scope, position) => {
  const name = call.name.text;
  const direction = name.startsWith('Out') ? 'out' : 'in';
  const kind = name.endsWith('E') ? 'edges' : 'neighbours';
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const types = call.types ?? [];
  if (types.length === 0 || call.args !== undefined) {
    const message = `\`${name}\` takes edge types and at most one condition.`;
    context.report('E305', call.span, message, `Write \`${name}<EdgeType>\`.`);
    return unknownExpr();
  }
  const declared = types.filter((type) => isDeclared(context, 'edge', type));
  if (declared.length < types.length) return unknownExpr();
  const step = { kind, direction, edges: declared.map((type) => type.text) } as const;
  const reached = reachedTypes(context, from, step, call, scope);
  if (reached === undefined) return unknownExpr();
  const type = elements(reached);
  if (kind === 'neighbours' || type.kind !== 'element') {
    return append(from, step, { type, cardinality: 'many' });
  }
  const away: GraphStep = { kind: 'neighbours', direction, edges: step.edges };
  const far = inferTypes(context.schema.schema, findStarts(from), away);
  const marked = { direction, far: 'types' in far ? far.types : [] } as const;
  return append(from, step, { type: { ...type, reached: marked }, cardinality: 'many' });
};

const findStarts = ({ type }: TypedExpr): readonly TypeRef[] =>
  type.kind === 'element' ? type.types : [];

/** Returns the types that the step reaches; undefined after a report. */
export function reachedTypes(
  context: Context,
  from: TypedExpr,
  step: GraphStep,
  call: Call,
  scope: Scope,
): readonly TypeRef[] | undefined {
  const { schema } = context.schema;
  if (isUnknownOrNull(from.type)) {
    const everything = [...schema.nodes, ...schema.edges, ...schema.vectors];
    const inferred = inferTypes(schema, everything, step);
    return 'types' in inferred ? inferred.types : [];
  }
  const starts = from.type.kind === 'element' ? from.type.types : [];
  const inferred = inferTypes(schema, starts, step);
  if ('types' in inferred) return inferred.types;
  const what = printItemType(from.type);
  if (inferred.mismatch === 'kind') {
    const needs = step.kind === 'end' ? 'edges' : 'nodes or vectors';
    const message = `\`${call.name.text}\` needs ${needs}, not ${what}.`;
    context.report('E601', call.name.span, message);
  } else if (step.kind !== 'end') {
    return reportEnds(context, call, what, scope);
  }
  return undefined;
}

/**
 * Reports a step that never matches. If that is only a warning, returns the endpoint types of its edges.
 */
function reportEnds(
  context: Context,
  call: Call,
  what: string,
  scope: Scope,
): readonly TypeRef[] | undefined {
  const [name] = call.types!;
  const edge = context.schema.schema.edges.find((type) => type.name === name!.text)!;
  const isOut = call.name.text.startsWith('Out');
  const verb = call.name.text.startsWith('Both') ? 'starts or ends' : isOut ? 'starts' : 'ends';
  const message = `\`${edge.name}\` never ${verb} at ${what}.`;
  const hint = `\`${edge.name}\` goes from ${edge.from.name} to ${edge.to.name}.`;
  const code = scope.lenient ? 'W109' : call.name.text === 'InE' ? 'E102' : 'E207';
  context.report(code, name!.span, message, hint);
  if (!scope.lenient) return undefined;
  if (call.name.text.endsWith('E')) return [{ kind: 'edge', name: edge.name }];
  return [isOut ? edge.to : edge.from];
}

const wrongEnd = { FromN: 'E623', ToN: 'E624', FromV: 'E625', ToV: 'E626' } as const;

/** Checks `FromN`, `ToN`, `FromV`, `ToV`. */
export const checkEndStep: StepChecker = (context, input, call, scope, position) => {
  const name = call.name.text as keyof typeof wrongEnd;
  const from = dropShape(context, toRows(input), call.name, position.chain);
  if (call.types !== undefined || call.args !== undefined) {
    const message = `\`${name}\` takes no arguments.`;
    context.report('E305', call.span, message, `Write \`${name}\`.`);
  }
  const end = name.startsWith('From') ? 'from' : 'to';
  const kind = name.endsWith('N') ? 'node' : 'vector';
  const step: GraphStep = { kind: 'end', end };
  const reached = reachedTypes(context, from, step, call, scope);
  if (reached === undefined) return unknownExpr();
  if (reached.length > 0 && !reached.some((type) => type.kind === kind)) {
    const right = `${end === 'from' ? 'From' : 'To'}${kind === 'node' ? 'V' : 'N'}`;
    const message = `These edges have no ${kind} at this end.`;
    context.report(wrongEnd[name], call.name.span, message, `Write \`${right}\`.`);
  }
  // Edges of several types may end at either kind; all their endpoints are rows.
  return append(from, step, { type: elements(reached), cardinality: endCardinality(from) });
};

/** An element that is not an edge has no endpoint. */
export function endCardinality(from: TypedExpr): Cardinality {
  const { type } = from;
  const mayBeOther = type.kind === 'element' && type.types.some(({ kind }) => kind !== 'edge');
  const same = sameCardinality(from);
  return same === 'one' && mayBeOther ? 'opt' : same;
}

/** Checks `INTERSECT(_::…)`. */
export const checkIntersect: StepChecker = (context, input, call, scope, position) => {
  const from = dropShape(context, toRows(input), call.name, position.chain);
  const written = argument(context, call, 'INTERSECT(_::Out<EdgeType>)');
  if (written === undefined) return unknownExpr();
  const slot = context.fresh();
  const item = slotExpr(slot, from.type);
  const reached = context.check(written, innerScope(scope, { item, miss: 'none' }));
  for (const { type } of [from, reached]) {
    if (type.kind === 'element' || isUnknownOrNull(type)) continue;
    const message = `\`INTERSECT\` is for elements, not ${printItemType(type)}.`;
    context.report('E601', type === from.type ? call.name.span : written.span, message);
    return unknownExpr();
  }
  const of = { slot, value: reached.expression };
  return append(from, { kind: 'intersect', of }, { type: reached.type, cardinality: 'many' });
};
