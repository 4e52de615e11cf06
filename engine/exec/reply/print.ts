// Prints values as JSON text. Elements are printed by copying the fragments of their records between names
// that were encoded once per label.
import type { ByteWriter } from '../../base/bytes.js';
import { Json } from '../../base/text/json.js';
import { Instant, Uuid } from '../../base/value.js';
import { fragmentOf, labelOf, uuidAt } from '../../storage/record/record.js';
import { checkFloats } from '../../storage/record/stored-float.js';
import { isFloat, numberText, printScalar } from '../../storage/record/fragment.js';
import type { Label } from '../../storage/table/view-types.js';
import { isHit, recordOf } from '../runtime/element.js';
import type { Frame } from '../runtime/frame.js';
import { vectorOf } from '../runtime/bound-element.js';
import type { PrintStyle } from '../runtime/compiled.js';
import { appendFractions, printFraction } from './print-compat-float.js';
import {
  type Layout,
  layoutMembers,
  layoutOf,
  printLayout,
  writeUuid,
} from './element-template.js';
import { type Member, memberOf, scoreOf } from '../runtime/member.js';
import { Element, RecordValue, type Value } from '../runtime/value.js';

const encoder = new TextEncoder();

/** Returns `"name":` as bytes. */
export function nameBytes(name: string): Uint8Array {
  return encoder.encode(`${JSON.stringify(name)}:`);
}

/** Prints a UUID as a JSON string. */
function printUuidBytes(out: ByteWriter, record: Uint8Array, at: number): void {
  out.reserve(38);
  out.length = writeUuid(record, at, out.bytes, out.length);
}

function printNumber(out: ByteWriter, value: number): void {
  out.ascii(numberText(value));
}

function printNull(out: ByteWriter): void {
  out.ascii('null');
}

export function printValue(frame: Frame, out: ByteWriter, value: Value, style: PrintStyle): void {
  if (typeof value !== 'object') {
    printScalar(out, value);
  } else if (value instanceof Element) {
    printElement(frame, out, value, style);
  } else if (value === null) {
    printNull(out);
  } else if (value instanceof RecordValue) {
    printMembers(frame, out, value.names, value.values, style);
  } else if (value instanceof Float64Array) {
    printVector(out, value);
  } else if (value instanceof Instant || value instanceof Uuid || value instanceof Json) {
    printScalar(out, value);
  } else if (value instanceof Map) {
    printMembers(frame, out, [...value.keys()], [...value.values()], style);
  } else {
    printList(frame, out, value as readonly Value[], style);
  }
}

function printMembers(
  frame: Frame,
  out: ByteWriter,
  names: readonly string[],
  values: readonly Value[],
  style: PrintStyle,
): void {
  out.byte(123);
  for (let i = 0; i < names.length; i++) {
    if (i > 0) out.byte(44);
    frame.countMember(out);
    out.utf8(`${JSON.stringify(names[i])}:`);
    printValue(frame, out, values[i]!, style);
  }
  out.byte(125);
}

function printList(
  frame: Frame,
  out: ByteWriter,
  items: readonly Value[],
  style: PrintStyle,
): void {
  out.byte(91);
  for (let i = 0; i < items.length; i++) {
    if (i > 0) out.byte(44);
    frame.countItem(out);
    printValue(frame, out, items[i]!, style);
  }
  out.byte(93);
}

function printVector(
  out: ByteWriter,
  vector: Float64Array,
  print: (out: ByteWriter, value: number) => void = printNumber,
): void {
  out.byte(91);
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) out.byte(44);
    print(out, vector[i]!);
  }
  out.byte(93);
}

/** One member of elements of a label, with its encoded name. */
interface NamedMember {
  member: Member;
  text: string;
  name: Uint8Array;
}

/** Returns the members of a label in print order, without the names in `except`. `data` is not among them. */
export function elementMembers(label: Label, except: ReadonlySet<string>): NamedMember[] {
  const implicit = ['id', 'label', ...(label.kind === 'edge' ? ['from_node', 'to_node'] : [])];
  const attributes = label.kind === 'edge' ? [] : ['hops', 'score', 'distance'];
  const declared = new Set(label.properties.map((property) => property.name));
  const names = [
    ...implicit,
    // A declared property with such a name has its own position.
    ...attributes.filter((name) => !declared.has(name)),
    ...declared,
  ].filter((name) => !except.has(name));
  return names.map((text) => ({
    member: memberOf(label, text),
    text,
    name: nameBytes(text),
  }));
}

/** Members by label, encoded once: one table for whole elements, one per spread. */
type MemberLists = (label: Label) => readonly NamedMember[];

export function memberLists(except: ReadonlySet<string>): MemberLists {
  const lists = new WeakMap<Label, readonly NamedMember[]>();
  return (label) => {
    let list = lists.get(label);
    if (list === undefined) lists.set(label, (list = elementMembers(label, except)));
    return list;
  };
}

const wholeElement = memberLists(new Set());
const dataName = nameBytes('data');

