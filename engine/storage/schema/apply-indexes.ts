// Adapts the data to a changed catalog: refuses conflicting data, drops and fills indexes, verifies new
// uniqueness. All of it runs in the caller's transaction, which is undone completely if this throws.
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { checkIntegrity } from '../../base/integrity.js';
import { readAdjacency } from '../graph/adjacency.js';
import { catalogOf } from '../catalog/catalog.js';
import type { StoredCatalog } from '../catalog/catalog-record.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import { scanList } from '../graph/label-bitmap.js';
import { valueSize } from '../index/index-entry.js';
import { indexStart, prefixOf } from '../index/index-key.js';
import { indexKeys } from '../index/index-scan.js';
import { addEntry } from '../index/property-index.js';
import { isTaken } from '../index/unique-value.js';
import { decodeProperty, fragmentOf, fromOf, uuidAt } from '../record/record.js';
import type { SchemaChange } from './schema-diff.js';
import { type Conflict, printRefusal } from './schema-conflicts.js';
import type { Label, StoredProperty } from '../table/view-types.js';
import type { WriteContext } from '../view/write-context.js';

/** Largest number of ids in an error message. */
const namedIds = 100;
const keysPerRead = 1024;

export interface ApplyContext {
  env: Env;
  log: UndoLog;
  /** Longest value of an index, in bytes. */
  indexKeyBytes: number;
}

/**
 * Fails SCHEMA_INCOMPATIBLE if the data contain elements that conflict with the change. `version`: schema
 * version of the data.
 */
export function checkConflicts(env: Env, conflicts: readonly Conflict[], version: number): void {
  const met = conflicts.filter((conflict) => exists(env, conflict));
  if (met.length === 0) return;
  const { what, hint } = printRefusal(met, version);
  fail('SCHEMA_INCOMPATIBLE', { what }, { hint });
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
  checkIntegrity(record, 'a listed element is missing');
  return record;
}

/**
 * Adapts the dimensions of vector types to the configuration. A type with vectors of another dimension fails
 * SCHEMA_INCOMPATIBLE; an empty type drops its dimension. Returns whether a type drops it; with `keep:
 * false`, nothing is changed.
 */
export function settleDimensions(
  { totals, vectorTypes }: Pick<WriteContext, 'totals' | 'vectorTypes'>,
  { labels }: StoredCatalog,
  { keep }: { keep: boolean },
): boolean {
  let isChanged = false;
  for (const { id, name, kind, isDeclared } of labels) {
    const { count, dimension } = totals.of(id);
    const wanted = vectorTypes[name]?.dimensions;
    if (kind !== 'vector' || !isDeclared || wanted === undefined) continue;
    if (dimension === 0 || dimension === wanted) continue;
    if (count > 0) {
      const what = `${name} holds vectors of ${dimension} numbers, not ${wanted}.`;
      const hint = `Set vectors.${name}.dimensions to ${dimension}, or drop the vectors first.`;
      fail('SCHEMA_INCOMPATIBLE', { what }, { hint });
    }
    isChanged = true;
    if (keep) totals.change(id, { dimension: 0 });
  }
  return isChanged;
}

/** Drops, fills and verifies indexes as the change requires. */
export function applyIndexes(context: ApplyContext, change: SchemaChange): void {
  const catalog = catalogOf(change.catalog);
  const find = (label: number, indexId: number): [Label, StoredProperty] => {
    const owner = catalog.label(label);
    const property = owner.properties.find((p) => p.indexId === indexId);
    assert(property, 'an index belongs to a declared property');
    return [owner, property];
  };
  for (const indexId of change.drops) dropIndex(context, indexId);
  for (const { label, indexId } of change.builds) buildIndex(context, ...find(label, indexId));
  for (const { label, indexId } of change.uniqueIndexes) {
    checkUniqueIndex(context.env, ...find(label, indexId));
  }
  for (const label of change.uniqueEdges) checkUniqueEdges(context.env, catalog.label(label));
}

function dropIndex({ env, log }: ApplyContext, indexId: number): void {
  const span = { start: indexStart(indexId), end: indexStart(indexId + 1), limit: keysPerRead };
  for (;;) {
    const keys = env.index.keys(span);
    for (const key of keys) log.remove(env.index, key);
    if (keys.length < keysPerRead) return;
  }
}

function buildIndex(
  { env, log, indexKeyBytes }: ApplyContext,
  label: Label,
  property: StoredProperty,
): void {
  const violations = new Violations(env, `${label.name}.${property.name}`);
  for (const ids of scanList(env.labels, label.id)) {
    for (const id of ids) {
      const value = decodeProperty(recordOf(env, id), property);
      if (value === null) continue;
      const prefix = prefixOf(property, value);
      if (valueSize(prefix.length, property) > indexKeyBytes) {
        violations.add('a value too long to index', id);
      } else if (property.index === 'unique' && isTaken(env.index, prefix))
        violations.add('a value that another element has', id);
      else addEntry(log, env.index, prefix, id);
    }
  }
  violations.refuse();
}

function checkUniqueIndex(env: Env, label: Label, property: StoredProperty): void {
  const violations = new Violations(env, `${label.name}.${property.name}`);
  const [start, end] = [indexStart(property.indexId), indexStart(property.indexId + 1)];
  let last: Uint8Array | undefined;
  for (const { prefix, ids } of indexKeys(env.index, start, end)) {
    const isSame = last !== undefined && Buffer.compare(prefix, last) === 0;
    for (const id of ids.subarray(isSame ? 0 : 1))
      violations.add('a value that another element has', id);
    if (ids.length > 0) last = prefix;
  }
  violations.refuse();
}

function checkUniqueEdges(env: Env, label: Label): void {
  const violations = new Violations(env, `E::${label.name}`);
  const seen = new Set<number>();
  for (const ids of scanList(env.labels, label.id)) {
    for (const id of ids) {
      const from = fromOf(recordOf(env, id));
      if (seen.has(from)) continue;
      seen.add(from);
      const pairs = readAdjacency(env.out, from, label.id);
      const ends = new Set<number>();
      for (let i = 0; i < pairs.length; i += 2) {
        if (ends.has(pairs[i + 1]!))
          violations.add('a second edge between the same ends', pairs[i]!);
        ends.add(pairs[i + 1]!);
      }
    }
  }
  violations.refuse();
}

/** Collects violating elements and refuses the change if there are any. */
export class Violations {
  readonly #ids = new Map<string, string[]>();

  constructor(
    private readonly env: Env,
    private readonly where: string,
  ) {}

  add(what: string, id: number): void {
    const ids = this.#ids.get(what) ?? [];
    this.#ids.set(what, ids);
    if (ids.length < namedIds) ids.push(printUuid(recordOf(this.env, id), uuidAt.own));
  }

  refuse(): void {
    if (this.#ids.size === 0) return;
    const parts = [...this.#ids].map(([what, ids]) => `${what}: ${ids.join(', ')}`);
    const what = `${this.where} holds ${parts.join('; ')}.`;
    const hint = 'Change these elements with the old sources first, or weaken the declaration.';
    fail('SCHEMA_INCOMPATIBLE', { what }, { hint });
  }
}
