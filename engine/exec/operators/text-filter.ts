// WHERE on a String property that must equal a string that is the same for all rows. It compares the bytes of
// records in the cache, and reads the string only of the rows that pass.
//
// Invariant: it yields the rows that `where` yields. Unusual rows (no cache, strings with characters that
// JSON escapes, rows that are no bare elements, labels whose member is no String) are tested by the plain
// condition.
import type { Expression } from '../../plan/expression.js';
import { fragmentOf } from '../../storage/record/record.js';
import type { RecordCacheView } from '../../storage/table/view-types.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Flow, RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { memberTable } from '../runtime/member.js';
import { Element, type Value } from '../runtime/value.js';
import { whereRows } from './filter.js';

export interface TextFilter {
  wanted: Evaluate;
  /** Returns the slot of the property in records of a label, or -1 when it is no String. */
  slotIn: (label: number) => number;
}

/**
 * Returns the filter of a condition on the row in `slot`, or undefined when the condition has another form.
 */
export function textFilter(
  builder: Builder,
  slot: number,
  condition: Expression,
): TextFilter | undefined {
  if (condition.kind !== 'compare' || condition.any || condition.operator !== 'EQ')
    return undefined;
  const { left, right } = condition;
  const isOwn = left.kind === 'property' && left.of.kind === 'slot' && left.of.slot === slot;
  if (!isOwn || (right.kind !== 'literal' && right.kind !== 'parameter')) return undefined;
  const memberIn = memberTable(builder.catalog, left.name);
  const slots: (number | undefined)[] = [];
  const find = (label: number): number => {
    const member = memberIn(label);
    if (member.kind !== 'property' || member.property.type.kind !== 'scalar') return -1;
    return member.property.type.name === 'String' ? member.property.slot : -1;
  };
  return { wanted: builder.value(right), slotIn: (label) => (slots[label] ??= find(label)) };
}

const backslash = 0x5c;

/** Keeps the items that pass `filter`, which is equivalent to `where` with the condition. */
export function whereText(
  input: Flow,
  slot: number,
  condition: Evaluate,
  filter: TextFilter,
): RowFlow {
  return { kind: 'rows', open: (frame) => whereTextRows(frame, input, slot, condition, filter) };
}

function* whereTextRows(
  frame: Frame,
  input: Flow,
  slot: number,
  condition: Evaluate,
  { wanted, slotIn }: TextFilter,
): Iterable<readonly Value[]> {
  const text = wanted(frame);
  const records = typeof text === 'string' ? frame.records() : undefined;
  const bytes = Buffer.from(typeof text === 'string' ? JSON.stringify(text) : '');
  const isPlain = records === undefined || bytes.includes(backslash);
  const test: Evaluate = isPlain
    ? condition
    : () => {
        const row = frame.slots[slot];
        const isBare = row instanceof Element && row.record === undefined;
        return !(isBare && differs(records, row.id, slotIn, bytes)) && condition(frame);
      };
  yield* whereRows(frame, input, slot, test);
}

/** Returns true if the stored string certainly differs. */
function differs(
  records: RecordCacheView,
  id: number,
  slotIn: TextFilter['slotIn'],
  wanted: Uint8Array,
): boolean {
  const record = records.find(id);
  if (record < 0) return false;
  const { bytes } = records;
  const slot = slotIn(bytes[record]! | (bytes[record + 1]! << 8));
  if (slot < 0) return false;
  const { start, end } = fragmentOf(bytes, slot, record);
  // An unset value equals no string.
  if (start === end) return true;
  for (let at = start, i = 0; at < end; at++, i++) {
    if (bytes[at] === backslash) return false;
    if (bytes[at] !== wanted[i]) return true;
  }
  return false;
}
