// WHERE on an integer property against a number that is the same for all rows. It compares the bytes of
// records in the cache, and only the rows that pass become elements. A wide hop spends most of its time on
// rows that a filter drops.
//
// Invariant: it yields the rows that `where` yields. Unusual rows (no cache, values with more digits than a
// float has, labels whose member is no integer) are tested by the plain condition.
import type { CompareOperator, Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import { batchSizes, type IdFlow, type RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { memberTable } from '../runtime/member.js';
import { fragmentOf } from '../../storage/record/record.js';
import type { RecordCacheView } from '../../storage/table/view-types.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { whereRows } from './filter.js';

/** Integers of up to this many characters are exact as numbers. */
const shortDigits = 15;

type Test = (value: number, limit: number) => boolean;

const tests: Partial<Record<CompareOperator, Test>> = {
  EQ: (value, limit) => value === limit,
  NEQ: (value, limit) => value !== limit,
  GT: (value, limit) => value > limit,
  GTE: (value, limit) => value >= limit,
  LT: (value, limit) => value < limit,
  LTE: (value, limit) => value <= limit,
};

interface NumberFilter {
  test: Test;
  /** Result for a row without a value. */
  unset: boolean;
  limit: Evaluate;
  /** Returns the slot of the property in records of a label, or -1 when it is no integer. */
  slotIn: (label: number) => number;
}

/**
 * Returns the filter of a condition on the row in `slot`, or undefined when the condition has another form.
 */
export function numberFilter(
  builder: Builder,
  slot: number,
  condition: Expression,
): NumberFilter | undefined {
  if (condition.kind !== 'compare' || condition.any || condition.f32) return undefined;
  const { left, right, operator } = condition;
  const test = tests[operator];
  const isOwn = left.kind === 'property' && left.of.kind === 'slot' && left.of.slot === slot;
  const isFixed = right.kind === 'literal' || right.kind === 'parameter';
  if (!test || !isOwn || !isFixed) return undefined;
  const memberIn = memberTable(builder.catalog, left.name);
  const slots: (number | undefined)[] = [];
  const find = (label: number): number => {
    const member = memberIn(label);
    if (member.kind !== 'property' || member.property.type.kind !== 'scalar') return -1;
    return /^[IU]\d+$/.test(member.property.type.name) ? member.property.slot : -1;
  };
  return {
    test,
    unset: operator === 'NEQ',
    limit: builder.value(right),
    slotIn: (label) => (slots[label] ??= find(label)),
  };
}

/** Like `where` with the condition, which is equivalent to `filter`. */
export function whereNumber(
  input: IdFlow,
  slot: number,
  condition: Evaluate,
  filter: NumberFilter,
): RowFlow {
  return { kind: 'rows', open: (frame) => whereNumberRows(frame, input, slot, condition, filter) };
}

function* whereNumberRows(
  frame: Frame,
  input: IdFlow,
  slot: number,
  condition: Evaluate,
  filter: NumberFilter,
): Iterable<readonly Value[]> {
  const limit = filter.limit(frame);
  const records = frame.records();
  if (typeof limit !== 'number' || records === undefined) {
    yield* whereRows(frame, input, slot, condition);
    return;
  }
  const sizes = batchSizes();
  for (const ids of input.open(frame)) {
    for (let at = 0; at < ids.length; ) {
      const end = Math.min(at + sizes.next(), ids.length);
      frame.tick(end - at);
      const passing: Value[] = [];
      for (; at < end; at++) {
        const id = ids[at]!;
        const result = testRecord(records, id, filter, limit);
        if (result === unsure ? isTrue(frame, id, slot, condition) : result === yes) {
          passing.push(new Element(id));
        }
      }
      if (passing.length > 0) yield passing;
    }
  }
}

const no = 0;
const yes = 1;
const unsure = 2;

function isTrue(frame: Frame, id: number, slot: number, condition: Evaluate): boolean {
  frame.slots[slot] = new Element(id);
  return condition(frame) === true;
}

function testRecord(
  records: RecordCacheView,
  id: number,
  { test, unset, slotIn }: NumberFilter,
  limit: number,
): number {
  const record = records.find(id);
  if (record < 0) return unsure;
  const { bytes } = records;
  const slot = slotIn(bytes[record]! | (bytes[record + 1]! << 8));
  if (slot < 0) return unsure;
  const fragment = fragmentOf(bytes, slot, record);
  const { end } = fragment;
  let at = fragment.start;
  if (at === end) return unset ? yes : no;
  if (end - at > shortDigits) return unsure;
  const isNegative = bytes[at] === 0x2d;
  if (isNegative) at++;
  let value = 0;
  for (; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit >>> 0 > 9) return unsure;
    value = value * 10 + digit;
  }
  return test(isNegative ? -value : value, limit) ? yes : no;
}
