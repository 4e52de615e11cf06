// Applies the declarations of a compiled program to the store in one durable transaction: first the
// migrations, then all additive changes.
// Invariant: afterwards the stored catalog is that of the schema, or this has thrown and nothing has changed.
import { TrellisError, errorHint, errorMessage, fail } from '../../base/errors.js';
import type { Schema } from '../../base/schema.js';
import { checkIntegrity } from '../../base/integrity.js';
import { type FullCatalog, catalogOf } from '../catalog/catalog.js';
import {
  type StoredCatalog,
  fingerprint,
  readCatalog,
  writeCatalog,
} from '../catalog/catalog-record.js';
import { type DocumentIndex, textsOf } from '../record/text-document.js';
import type { Env } from '../table/env.js';
import { scanList } from '../graph/label-bitmap.js';
import type { Migration } from '../../base/migration-rule.js';
import { planMigration } from './migration-plan.js';
import { rewriteElements } from './migration.js';
import { metaKey, readTotal } from '../table/meta.js';
import { isAdditive } from './schema-additive.js';
import { applyIndexes, checkConflicts, settleDimensions } from './apply-indexes.js';
import { changeLines, migrationLines } from './schema-diff-text.js';
import { type SchemaChange, compareSchema } from './schema-diff.js';
import { LmdbWriteView } from '../view/write-view.js';
import type { Writer } from '../view/writer.js';

/** The declarations of a compiled program. A Program implements it. */
export interface Declarations {
  schema: Schema;
  olderSchemas: readonly Schema[];
  migrations: readonly Migration[];
}

export interface SchemaOptions {
  /** Value of `NOW` in migrations, in milliseconds since the epoch. */
  nowMs: number;
  /** Keyword index to update; absent when keyword search is off. */
  text?: DocumentIndex | undefined;
  /** Cluster only: the packed sources of the program, which are stored with the data. */
  sources?: Uint8Array | undefined;
  /**
   * Called before a transaction that changes more than it adds. The transaction may still be refused. Code
   * compiled for the former catalog would misread the data after it.
   */
  onChange?: () => void;
}

/** What applying a schema would do to stored data. */
export interface SchemaPreview {
  /** `refused`: nothing would change, and a server would not start. */
  status: 'same' | 'compatible' | 'migrates' | 'refused';
  /** Schema versions of the data and of the sources. */
  from: number;
  to: number;
  /** One line per change, in order. */
  changes: string[];
  refusal?: { message: string; hint?: string };
}

/** Applies the declarations in a transaction and undoes it. The result is what a start would do or refuse. */
export function previewSchema(
  writer: Writer,
  declarations: Declarations,
  nowMs: number,
): SchemaPreview {
  const { env } = writer.context;
  env.refresh();
  const stored = readCatalog(env.meta);
  const steps = stored.labels.length === 0 ? [] : migrationsFrom(stored.version, declarations);
  const plain = compareSchema(stored, declarations.schema);
  const { version: from } = stored;
  const changes: string[] = [];
  const preview = { from, to: Math.max(from, declarations.schema.version), changes };
  if (steps.length === 0 && fingerprint(plain.catalog) === fingerprint(stored)) {
    return { status: 'same', ...preview };
  }
  try {
    changes.push(...linesOf(env, stored, steps, declarations));
    const trial = { nowMs, text: undefined };
    writer.transact(() => void migrateAll(writer, stored, steps, declarations, trial), {
      keep: false,
    });
  } catch (error) {
    if (!(error instanceof TrellisError) || error.code !== 'SCHEMA_INCOMPATIBLE') throw error;
    const hint = errorHint(error.data);
    const refusal = { message: errorMessage(error.data), ...(hint && { hint }) };
    return { status: 'refused', ...preview, refusal };
  }
  return { status: steps.length > 0 ? 'migrates' : 'compatible', ...preview };
}

/** Returns one line per change: migration by migration, then the changes on load. */
function linesOf(
  { meta }: Env,
  stored: StoredCatalog,
  steps: readonly Migration[],
  declarations: Declarations,
): string[] {
  const lines: string[] = [];
  const count = (label: number): number => readTotal(meta, label).count;
  let catalog = stored;
  for (const migration of steps) {
    lines.push(...migrationLines(catalog, migration, count));
    const { moves, change } = planMigration(catalog, migration, targetOf(migration, declarations));
    const mapped = new Set(moves.flatMap(({ from, to }) => [from, to]));
    lines.push(...changeLines(catalog, change, count, mapped));
    catalog = change.catalog;
  }
  return [...lines, ...changeLines(catalog, compareSchema(catalog, declarations.schema), count)];
}

