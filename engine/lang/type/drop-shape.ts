// Drops a projection when a step replaces the items that it was attached to.
import type { Chain } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Context } from './context.js';
import type { TypedExpr } from './typed-expression.js';

const code = { projection: 'W108', closure: 'E641', exclusion: 'E644' } as const;
const word = { projection: 'projection', closure: 'closure', exclusion: 'exclusion' } as const;

/**
 * Returns the items without their shape. Reports the loss of a closure or exclusion in the same chain; the
 * shape of a variable is dropped without a report.
 */
export function dropShape(context: Context, input: TypedExpr, step: Name, chain: Chain): TypedExpr {
  if (input.shape === undefined) return input;
  const { shape, ...items } = input;
  if (shape.isKey) return items;
  const isHere = shape.span.start >= chain.span.start && shape.span.end <= chain.span.end;
  const form = isHere ? shape.form : 'projection';
  const message = `\`${step.text}\` drops the ${word[shape.form]} before it.`;
  context.report(code[form], step.span, message, 'Take the step first, then shape the result.');
  return items;
}
