// Checks the endpoints of edges and paths: `::From(a)::To(b)` in either order.
import type { EdgeType, TypeRef } from '../../base/schema.js';
import type { Expression } from '../../plan/expression.js';
import type { Call, Step } from '../syntax/ast-expression.js';
import { type ChainPosition, type Context, takeEnds } from '../type/context.js';
import { endArgument } from '../argument/argument-kind.js';
import type { Scope } from '../type/scope.js';
import type { TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';

export interface TypedEnd {
  typed: TypedExpr;
  /** Exactly one element, or an error at run time. */
  value: Expression;
  call: Call;
}

/** Returns the endpoints that follow an edge step, each at most once; a second one of a kind is E305. */
export function edgeEnds(
  context: Context,
  position: ChainPosition,
  scope: Scope,
): { from?: TypedEnd; to?: TypedEnd; written: Set<string> } {
  const ends: { from?: TypedEnd; to?: TypedEnd; written: Set<string> } = { written: new Set() };
  for (const call of takeEnds(position)) {
    const name = call.name.text;
    if (ends.written.has(name)) {
      context.report('E305', call.span, `\`${name}\` stands here twice.`, 'Remove one.');
      continue;
    }
    ends.written.add(name);
    const end = endArgument(context, call, scope);
    if (end !== undefined) ends[name === 'From' ? 'from' : 'to'] = { ...end, call };
  }
  return ends;
}

/** Warns if an endpoint is certainly of a type that the edge does not connect. */
export function warnEnd(
  context: Context,
  edge: EdgeType,
  side: 'from' | 'to',
  typed: TypedExpr,
  call: Call,
): void {
  const { type } = typed;
  const wanted = edge[side];
  if (type.kind !== 'element' || type.types.some((each) => same(each, wanted))) return;
  const verb = side === 'from' ? 'starts' : 'ends';
  const message = `\`${edge.name}\` ${verb} at ${wanted.name}, not at ${printItemType(type)}.`;
  context.report('W112', call.span, message, 'The call will answer EDGE_ENDPOINT_TYPE.');
}

const same = (a: TypeRef, b: TypeRef) => a.kind === b.kind && a.name === b.name;

/** Reports missing endpoints; `needed` lists the required ones. */
export function reportMissingEnds(
  context: Context,
  call: Call,
  written: ReadonlySet<string>,
  needed: readonly ('From' | 'To')[],
  position: ChainPosition,
): void {
  for (const end of needed) {
    if (written.has(end)) continue;
    const code = end === 'To' ? 'E611' : 'E612';
    const message = `\`${call.name.text}\` has no \`${end}\`.`;
    // A step that was meant as an endpoint has its own diagnostic.
    const { steps } = position.chain;
    const isMisspelt = (step: Step) => step.kind === 'call' && /^(from|to)$/.test(step.name.text);
    if (steps.slice(position.next).some(isMisspelt)) continue;
    const hint = `Add \`::${end}(…)\`.`;
    context.report(code, call.span, message, hint);
  }
}
