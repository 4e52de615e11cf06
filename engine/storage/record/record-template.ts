// Builds records of a bulk load on the loader thread, with zeros where only the writer thread knows the
// value. The writer fills them in place. record.ts draws the layout.
import type { ByteWriter } from '../../base/bytes.js';
import { uuidAt } from './record.js';
import type { Label } from '../table/view-types.js';
import { putWord } from '../table/little-endian.js';

const kindCodes = { node: 0, edge: 1, vector: 2 } as const;

/**
 * Writes the head of a record of `slots` properties; returns the offset of its table of ends. The caller
 * appends the fragments and writes each end into the table, counted from the record's start.
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

/** A range of bytes that begins at `start`: a record in a batch, or a uuid in a record. */
export interface BytesAt {
  bytes: Uint8Array;
  start: number;
}

/** Fills one endpoint of an edge: its id and its uuid. */
export function fillEnd(record: BytesAt, end: 'from' | 'to', id: number, uuid: BytesAt): void {
  const { bytes, start } = record;
  putWord(bytes, start + (end === 'from' ? 24 : 28), id);
  const at = start + uuidAt[end];
  for (let i = 0; i < 16; i++) bytes[at + i] = uuid.bytes[uuid.start + i]!;
}
