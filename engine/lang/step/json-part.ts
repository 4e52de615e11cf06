// Checks `x::GET("a.b")`, which reads a part of a Json. What it finds has a type that only the data know.
import type { Expression } from '../../plan/expression.js';
import { splitPath } from '../../base/text/json.js';
import { argument } from '../argument/call-argument.js';
import type { StepChecker } from '../type/context.js';
import { unknownExpr } from '../type/make-typed.js';
import { bare } from '../type/shape.js';
import { append } from '../type/stream.js';
import { isList, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isJson } from '../type/type-relation.js';
import { isUnknownOrNull, unknownType } from '../type/type.js';

export const checkGet: StepChecker = (context, input, call) => {
  const written = argument(context, call, 'GET("a.b")');
  if (written === undefined) return unknownExpr();
  const from = bare(context, input);
  if (!isJson(from.type) && !isUnknownOrNull(from.type)) {
    const what = printItemType(wholeType(from));
    const hint = 'Declare the property as `Json`.';
    context.report('E747', call.name.span, `\`GET\` reads a Json, not ${what}.`, hint);
    return unknownExpr();
  }
  const path =
    written.kind === 'literal' && written.value.kind === 'string' ? written.value.value : '';
  if (splitPath(path) === undefined) {
    const message = 'The path of `GET` is a literal with the names of members.';
    context.report('E747', written.span, message, 'Write `GET("author.name")`.');
    return unknownExpr();
  }
  const part = (of: Expression): Expression => {
    return { kind: 'text', function: 'GET', of: [of, { kind: 'literal', value: path }] };
  };
  if (!isList(from))
    return { type: unknownType, cardinality: 'one', expression: part(from.expression) };
  const slot = context.fresh();
  const step = { kind: 'map', value: { slot, value: part({ kind: 'slot', slot }) } } as const;
  return append(from, step, { type: unknownType, cardinality: 'many' });
};
