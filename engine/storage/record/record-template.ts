// Records of a bulk load: made with blanks where only the writer knows what belongs there, filled in
// place. Their layout is drawn in record.ts.
import type { ByteWriter } from '../../base/bytes.js';
import { uuidAt } from './record.js';
import type { Label } from '../table/view-types.js';
import { putWord } from '../table/little-endian.js';

const kindCodes = { node: 0, edge: 1, vector: 2 } as const;

/**
 * Writes the head of a record of `slots` properties; gives the place of its table of ends. The
 * caller appends the fragments and notes each end in the table, counted from the record's start.
 */
export function beginRecord(writer: ByteWriter, label: Label, slots: number): number {
  const start = writer.length;
  const table = label.kind === 'edge' ? 64 : 24;
  writer.reserve(table + 4 * slots);
  const { bytes } = writer;
  bytes.fill(0, start, start + table);
  bytes[start] = label.id;
  bytes[start + 1] = label.id >>> 8;
  bytes[start + 2] = kindCodes[label.kind];
  bytes[start + 4] = slots;
  bytes[start + 5] = slots >>> 8;
  writer.length = start + table + 4 * slots;
  return start + table;
}

/** Bytes among others: a record in a batch, a uuid in a record. */
export interface Place {
  bytes: Uint8Array;
  start: number;
}

/** Fills one end of an edge: its id, and its uuid. */
export function fillEnd(record: Place, end: 'from' | 'to', id: number, uuid: Place): void {
  const { bytes, start } = record;
  putWord(bytes, start + (end === 'from' ? 24 : 28), id);
  const at = start + uuidAt[end];
  for (let i = 0; i < 16; i++) bytes[at + i] = uuid.bytes[uuid.start + i]!;
}
