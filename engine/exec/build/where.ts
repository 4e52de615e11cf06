// Compiles a WHERE once for all flows to which it applies.
import type { ItemExpression } from '../../plan/expression.js';
import { where } from '../operators/filter.js';
import { numberFilter, whereNumber } from '../operators/number-filter.js';
import { textFilter, whereText } from '../operators/text-filter.js';
import type { Builder } from '../runtime/build-context.js';
import type { Flow } from '../runtime/flow.js';

export function buildWhere(
  builder: Builder,
  { slot, value }: ItemExpression,
): (input: Flow) => Flow {
  const condition = builder.value(value);
  const filter = numberFilter(builder, slot, value);
  const text = textFilter(builder, slot, value);
  return (input) => {
    if (filter && input.kind === 'ids') return whereNumber(input, slot, condition, filter);
    if (text) return whereText(input, slot, condition, text);
    return where(input, slot, condition);
  };
}
