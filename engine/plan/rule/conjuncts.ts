// Conditions that stand side by side.
import type { Expression } from '../expression.js';

/** What all of has to be true for the condition to be. */
export const conjunctsOf = (value: Expression): readonly Expression[] =>
  value.kind === 'and' ? value.of.flatMap(conjunctsOf) : [value];

/** All of some conditions, or any of them, as one. */
export const oneOf = (kind: 'and' | 'or', of: readonly Expression[]): Expression =>
  of.length === 1 ? of[0]! : { kind, of: [...of] };
