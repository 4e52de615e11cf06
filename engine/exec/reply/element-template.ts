// Prints elements as JSON by concatenation. The constant text between the parts of a record, including names
// and label, is joined once per label. Printing alternates between constants and fragments of the record, in
// space that is reserved once per element.
import type { ByteWriter } from '../../base/bytes.js';
import { isFloat } from '../../storage/record/fragment.js';
import { fragmentsOf, uuidAt } from '../../storage/record/record.js';
import { checkFloats } from '../../storage/record/stored-float.js';
import type { Label } from '../../storage/table/view-types.js';
import { getWord } from '../../storage/table/little-endian.js';
import type { Member } from '../runtime/member.js';
import { appendFractions } from './print-compat-float.js';

const encoder = new TextEncoder();

/** Marks a constant that no slot of the record follows. */
const nothing = -1;
const ownId = -2;
const fromId = -3;
const toId = -4;

/** Constant text, then a fragment of the record, one of its uuids, or nothing. */
interface Segment {
  text: Uint8Array;
  part: number;
  /** The fragment consists of floats. */
  float: boolean;
}

export interface Layout {
  segments: readonly Segment[];
  /** Maximum bytes of an element in addition to its record. */
  room: number;
  /** True if there are floats that print with a fraction. */
  fractions: boolean;
}

/** Returns the members of elements without search attributes. */
export function layoutMembers(
  members: readonly { text: string; member: Member }[],
): { name: string; member: Member }[] {
  return members
    .filter(({ member }) => !['hops', 'score', 'distance'].includes(member.kind))
    .map(({ text, member }) => ({ name: text, member }));
}

const uuidBytes = 38;
const nullBytes = 4;

/**
 * Returns the template of an object with these members. Returns undefined when a member is not in the record.
 * With `fractions`, floats print with a fraction.
 */
export function layoutOf(
  label: Label,
  members: readonly { name: string; member: Member }[],
  fractions: boolean,
): Layout | undefined {
  const segments: Segment[] = [];
  let text = '{';
  let comma = '';
  for (const { name, member } of members) {
    text += `${comma}${JSON.stringify(name)}:`;
    comma = ',';
    if (member.kind === 'label') text += `"${label.name}"`;
    else if (member.kind === 'none') text += 'null';
    else {
      const part = partOf(member);
      if (part === nothing) return undefined;
      const float = member.kind === 'property' && isFloat(member.property.type);
      segments.push({ text: encoder.encode(text), part, float });
      text = '';
    }
  }
  segments.push({ text: encoder.encode(`${text}}`), part: nothing, float: false });
  const constants = segments.reduce((sum, segment) => sum + segment.text.length, 0);
  const room = constants + segments.length * uuidBytes;
  return { segments, room, fractions: fractions && segments.some(({ float }) => float) };
}

function partOf(member: Member): number {
  switch (member.kind) {
    case 'property':
      return member.property.slot;
    case 'id':
      return ownId;
    case 'from_node':
      return fromId;
    case 'to_node':
      return toId;
    default:
      return nothing;
  }
}

const uuidOffset = (part: number): number =>
  part === ownId ? uuidAt.own : part === fromId ? uuidAt.from : uuidAt.to;

/** The two hexadecimal digits of every byte. */
const hexPairs = encoder.encode(
  Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''),
);

/** Up to this many bytes, a loop copies faster than a call. */
const shortCopy = 48;

function copy(from: Uint8Array, start: number, end: number, bytes: Uint8Array, to: number): number {
  if (end - start <= shortCopy) {
    let at = to;
    for (let i = start; i < end; i++) bytes[at++] = from[i]!;
    return at;
  }
  bytes.set(from.subarray(start, end), to);
  return to + end - start;
}

/** Like `copy`, for a fragment of floats. A non-finite number contains one of these letters. */
function copyFloats(
  from: Uint8Array,
  start: number,
  end: number,
  bytes: Uint8Array,
  to: number,
): number {
  if (end - start > shortCopy) {
    checkFloats(from, start, end);
    return copy(from, start, end, bytes, to);
  }
  let at = to;
  let isNumber = true;
  for (let i = start; i < end; i++) {
    const byte = from[i]!;
    if (byte === 73 || byte === 78) isNumber = false;
    bytes[at++] = byte;
  }
  if (!isNumber) checkFloats(from, start, end);
  return at;
}

/** Writes a uuid as a JSON string. The buffer must have enough space. */
export function writeUuid(record: Uint8Array, from: number, bytes: Uint8Array, to: number): number {
  let at = to;
  bytes[at++] = 34;
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) bytes[at++] = 45;
    const digits = 2 * record[from + i]!;
    bytes[at++] = hexPairs[digits]!;
    bytes[at++] = hexPairs[digits + 1]!;
  }
  bytes[at++] = 34;
  return at;
}

export function printLayout(out: ByteWriter, record: Uint8Array, layout: Layout): void {
  if (layout.fractions) {
    printFractions(out, record, layout);
    return;
  }
  const { segments, room } = layout;
  out.reserve(room + record.length);
  const { bytes } = out;
  let to = out.length;
  const { table, slots } = fragmentsOf(record);
  for (let i = 0; i < segments.length; i++) {
    const { text, part, float } = segments[i]!;
    to = copy(text, 0, text.length, bytes, to);
    if (part < 0) {
      if (part !== nothing) to = writeUuid(record, uuidOffset(part), bytes, to);
      continue;
    }
    const end = part < slots ? getWord(record, table + 4 * part) : 0;
    const start = part === 0 ? table + 4 * slots : getWord(record, table + 4 * part - 4);
    if (end > start) {
      to = (float ? copyFloats : copy)(record, start, end, bytes, to);
    } else to = copy(nullText, 0, nullBytes, bytes, to);
  }
  out.length = to;
}

const nullText = encoder.encode('null');

/** Like `printLayout`, for labels with floats under [compat]. */
function printFractions(out: ByteWriter, record: Uint8Array, { segments }: Layout): void {
  const { table, slots } = fragmentsOf(record);
  for (const { text, part, float } of segments) {
    out.append(text);
    if (part < 0) {
      if (part === nothing) continue;
      out.reserve(uuidBytes);
      out.length = writeUuid(record, uuidOffset(part), out.bytes, out.length);
      continue;
    }
    const end = part < slots ? getWord(record, table + 4 * part) : 0;
    const start = part === 0 ? table + 4 * slots : getWord(record, table + 4 * part - 4);
    if (end <= start) out.append(nullText);
    else if (float) {
      checkFloats(record, start, end);
      appendFractions(out, record, start, end);
    } else out.append(record, start, end);
  }
}
