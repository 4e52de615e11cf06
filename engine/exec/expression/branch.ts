// Compiles IF and COALESCE. Only the selected branch is evaluated.
import { TrellisError } from '../../base/errors.js';
import type { Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export function buildIf(builder: Builder, expression: Kind<'if'>): Evaluate {
  const condition = builder.value(expression.condition);
  const value = builder.value(expression.value);
  const otherwise = builder.value(expression.otherwise);
  return (frame) => (condition(frame) === true ? value(frame) : otherwise(frame));
}

/** Errors of an argument that COALESCE treats as null. All other errors fail. */
const misses = new Set<string>(['NO_VALUE_FOUND', 'NO_PATH']);

function valueOrNull(frame: Frame, evaluate: Evaluate): Value {
  try {
    return evaluate(frame);
  } catch (error) {
    if (error instanceof TrellisError && misses.has(error.code)) return null;
    throw error;
  }
}

export function buildCoalesce(builder: Builder, { of }: Kind<'coalesce'>): Evaluate {
  const values = of.map((each) => builder.value(each));
  return (frame) => {
    for (const evaluate of values) {
      const value = valueOrNull(frame, evaluate);
      if (value !== null) return value;
    }
    return null;
  };
}
