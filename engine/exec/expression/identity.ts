// `x::ID` where it is only compared for being the same: the element itself, as elements are equal
// by id, which spares reading its record for the id's text.
import type { Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import { buildHoisted } from './hoisted-operand.js';

type ReadIdentity = (frame: Frame, value: Value) => Value;

/** The element for its id; any other value's member `id`. */
export function identityReader(builder: Builder): ReadIdentity {
  const read = builder.member('id');
  return function identity(frame, value): Value {
    // After a deletion an element may be gone, and its id with it.
    if (frame.hasDropped) return read(frame, value);
    if (value instanceof Element) return value;
    if (!isListValue(value) || value instanceof Float64Array) return read(frame, value);
    frame.tick(value.length);
    return (value as readonly Value[]).map((item) => identity(frame, item));
  };
}

/** The expression with an element in the place of its id, where its value is one or a list. */
export function buildIdentity(builder: Builder, expression: Expression): Evaluate {
  if (expression.kind === 'property' && expression.name === 'id') {
    const of = builder.value(expression.of);
    const identity = identityReader(builder);
    return (frame) => identity(frame, of(frame));
  }
  if (expression.kind === 'once') {
    return buildHoisted(builder, expression, (inner) => buildIdentity(builder, inner));
  }
  const elements = withoutId(expression);
  if (elements === undefined) return builder.value(expression);
  const of = builder.value(elements);
  const identity = identityReader(builder);
  return (frame) => identity(frame, of(frame));
}

/** The pipeline without `::ID` at its end. */
export function withoutId(expression: Expression): Expression | undefined {
  if (expression.kind !== 'pipeline') return undefined;
  const last = expression.steps.at(-1);
  if (last?.kind !== 'map') return undefined;
  const { slot, value } = last.value;
  if (value.kind !== 'property' || value.name !== 'id') return undefined;
  if (value.of.kind !== 'slot' || value.of.slot !== slot) return undefined;
  return { ...expression, steps: expression.steps.slice(0, -1) };
}
