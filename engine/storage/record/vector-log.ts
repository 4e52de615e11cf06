// The vector log: one entry per change of a vector index, in the transaction of the change, numbered without
// gaps.
//
//   key sequence   value  operation u8 (0 put, 1 delete) · zero u8 · label u16 · id u32
//
// The log does not contain the embedding: replay reads the newest one of the element, which is correct once
// the replay is complete.
// Invariant: the sequences trimmed+1 to next-1 are present, and no others.
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import type { VectorChange } from '../table/view-types.js';
import { readVector } from './vector-record.js';
import { getWord, putWord } from '../table/little-endian.js';

const entriesPerRead = 256;

export interface LoggedChange {
  seq: number;
  change: VectorChange;
}

export function logChange(
  log: UndoLog,
  table: Table<number>,
  seq: number,
  { kind, label, id }: Pick<VectorChange, 'kind' | 'label' | 'id'>,
): void {
  const value = new Uint8Array(8);
  value[0] = kind === 'put' ? 0 : 1;
  value[2] = label;
  value[3] = label >>> 8;
  putWord(value, 4, id);
  log.insert(table, seq, value);
}

/**
 * Yields the changes after a sequence, ascending. Skips a put whose element was deleted since: its delete
 * follows.
 */
export function* replayLog(
  tables: { vlog: Table<number>; vectors: Table<number> },
  afterSeq: number,
): Generator<LoggedChange> {
  for (let start = afterSeq + 1; ; ) {
    const entries = tables.vlog.entries({
      start,
      end: Number.MAX_SAFE_INTEGER,
      limit: entriesPerRead,
    });
    for (const { key, value } of entries) {
      const label = value[2]! | (value[3]! << 8);
      const id = getWord(value, 4);
      if (value[0] === 1) yield { seq: key, change: { kind: 'delete', label, id } };
      else {
        const vector = readVector(tables.vectors, id);
        if (vector) yield { seq: key, change: { kind: 'put', label, id, vector } };
      }
    }
    if (entries.length < entriesPerRead) return;
    start = entries[entries.length - 1]!.key + 1;
  }
}
