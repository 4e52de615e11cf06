// Compiles `x::ID` in comparisons of identity to the element itself. Elements are equal by id, so the record
// need not be read for the text of the id.
import type { Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import { buildHoisted } from './hoisted-operand.js';

type ReadIdentity = (frame: Frame, value: Value) => Value;

/** Returns the element in place of its id; for any other value, its member `id`. */
export function identityReader(builder: Builder): ReadIdentity {
  const read = builder.member('id');
  return function identity(frame, value): Value {
    // After a deletion, the element and its id may no longer exist.
    if (frame.hasDropped) return read(frame, value);
    if (value instanceof Element) return value;
    if (!isListValue(value) || value instanceof Float64Array) return read(frame, value);
    frame.tick(value.length);
    return (value as readonly Value[]).map((item) => identity(frame, item));
  };
}

/** Compiles the expression with elements in place of their ids, if its value is one element or a list. */
export function buildIdentity(builder: Builder, expression: Expression): Evaluate {
  if (expression.kind === 'property' && expression.name === 'id') {
    const of = builder.value(expression.of);
    const identity = identityReader(builder);
    return (frame) => identity(frame, of(frame));
  }
  if (expression.kind === 'hoisted') {
    return buildHoisted(builder, expression, (inner) => buildIdentity(builder, inner));
  }
  const elements = withoutId(expression);
  if (elements === undefined) return builder.value(expression);
  const of = builder.value(elements);
  const identity = identityReader(builder);
  return (frame) => identity(frame, of(frame));
}

/** Returns the pipeline without `::ID` at its end, or undefined when it does not end so. */
export function withoutId(expression: Expression): Expression | undefined {
  if (expression.kind !== 'pipeline') return undefined;
  const last = expression.steps.at(-1);
  if (last?.kind !== 'map') return undefined;
  const { slot, value } = last.value;
  if (value.kind !== 'property' || value.name !== 'id') return undefined;
  if (value.of.kind !== 'slot' || value.of.slot !== slot) return undefined;
  return { ...expression, steps: expression.steps.slice(0, -1) };
}
