// Shared by the parts of `check`: the report, the summary of the records, and a reader that skips damaged
// entries.
import { TrellisError } from '../../base/errors.js';
import type { Table } from '../table/env.js';
import type { AdjacencyKey, BlockKey } from '../table/keys.js';

export interface Violation {
  /** Number in the table of invariants, such as `I3`. */
  invariant: string;
  what: string;
}

export interface Report {
  add(invariant: string, what: string): void;
}

/** Summary of all elements, collected in one pass over the records. */
export interface RecordSummary {
  labels: Map<number, number>;
  counts: Map<number, number>;
  edges: number;
  vectors: number;
  /** Number of set values by index id. */
  values: Map<number, number>;
}

const entriesPerRead = 1024;

/** Runs a part of the check. A damaged value ends this part and is reported. */
export function guarded(report: Report, part: () => void): void {
  try {
    part();
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    report.add('I15', error.message);
  }
}

/** Returns undefined for a damaged value too: the pass over the table has reported it already. */
export function peekSound<K>(table: Table<K>, key: K): Uint8Array | undefined {
  try {
    return table.peek(key);
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return undefined;
  }
}

/** Yields every entry of a key range. An entry that fails its checksum is reported and skipped. */
function* entriesOf<K>(
  table: Table<K>,
  start: K,
  end: K,
  report: Report,
): Generator<{ key: K; value: Uint8Array }> {
  let from = start;
  let isFirst = true;
  for (;;) {
    const keys = table.keys({ start: from, end, limit: entriesPerRead + 1 });
    for (const key of isFirst ? keys : keys.slice(1)) {
      try {
        yield { key, value: table.get(key)! };
      } catch (error) {
        if (!(error instanceof TrellisError)) throw error;
        report.add('I15', error.message);
      }
    }
    if (keys.length <= entriesPerRead) return;
    from = keys[keys.length - 1]!;
    isFirst = false;
  }
}

const [lowBytes, topBytes] = [Uint8Array.of(0), new Uint8Array(64).fill(255)];
const [lowList, topList] = [
  { id: 0, label: 0, chunk: 0 },
  { id: 0xffffffff, label: 0xffff, chunk: 0xffffffff },
];

/** Iterators over all entries of a table. */
export const everyEntry = {
  within: (table: Table<Uint8Array>, start: Uint8Array, end: Uint8Array, report: Report) =>
    entriesOf(table, start, end, report),
  bytes: (table: Table<Uint8Array>, report: Report) => entriesOf(table, lowBytes, topBytes, report),
  ids: (table: Table<number>, report: Report) => entriesOf(table, 0, 0xffffffff, report),
  lists: (table: Table<AdjacencyKey>, report: Report) => entriesOf(table, lowList, topList, report),
  blocks: (table: Table<BlockKey>, report: Report) =>
    entriesOf(table, { label: 0, block: 0 }, { label: 0xffff, block: 0xffffffff }, report),
  log: (table: Table<number>, report: Report) =>
    entriesOf(table, 0, Number.MAX_SAFE_INTEGER, report),
};
