// Brings the data in line with a changed catalog: refuses what the data forbids, drops and fills indexes, judges new
// uniqueness. Everything happens in the caller's transaction, which is undone as a whole when this throws.
import { assert } from '../base/assert.js';
import { fail } from '../base/errors.js';
import { printUuid } from '../base/id.js';
import { readAdjacency } from './adjacency.js';
import { type StoredCatalog, catalogOf } from './catalog.js';
import type { ChangeLog } from './change-log.js';
import type { Env } from './env.js';
import { scanList } from './label-list.js';
import { addEntry, idsUnder, indexStart, prefixOf, valueSize } from './property-index.js';
import { decodeProperty, fragmentOf, fromOf, uuidAt } from './record.js';
import type { Conflict, SchemaChange } from './schema-change.js';
import type { Label, StoredProperty } from './store.js';

/** Ids named in a refusal. */
const namedIds = 100;
const keysPerRead = 1024;

export interface ApplyContext {
  env: Env;
  log: ChangeLog;
  /** Longest value of an index in bytes. */
  indexKeyBytes: number;
}

/** Refuses the change when such data exists. */
export function checkConflicts(env: Env, conflicts: readonly Conflict[]): void {
  for (const conflict of conflicts) {
    if (exists(env, conflict)) fail('SCHEMA_INCOMPATIBLE', { what: conflict.what });
  }
}

function exists(env: Env, conflict: Conflict): boolean {
  for (const ids of scanList(env.labels, conflict.label)) {
    if (conflict.kind === 'elements') return true;
    for (const id of ids) {
      const { start, end } = fragmentOf(recordOf(env, id), conflict.slot);
      if (end > start) return true;
    }
  }
  return false;
}

function recordOf(env: Env, id: number): Uint8Array {
  const record = env.records.peek(id);
  assert(record, 'a listed element has a record');
  return record;
}

/** Does to the indexes what the change asks for. */
export function applyIndexes(
  context: ApplyContext,
  catalog: StoredCatalog,
  change: Pick<SchemaChange, 'drops' | 'builds' | 'uniqueIndexes' | 'uniqueEdges'>,
): void {
  const { labels } = catalogOf2(catalog);
  for (const indexId of change.drops) dropIndex(context, indexId);
  for (const { label, indexId } of change.builds) {
    const [owner, property] = labels(label, indexId);
    buildIndex(context, owner, property);
  }
  for (const { label, indexId } of change.uniqueIndexes) {
    const [owner, property] = labels(label, indexId);
    checkUniqueIndex(context, owner, property);
  }
  for (const label of change.uniqueEdges) checkUniqueEdges(context.env, catalogOf(catalog).label(label));
}
