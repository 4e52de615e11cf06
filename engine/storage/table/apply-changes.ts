// Applies the changes of another node to the tables of this one.
// Invariant: values are equal to those of the other node; this node computes their checksums.
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import type { Env } from './env.js';
import { ReplicatedTable } from './replicated-table.js';
import type { VisitChange } from './write-set.js';
import { tableNames } from './table-name.js';

/** Returns a function that applies one change; call it in a transaction. */
export function changesInto(env: Env): VisitChange {
  const tables = tableNames.map((name) => env[name]);
  return (number, key, value) => {
    const table = tables[number];
    if (table === undefined) fail('FORMAT_TOO_NEW', { found: `table ${number}`, known: '2.1' });
    assert(table instanceof ReplicatedTable, 'the tables are those of a cluster');
    table.apply(key, value);
  };
}
