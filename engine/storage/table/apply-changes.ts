// Puts what another node has changed into the tables of this one. Invariant: values are as they were there,
// under checksums of our own.
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import type { Env } from './env.js';
import { ReplicatedTable } from './replicated-table.js';
import type { VisitChange } from './write-set.js';
import { tableNames } from './table-name.js';

/** What puts one change; inside of a transaction. */
export function changesInto(env: Env): VisitChange {
  const tables = tableNames.map((name) => env[name]);
  return (number, key, value) => {
    const table = tables[number];
    if (table === undefined) fail('FORMAT_TOO_NEW', { found: `table ${number}`, known: '2.1' });
    assert(table instanceof ReplicatedTable, 'the tables are those of a cluster');
    table.apply(key, value);
  };
}
