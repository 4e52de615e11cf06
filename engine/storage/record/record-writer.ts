// Makes records; their layout is drawn in record.ts. Invariant: fragments of slots that are not
// declared (any more) are carried over from the former record.
import { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { ElementKind } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { printValue } from './fragment.js';
import { fragmentOf, fromOf, kindOf, labelOf, toOf, uuidAt } from './record.js';
import type { PropertyValues, StoredProperty } from '../table/store.js';
import { putWord } from '../table/word.js';

/** What a record says besides its properties. */
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

/** The head of an existing record. */
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

/**
 * The record of an element. `values` replaces all `properties`; other slots keep what `former`
 * holds. Fails VALUE_TOO_LARGE.
 */
export function encodeRecord(
  head: RecordHead,
  properties: readonly StoredProperty[],
  values: PropertyValues,
  limits: Pick<Limits, 'value_bytes' | 'element_bytes'>,
  former?: Uint8Array,
): Uint8Array {
  const bySlot: (StoredProperty | undefined)[] = [];
  for (const property of properties) bySlot[property.slot] = property;
  const slots = Math.max(bySlot.length, former === undefined ? 0 : former[4]! | (former[5]! << 8));
  writer.length = 0;
  const table = writeHead(head, slots);
  for (let slot = 0; slot < slots; slot++) {
    const property = bySlot[slot];
    if (property !== undefined) {
      const value = values.get(property.name);
      if (value !== undefined && value !== null) writeFragment(property, value, limits);
    } else if (former !== undefined) {
      const { start, end } = fragmentOf(former, slot);
      writer.append(former, start, end);
    }
    putWord(writer.bytes, table + 4 * slot, writer.length);
  }
  if (writer.length > limits.element_bytes) {
    const args = { param: 'element', size: writer.length, max: limits.element_bytes };
    fail('VALUE_TOO_LARGE', args, { hint: 'The limit is `limits.element_bytes`.' });
  }
  return writer.take();
}

/** Writes the head and leaves room for the table of ends, whose place is returned. */
function writeHead(head: RecordHead, slots: number): number {
  const table = head.ends ? 64 : 24;
  writer.reserve(table + 4 * slots);
  const { bytes } = writer;
  bytes.fill(0, 0, table);
  bytes[0] = head.label;
  bytes[1] = head.label >>> 8;
  bytes[2] = kindCodes[head.kind];
  bytes[4] = slots;
  bytes[5] = slots >>> 8;
  bytes.set(head.uuid, uuidAt.own);
  if (head.ends) {
    putWord(bytes, 24, head.ends.from);
    putWord(bytes, 28, head.ends.to);
    bytes.set(head.ends.fromUuid, uuidAt.from);
    bytes.set(head.ends.toUuid, uuidAt.to);
  }
  writer.length = table + 4 * slots;
  return table;
}

function writeFragment(
  property: StoredProperty,
  value: Scalar | ScalarList,
  limits: Pick<Limits, 'value_bytes'>,
): void {
  const start = writer.length;
  printValue(writer, value, property.type);
  const max = limits.value_bytes;
  if (writer.length - start <= max) return;
  // Quotes and escapes do not count: the bound is on the text itself.
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