/** Applies the declarations. Returns the new catalog. Fails SCHEMA_INCOMPATIBLE. */
export function applySchema(
  writer: Writer,
  declarations: Declarations,
  options: SchemaOptions,
): FullCatalog {
  const { env } = writer.context;
  env.refresh();
  const stored = readCatalog(env.meta);
  const steps = stored.labels.length === 0 ? [] : migrationsFrom(stored.version, declarations);
  const plain = compareSchema(stored, declarations.schema);
  const isSame = steps.length === 0 && fingerprint(plain.catalog) === fingerprint(stored);
  const isSourceStored = options.sources === undefined || isStored(env, options.sources);
  if (isSame && isSourceStored && !settleDimensions(writer.context, stored, { keep: false })) {
    return catalogOf(stored);
  }
  if (steps.length > 0 || !isAdditive(stored, plain.catalog)) options.onChange?.();
  let catalog = stored;
  writer.transact(() => {
    if (!isSame) catalog = migrateAll(writer, stored, steps, declarations, options);
    settleDimensions(writer.context, catalog, { keep: true });
    if (!isSourceStored) env.meta.put(metaKey.sources, options.sources!);
  });
  return catalogOf(catalog);
}

const isStored = ({ meta }: Env, sources: Uint8Array): boolean =>
  Buffer.compare(meta.get(metaKey.sources) ?? Buffer.alloc(0), sources) === 0;

/** Runs all migrations and additive changes in the caller's transaction. */
function migrateAll(
  writer: Writer,
  stored: StoredCatalog,
  steps: readonly Migration[],
  declarations: Declarations,
  options: SchemaOptions,
): StoredCatalog {
  let catalog = stored;
  for (const migration of steps) {
    catalog = migrate(writer, catalog, migration, targetOf(migration, declarations), options);
  }
  const change = compareSchema(catalog, declarations.schema);
  apply(writer, catalog, change, options);
  writeCatalog(writer.context.env.meta, change.catalog);
  return change.catalog;
}

/** Returns the sequence of migrations from a version upward. */
function migrationsFrom(version: number, { migrations, schema }: Declarations): Migration[] {
  const chain: Migration[] = [];
  for (let at = version; at < schema.version; ) {
    const next = migrations.find(
      ({ fromVersion, toVersion }) => fromVersion === at && toVersion > at,
    );
    if (!next) break;
    chain.push(next);
    at = next.toVersion;
  }
  return chain;
}

function targetOf({ toVersion }: Migration, { schema, olderSchemas }: Declarations): Schema {
  const target = [schema, ...olderSchemas].find(({ version }) => version === toVersion);
  if (!target) fail('SCHEMA_INCOMPATIBLE', { what: `schema::${toVersion} is not declared.` });
  return target;
}

function migrate(
  writer: Writer,
  stored: StoredCatalog,
  migration: Migration,
  target: Schema,
  options: SchemaOptions,
): StoredCatalog {
  const { context } = writer;
  const { moves, change } = planMigration(stored, migration, target);
  checkConflicts(context.env, change.conflicts, stored.version);
  const [before, after] = [catalogOf(stored), catalogOf(change.catalog)];
  const view = new LmdbWriteView(context, after, options.nowMs);
  const { nowMs, text } = options;
  rewriteElements({ context, view, before, after, nowMs, text }, moves);
  apply(writer, stored, { ...change, conflicts: [] }, options);
  return change.catalog;
}

function apply(
  { context }: Writer,
  former: StoredCatalog,
  change: SchemaChange,
  { text, nowMs }: SchemaOptions,
): void {
  const { env, log, limits } = context;
  checkConflicts(env, change.conflicts, former.version);
  applyIndexes({ env, log, indexKeyBytes: limits.index_key_bytes }, change);
  if (!text) return;
  const [before, after] = [catalogOf(former), catalogOf(change.catalog)];
  const view = new LmdbWriteView(context, after, nowMs);
  for (const label of change.texts) {
    for (const ids of scanList(env.labels, label)) {
      for (const id of ids) {
        const record = env.records.get(id);
        checkIntegrity(record, 'a listed element is missing');
        const [old, next] = [
          textsOf(before.label(label), record),
          textsOf(after.label(label), record),
        ];
        if (old.length > 0) text.remove(view, label, id, old);
        if (next.length > 0) text.add(view, label, id, next);
      }
    }
  }
}
