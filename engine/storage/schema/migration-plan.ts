// Plans one migration on the catalog alone: the label that every mapped type becomes, and the catalog before
// and after. Pure; migration.ts rewrites the elements.
//
// A type mapped to a free name keeps its label id, so only its records change. A type mapped to the name of
// another type is merged into that type: its elements move to the other label.
// Invariant: no two labels of a kind have one name.
import type { Migration, TypeMigration } from '../../base/migration-rule.js';
import type { Schema, TypeRef } from '../../base/schema.js';
import { fail } from '../../base/errors.js';
import type { CatalogLabel, StoredCatalog } from '../catalog/catalog-record.js';
import { type SchemaChange, compareSchema } from './schema-diff.js';

export interface Move {
  mapping: TypeMigration;
  /** Label ids, equal unless elements move. */
  from: number;
  to: number;
}

export interface MigrationPlan {
  moves: Move[];
  change: SchemaChange;
}

const keyOf = ({ kind, name }: TypeRef): string => `${kind} ${name}`;

/** Plans the step from `stored` to `target`, the schema of the migration's version. */
export function planMigration(
  stored: StoredCatalog,
  migration: Migration,
  target: Schema,
): MigrationPlan {
  const moves = movesOf(stored, migration.types);
  const mapped = new Set(moves.flatMap(({ from, to }) => [from, to]));
  const drops: number[] = [];
  const renamed: StoredCatalog = {
    ...stored,
    labels: stored.labels
      .filter((label) => !moves.some((move) => move.from === label.id && move.to !== label.id))
      .map((label) => prepare(label, moves, mapped, drops)),
  };
  // Labels without elements are removed, but their indexes must be dropped too.
  for (const label of stored.labels) {
    if (renamed.labels.some(({ id }) => id === label.id)) continue;
    for (const { indexId } of label.fields) if (indexId !== 0) drops.push(indexId);
  }
  const change = compareSchema(renamed, target);
  change.catalog.version = migration.toVersion;
  change.drops.push(...drops);
  // Migrations unset values that they do not copy, so such values are no conflict.
  change.conflicts = change.conflicts.filter(({ kind }) => kind === 'elements');
  for (const label of change.catalog.labels) {
    if (mapped.has(label.id)) label.fields = label.fields.filter((field) => field.isDeclared);
  }
  change.texts = change.texts.filter((label) => !mapped.has(label));
  // A merged edge may have the same endpoints as an edge of the target type.
  for (const { from, to } of moves) {
    const label = change.catalog.labels.find(({ id }) => id === to);
    const isMerged = from !== to && label?.unique === true;
    if (isMerged && !change.uniqueEdges.includes(to)) change.uniqueEdges.push(to);
  }
  return { moves, change };
}

function movesOf(stored: StoredCatalog, types: readonly TypeMigration[]): Move[] {
  const byKey = new Map(stored.labels.map((label) => [keyOf(label), label]));
  const leaving = new Set(
    types
      .filter(({ from, to }) => from !== to)
      .map(({ kind, from }) => keyOf({ kind, name: from })),
  );
  const targets = new Map<string, number>();
  for (const [key, label] of byKey) if (!leaving.has(key)) targets.set(key, label.id);
  const moves: Move[] = [];
  for (const mapping of types) {
    const source = byKey.get(keyOf({ kind: mapping.kind, name: mapping.from }));
    // A declared type that was never in this database has no elements to rewrite.
    if (!source) continue;
    const key = keyOf({ kind: mapping.kind, name: mapping.to });
    const to = targets.get(key) ?? source.id;
    if (moves.some((move) => move.from === source.id)) {
      fail('SCHEMA_INCOMPATIBLE', { what: `The migration maps ${mapping.from} twice.` });
    }
    targets.set(key, to);
    moves.push({ mapping, from: source.id, to });
  }
  return moves;
}

/**
 * Returns a label under its new name, with endpoints that follow merged types. The indexes of mapped types
 * are rebuilt.
 */
function prepare(
  label: CatalogLabel,
  moves: readonly Move[],
  mapped: ReadonlySet<number>,
  drops: number[],
): CatalogLabel {
  const move = moves.find(({ from, to }) => from === label.id && to === label.id);
  const endOf = (id: number): number => moves.find(({ from }) => from === id)?.to ?? id;
  const prepared = { ...label, name: move?.mapping.to ?? label.name };
  if (label.from !== undefined) prepared.from = endOf(label.from);
  if (label.to !== undefined) prepared.to = endOf(label.to);
  if (!mapped.has(label.id)) return prepared;
  prepared.fields = label.fields.map((field) => {
    if (field.indexId !== 0) drops.push(field.indexId);
    return { ...field, index: 'none' as const, indexId: 0 };
  });
  return prepared;
}
