// What the parts of `check` share: where faults go, what the records say, and how entries are read
// past damaged ones.
import { TrellisError } from '../../base/errors.js';
import type { Table } from '../table/env.js';
import type { AdjacencyKey, BlockKey } from '../table/keys.js';

export interface Violation {
  /** `I3`, as in the table of invariants. */
  invariant: string;
  what: string;
}

export interface Report {
  add(invariant: string, what: string): void;
}

/** What the elements say, collected in one pass over the records. */
export interface RecordSummary {
  labels: Map<number, number>;
  counts: Map<number, number>;
  edges: number;
  vectors: number;
  /** Set values per index id. */
  values: Map<number, number>;
}

const entriesPerRead = 1024;

/** Runs a part of the check; a damaged value in its way is reported, the part ends there. */
export function guarded(report: Report, part: () => void): void {
  try {
    part();
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    report.add('I15', error.message);
  }
}

/** A value that is damaged counts as missing: reading the table itself has reported it. */
export function peekSound<K>(table: Table<K>, key: K): Uint8Array | undefined {
  try {
    return table.peek(key);
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return undefined;
  }
}

/** Every entry of a span; one that fails its checksum is reported and left out. */
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

/** Every entry of a table. */
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
