// Builds records; record.ts draws the layout.
// Invariant: the fragments of slots that are not declared are copied from the former record.
import { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { ElementKind } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { printValue } from './fragment.js';
import { fragmentOf, fromOf, kindOf, labelOf, toOf, uuidAt } from './record.js';
import type { PropertyValues, StoredProperty } from '../table/view-types.js';
import { putWord } from '../table/little-endian.js';

/** Content of a record besides its properties. */
export interface RecordHead {
  label: number;
  kind: ElementKind;
  /** 16 bytes. */
  uuid: Uint8Array;
  ends?: RecordEnds;
}

export interface RecordEnds {
  from: number;
  to: number;
  /** 16 bytes each. */
  fromUuid: Uint8Array;
  toUuid: Uint8Array;
}

const kindCodes: Record<ElementKind, number> = { node: 0, edge: 1, vector: 2 };

/** Returns the head of an existing record. */
export function headOf(record: Uint8Array): RecordHead {
  const kind = kindOf(record);
  const uuid = (at: number): Uint8Array => record.slice(at, at + 16);
  const head: RecordHead = { label: labelOf(record), kind, uuid: uuid(uuidAt.own) };
  if (kind === 'edge') {
    head.ends = {
      from: fromOf(record),
      to: toOf(record),
      fromUuid: uuid(uuidAt.from),
      toUuid: uuid(uuidAt.to),
    };
  }
  return head;
}

const writer = new ByteWriter(4096);

type RecordLimits = Pick<Limits, 'value_bytes' | 'element_bytes'>;

/**
 * Builds the record of an element. `values` replaces all `properties`; other slots keep the fragments of
 * `former`. Fails VALUE_TOO_LARGE.
 */
export function encodeRecord(
  head: RecordHead,
  properties: readonly StoredProperty[],
  values: PropertyValues,
  limits: RecordLimits,
  former?: Uint8Array,
): Uint8Array {
  writer.length = 0;
  appendRecord(writer, head, properties, values, limits, former);
  return writer.take();
}

/** Like `encodeRecord`, appended to a writer. A refused record may leave bytes in it. */
export function appendRecord(
  writer: ByteWriter,
  head: RecordHead,
  properties: readonly StoredProperty[],
  values: PropertyValues,
  limits: RecordLimits,
  former?: Uint8Array,
): void {
  const start = writer.length;
  const bySlot = inSlots(properties);
  const slots = Math.max(bySlot.length, former === undefined ? 0 : former[4]! | (former[5]! << 8));
  const table = writeHead(writer, head, slots);
  for (let slot = 0; slot < slots; slot++) {
    const property = bySlot[slot];
    if (property !== undefined) {
      const value = values.get(property.name);
      if (value !== undefined && value !== null) writeFragment(writer, property, value, limits);
    } else if (former !== undefined) {
      const { start, end } = fragmentOf(former, slot);
      writer.append(former, start, end);
    }
    putWord(writer.bytes, table + 4 * slot, writer.length - start);
  }
  const size = writer.length - start;
  if (size <= limits.element_bytes) return;
  const args = { param: 'element', size, max: limits.element_bytes };
  fail('VALUE_TOO_LARGE', args, { hint: 'The limit is `limits.element_bytes`.' });
}

type Slots = readonly (StoredProperty | undefined)[];

const slotsOf = new WeakMap<readonly StoredProperty[], Slots>();

/** Returns properties by slot, cached by the list of a label's properties. */
function inSlots(properties: readonly StoredProperty[]): Slots {
  const known = slotsOf.get(properties);
  if (known !== undefined) return known;
  const bySlot: (StoredProperty | undefined)[] = [];
  for (const property of properties) bySlot[property.slot] = property;
  slotsOf.set(properties, bySlot);
  return bySlot;
}

/** Writes the head, reserves the table of ends and returns its offset. */
function writeHead(writer: ByteWriter, head: RecordHead, slots: number): number {
  const start = writer.length;
  const table = start + (head.ends ? 64 : 24);
  writer.reserve(table - start + 4 * slots);
  const { bytes } = writer;
  bytes.fill(0, start, table);
  bytes[start] = head.label;
  bytes[start + 1] = head.label >>> 8;
  bytes[start + 2] = kindCodes[head.kind];
  bytes[start + 4] = slots;
  bytes[start + 5] = slots >>> 8;
  putUuid(bytes, start + uuidAt.own, head.uuid);
  if (head.ends) {
    putWord(bytes, start + 24, head.ends.from);
    putWord(bytes, start + 28, head.ends.to);
    putUuid(bytes, start + uuidAt.from, head.ends.fromUuid);
    putUuid(bytes, start + uuidAt.to, head.ends.toUuid);
  }
  writer.length = table + 4 * slots;
  return table;
}

/** Copied in a loop: the checks of `set` cost more than copying sixteen bytes. */
function putUuid(bytes: Uint8Array, at: number, uuid: Uint8Array): void {
  for (let i = 0; i < 16; i++) bytes[at + i] = uuid[i]!;
}

function writeFragment(
  writer: ByteWriter,
  property: StoredProperty,
  value: Scalar | ScalarList,
  limits: Pick<Limits, 'value_bytes'>,
): void {
  const start = writer.length;
  printValue(writer, value, property.type);
  const max = limits.value_bytes;
  if (writer.length - start <= max) return;
  // Quotes and escapes do not count: the limit applies to the string itself.
  const size = typeof value === 'string' ? Buffer.byteLength(value) : writer.length - start;
  if (size <= max) return;
  fail(
    'VALUE_TOO_LARGE',
    { param: property.name, size, max },
    {
      hint: 'The limit is `limits.value_bytes`.',
    },
  );
}