/** Templates of whole elements without search attributes, by label: plain, and [compat]. */
const plainLayouts = new WeakMap<Label, Layout>();
const fractionLayouts = new WeakMap<Label, Layout>();

function wholeLayout(label: Label, { fractions }: PrintStyle): Layout {
  const layouts = fractions ? fractionLayouts : plainLayouts;
  let layout = layouts.get(label);
  if (layout === undefined) {
    layout = layoutOf(label, layoutMembers(elementMembers(label, new Set())), fractions)!;
    layouts.set(label, layout);
  }
  return layout;
}

/**
 * Returns true if an element shows more than its record: attributes that a search or a repetition has set.
 */
export const isMarked = (element: Element): boolean => element.hops >= 0 || isHit(element);

export function printElement(
  frame: Frame,
  out: ByteWriter,
  element: Element,
  style: PrintStyle,
): void {
  const record = recordOf(frame, element);
  if (record === undefined) {
    printNull(out);
    return;
  }
  const label = frame.view.catalog.label(labelOf(record));
  const isVector = label.kind === 'vector';
  const withData = isVector && (style.data || style.compat);
  if (!withData && !isMarked(element)) {
    printLayout(out, record, wholeLayout(label, style));
    return;
  }
  out.byte(123);
  printElementMembers(frame, out, element, record, wholeElement(label), style);
  if (isVector && style.compat) printHelixMembers(frame, out, element, style);
  else if (withData) {
    out.byte(44);
    out.append(dataName);
    printMember(frame, out, element, record, { kind: 'data' }, style);
  }
  out.byte(125);
}

/**
 * [compat] Every whole vector has `data` and `score`. HelixDB 2 reads the vectors only of hits and of
 * elements that the request created. It gives vectors that were not searched the greatest distance.
 */
function printHelixMembers(
  frame: Frame,
  out: ByteWriter,
  element: Element,
  style: PrintStyle,
): void {
  const isFound = isHit(element);
  const vector = isFound || element.fresh || style.data ? vectorOf(frame, element) : undefined;
  out.byte(44);
  out.append(dataName);
  if (vector === undefined) out.ascii('[]');
  else printVector(out, vector, printFraction);
  if (!isFound) out.ascii(',"score":2.0');
}

/** Returns true if the element shows the member. Search attributes are omitted when there was no search. */
function isShown(element: Element, member: Member): boolean {
  if (member.kind === 'hops') return element.hops >= 0;
  if (member.kind === 'score') return !Number.isNaN(element.hit.score);
  return member.kind !== 'distance' || !Number.isNaN(element.hit.distance);
}

/** Prints members with names, separated by commas. Returns their number. */
export function printElementMembers(
  frame: Frame,
  out: ByteWriter,
  element: Element,
  record: Uint8Array,
  members: readonly NamedMember[],
  style: PrintStyle,
): number {
  let count = 0;
  for (let i = 0; i < members.length; i++) {
    const { member, name } = members[i]!;
    if (!isShown(element, member)) continue;
    if (count++ > 0) out.byte(44);
    out.append(name);
    printMember(frame, out, element, record, member, style);
  }
  return count;
}

/** Prints the value of one member of an element. A property is its stored fragment. */
export function printMember(
  frame: Frame,
  out: ByteWriter,
  element: Element,
  record: Uint8Array,
  member: Member,
  style: PrintStyle,
): void {
  const { compat, fractions } = style;
  switch (member.kind) {
    case 'property': {
      const { start, end } = fragmentOf(record, member.property.slot);
      if (start === end) {
        printNull(out);
        break;
      }
      const ofFloats = isFloat(member.property.type);
      if (ofFloats) checkFloats(record, start, end);
      if (ofFloats && fractions) appendFractions(out, record, start, end);
      else out.append(record, start, end);
      break;
    }
    case 'id':
      printUuidBytes(out, record, uuidAt.own);
      break;
    case 'label':
      // Type names are ASCII by the grammar.
      out.ascii(`"${frame.view.catalog.label(labelOf(record)).name}"`);
      break;
    case 'from_node':
      printUuidBytes(out, record, uuidAt.from);
      break;
    case 'to_node':
      printUuidBytes(out, record, uuidAt.to);
      break;
    case 'data': {
      const vector = vectorOf(frame, element);
      if (vector) printVector(out, vector, fractions ? printFraction : printNumber);
      else printNull(out);
      break;
    }
    case 'hops':
      printAttribute(out, element.hops < 0 ? Number.NaN : element.hops, false);
      break;
    case 'score':
      printAttribute(out, scoreOf(element, compat), fractions);
      break;
    case 'distance':
      printAttribute(out, element.hit.distance, fractions);
      break;
    case 'hit':
      if (element.hit.found === undefined) printNull(out);
      else printElement(frame, out, element.hit.found, style);
      break;
    case 'none':
      printNull(out);
      break;
  }
}

function printAttribute(out: ByteWriter, value: number, fractions: boolean): void {
  if (Number.isNaN(value)) printNull(out);
  else if (fractions) printFraction(out, value);
  else printNumber(out, value);
}
