// Compiles functions of operands to closures. If an operand is null, the value is null, and the later
// operands are not evaluated.
import type { Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import type { Value } from '../runtime/value.js';

export function withOperands(
  builder: Builder,
  of: readonly Expression[],
  apply: (frame: Frame, args: readonly Value[]) => Value,
): Evaluate {
  const operands = of.map((operand) => builder.value(operand));
  return (frame) => {
    const args: Value[] = [];
    for (const operand of operands) {
      const value = operand(frame);
      if (value === null) return null;
      args.push(value);
    }
    return apply(frame, args);
  };
}
