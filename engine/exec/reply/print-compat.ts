// [compat] Prints values by a print form: floats with a fraction, groups as HelixDB 2's keyed object.
// Invariant: a value that does not match its form prints as it would without one.
import { ByteWriter } from '../../base/bytes.js';
import { Instant, Uuid } from '../../base/value.js';
import { printDate } from '../../base/date.js';
import type { Form } from '../../plan/print-form.js';
import type { PrintStyle } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { GroupRecord, isListValue, RecordValue, type Value } from '../runtime/value.js';
import { printFraction } from './print-compat-float.js';
import { nameBytes, printValue } from './print.js';

export function printCompat(
  frame: Frame,
  out: ByteWriter,
  value: Value,
  style: PrintStyle,
  form: Form | undefined,
): void {
  if (form === undefined || value === null) printValue(frame, out, value, style);
  else if (form.kind === 'groups' && isGroups(value)) printGroups(frame, out, value, style, form);
  else if (isListValue(value)) {
    // For a member of a single value, the form may already be that of its items.
    const items = form.kind === 'list' ? form.of : form;
    printItems(frame, out, value, style, items);
  } else if (form.kind === 'float' && typeof value === 'number') printFraction(out, value);
  else if (form.kind === 'record' && value instanceof RecordValue)
    printMembers(frame, out, value.names, value.values, style, form.members);
  else if (form.kind === 'record' && value instanceof Map)
    printMembers(frame, out, [...value.keys()], [...value.values()], style, form.members);
  else printValue(frame, out, value, style);
}

function printItems(
  frame: Frame,
  out: ByteWriter,
  items: Iterable<Value>,
  style: PrintStyle,
  form: Form | undefined,
): void {
  let count = 0;
  out.byte(91);
  for (const item of items) {
    if (count++ > 0) out.byte(44);
    frame.countItem(out);
    printCompat(frame, out, item, style, form);
  }
  out.byte(93);
}

function printMembers(
  frame: Frame,
  out: ByteWriter,
  names: readonly string[],
  values: readonly Value[],
  style: PrintStyle,
  forms: ReadonlyMap<string, Form>,
): void {
  let count = 0;
  out.byte(123);
  for (const [i, name] of names.entries()) {
    if (count++ > 0) out.byte(44);
    frame.countMember(out);
    out.append(nameBytes(name));
    printCompat(frame, out, values[i]!, style, forms.get(name));
  }
  out.byte(125);
}

const isGroups = (value: Value): value is readonly GroupRecord[] =>
  Array.isArray(value) && value.every((item) => item instanceof GroupRecord);

/** Prints `{"Group": {"Basel_true": {"count": 2, "values": {"city": "Basel", "active": true}}}}`. */
function printGroups(
  frame: Frame,
  out: ByteWriter,
  groups: readonly GroupRecord[],
  style: PrintStyle,
  { of, members }: Extract<Form, { kind: 'groups' }>,
): void {
  const taken = new Set<string>();
  out.ascii(`{"${of.word}":{`);
  const keyText = keyTexts(frame, style);
  for (const [i, group] of groups.entries()) {
    if (i > 0) out.byte(44);
    frame.countItem(out);
    out.append(nameBytes(freeKey(group.keys.map(keyText).join('_'), taken)));
    const { keyNames, keys } = group;
    out.ascii(`{"count":${String(group.member('count'))},"values":`);
    if (of.data) printCompat(frame, out, group.member('data')!, style, members.get('data'));
    else {
      // An unset key is omitted, as in HelixDB.
      const set = keys.flatMap((key, at) => (key === null ? [] : [at]));
      const names = set.map((at) => keyNames[at]!);
      const values = set.map((at) => keys[at]!);
      printMembers(frame, out, names, values, style, members);
    }
    out.byte(125);
  }
  out.ascii('}}');
}

/** Returns how to print a key as a part of a member's name. Records are printed as JSON. */
function keyTexts(frame: Frame, style: PrintStyle): (key: Value) => string {
  const keyText = (key: Value): string => {
    if (key instanceof Uuid) return key.text;
    if (key instanceof Instant) return printDate(key);
    if (isListValue(key)) return `[${Array.from(key, keyText).join(', ')}]`;
    if (typeof key !== 'object' || key === null) return String(key);
    const printed = new ByteWriter(256);
    printValue(frame, printed, key, style);
    return Buffer.from(printed.take()).toString();
  };
  return keyText;
}

/**
 * Returns an unused name: keys of different types may print the same text, and HelixDB would lose one of the
 * groups.
 */
function freeKey(text: string, taken: Set<string>): string {
  let key = text;
  for (let n = 2; taken.has(key); n++) key = `${text} (${n})`;
  taken.add(key);
  return key;
}
