// Evaluates operands that the planner found to be the same for many items: once when they are first needed,
// and again when a slot that they read has changed.
import type { Expression } from '../../plan/expression.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Builder } from '../runtime/build-context.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';

interface Remembered {
  /** Values of the slots at the evaluation. */
  held: Value[];
  value: Value;
}

export function buildHoisted(
  builder: Builder,
  { of, slots }: Extract<Expression, { kind: 'hoisted' }>,
  build: (of: Expression) => Evaluate = (inner) => builder.value(inner),
): Evaluate {
  const evaluate = build(of);
  const remembered = new WeakMap<Frame, Remembered>();
  return (frame) => {
    const known = remembered.get(frame);
    if (known !== undefined && frame.slotsEqual(slots, known.held)) return known.value;
    // The evaluation cannot overwrite the slots it depends on.
    const value = evaluate(frame);
    remembered.set(frame, { held: slots.map((slot) => frame.slots[slot]!), value });
    return value;
  };
}
