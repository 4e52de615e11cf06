// Checks RETURN: which values a query returns, with their keys and shapes.
import type { Expression } from '../../plan/expression.js';
import type { Form } from '../../plan/print-form.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Output } from '../../plan/plan.js';
import type { Expr } from '../syntax/ast-expression.js';
import type { QueryDeclaration } from '../syntax/ast-query.js';
import type { Context } from '../type/context.js';
import { findName, type Scope } from '../type/scope.js';
import { printed, projected } from '../type/shape.js';
import { buildForm } from '../type/form.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { inferOutputType } from './reply-type.js';

/** Returns true for a literal `NONE`. */
export const isNone = (expr: Expr) => expr.kind === 'literal' && expr.value.kind === 'none';

const nothing: Expression = { kind: 'literal', value: null };

export interface Returned {
  output: Output;
  reply: ReplyType;
  /** True if the only value is whole elements. */
  elements: boolean;
}

/** Returns the output of a query, and whether it is whole elements. */
export function checkReturns(context: Context, query: QueryDeclaration, scope: Scope): Returned {
  const { returns } = query;
  const { compat, report } = context;
  const empty: Output = compat
    ? { kind: 'bare', value: nothing, data: false }
    : { kind: 'object', members: [] };
  const emptyReply: ReplyType = compat
    ? { bare: { kind: 'literal', value: null } }
    : { members: [] };
  const none: Returned = { output: empty, reply: emptyReply, elements: false };
  if (returns === undefined) {
    const answer = compat ? 'null' : '{}';
    const message = `This query returns nothing; it answers \`${answer}\`.`;
    if (!query.faulty) report('W101', query.name.span, message, 'Add `RETURN`.');
    return none;
  }
  if (returns.length === 1 && isNone(returns[0]!)) return none;
  for (const expr of returns) {
    if (isNone(expr)) report('E704', expr.span, '`NONE` stands alone.', 'Remove it.');
  }
  const typedExprs = returns.map((expr) => context.check(expr, scope));
  const [only] = typedExprs;
  if (compat && returns.length === 1 && returns[0]!.kind === 'object') {
    const form = buildForm(only!.type);
    const output: Output = {
      kind: 'bare',
      value: only!.expression,
      data: false,
      ...(form && { form }),
    };
    return { output, reply: { bare: inferOutputType(context, only!, 'object') }, elements: false };
  }
  const keys = returnKeys(context, returns, scope);
  const members = typedExprs.map((typed, at) => ({ key: keys[at]!, ...leave(context, typed) }));
  const leaving = compat ? 'bare' : 'object';
  const types = typedExprs.map((typed, at) => {
    return { name: keys[at]!, type: inferOutputType(context, typed, leaving) };
  });
  const elements = typedExprs.length === 1 && only!.type.kind === 'element' && !only!.shape;
  return { output: { kind: 'object', members }, reply: { members: types }, elements };
}

/** [compat] A one-name projection returns bare values, otherwise objects with one member. */
function leave(context: Context, typed: TypedExpr): { value: Expression; form?: Form } {
  if (!context.compat) return { value: projected(context, typed).expression };
  const left = printed(context, typed);
  const form = buildForm(wholeType(left));
  return { value: left.expression, ...(form && { form }) };
}

/** Returns the key of each value: the name that it begins with, otherwise `data`; each key is unique. */
function returnKeys(context: Context, returns: readonly Expr[], scope: Scope): string[] {
  const seen = new Set<string>();
  let unnamed = 0;
  return returns.map((expr) => {
    const name = readName(expr, scope);
    const key = name ?? 'data';
    if (name === undefined && ++unnamed > 1) {
      const message = 'A second value without a name.';
      context.report('E703', expr.span, message, 'Bind it to a variable.');
    } else if (seen.has(key)) {
      const hint = 'Bind one of them to a variable.';
      context.report('E702', expr.span, `\`${key}\` is returned twice.`, hint);
    }
    seen.add(key);
    return key;
  });
}

/** `NOW` is a name only if a variable has this name. */
function readName(expr: Expr, scope: Scope): string | undefined {
  if (expr.kind !== 'chain' || expr.head.kind !== 'path') return undefined;
  const [{ text }] = expr.head.names;
  return text === 'NOW' && findName(scope, text) === undefined ? undefined : text;
}
