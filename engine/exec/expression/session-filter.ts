// Tests one property for a session filter. An unset property fails every operator; list values and list
// operands match if any item does; `!=` means that no item is equal.
import { Json, readJson } from '../../base/text/json.js';
import { compareValues, equalValues, isList, kindRank } from '../../base/value.js';
import type { SessionOperand, SessionTest } from '../../plan/expression.js';
import { type Builder, labelOf } from '../runtime/build-context.js';
import { recordLabelOf } from '../runtime/element.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Operator = SessionTest['operator'];

function holds(operator: Operator, order: number): boolean {
  switch (operator) {
    case '==':
    case '!=':
      return order === 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

/**
 * Returns true if item value `a` has the relation to operand `b`. `!=` is evaluated as equality, and the
 * caller negates it.
 */
function relates(operator: Operator, a: unknown, b: SessionOperand): boolean {
  switch (b.kind) {
    case 'incomparable':
      return false;
    case 'fraction':
      // The operand lies strictly between floor and floor + 1: it is below or above an integer, never equal.
      if (operator === '==' || operator === '!=') return false;
      return holds(operator, compareValues(a, b.floor) > 0 ? 1 : -1);
    case 'value':
      if (b.value === null || a === null) return false;
      if (operator === '==' || operator === '!=') return equalValues(a, b.value);
      return kindRank(a) === kindRank(b.value) && holds(operator, compareValues(a, b.value));
  }
}

/** Returns the result of an operator for a value that is set. */
export function sessionTruth(
  operator: Operator,
  a: Value,
  operands: readonly SessionOperand[],
): boolean {
  const items: ArrayLike<unknown> = isList(a) ? a : [a];
  for (let i = 0; i < items.length; i++) {
    for (const operand of operands) {
      if (relates(operator, items[i], operand)) return operator !== '!=';
    }
  }
  return operator === '!=';
}

export function buildTest(builder: Builder, test: SessionTest): Evaluate {
  const { slot, key, operator, attribute } = test;
  const read = builder.member(key);
  const operandsOf = new Map<number, readonly SessionOperand[]>();
  for (const { type, values } of test.cases) {
    const label = labelOf(builder, type.kind, type.name);
    if (label) operandsOf.set(label.id, values);
  }
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element)) return false;
    const operands = operandsOf.get(recordLabelOf(frame, item)) ?? attribute;
    if (operands === undefined) return false;
    const stored = read(frame, item);
    const value = stored instanceof Json ? readJson(stored) : stored;
    return value !== null && sessionTruth(operator, value, operands);
  };
}
