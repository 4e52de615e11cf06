// What the parts of `check` share: where faults go, what the records say, and how entries are read past damaged ones.
import { TrellisError } from '../base/errors.js';
import type { Table } from './env.js';

export interface Violation {
  /** `I3`, as in the table of invariants. */
  invariant: string;
  what: string;
}

export interface Report {
  add(invariant: string, what: string): void;
}

/** What the elements say, collected in one pass over the records. */
export interface Census {
  labels: Map<number, number>;
  counts: Map<number, number>;
  edges: number;
  vectors: number;
  /** Set values per index id. */
  values: Map<number, number>;
}

const entriesPerRead = 1024;

/** Every entry of a span; one that fails its checksum is reported and left out. */
export function* entriesOf<K>(
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
