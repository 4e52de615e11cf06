// Compares the declarations of a schema with the stored catalog (helixql.md 2.7). The result is the new
// catalog, the work on the data, and the conditions that they must meet. Pure; apply-indexes.ts does the
// work.
//
// Invariant: assigned numbers never change. A name that is no longer declared is hidden, never deleted.
import {
  type EdgeType,
  type ElementType,
  type Property,
  type Schema,
  type TypeRef,
  isText,
  printType,
} from '../../base/schema.js';
import { fail } from '../../base/errors.js';
import { packDefault } from '../catalog/catalog.js';
import type { CatalogField, CatalogLabel, StoredCatalog } from '../catalog/catalog-record.js';
import { type Conflict, renameHint } from './schema-conflicts.js';

export interface SchemaChange {
  catalog: StoredCatalog;
  conflicts: Conflict[];
  /** Ids of indexes to delete. */
  drops: number[];
  /** Indexes to fill. */
  builds: { label: number; indexId: number }[];
  /** Indexes and edge labels that became unique while they have data. */
  uniqueIndexes: { label: number; indexId: number }[];
  uniqueEdges: number[];
  /** Labels whose searched properties or their options changed, so that their keyword documents differ. */
  texts: number[];
}

const sameType = (a: Property['type'], b: Property['type']): boolean =>
  printType(a) === printType(b);

/** Returns the options of the searched properties by slot; `null` without `SEARCH`. */
function searchedSlots({ kind, fields }: CatalogLabel): Map<number, string> {
  const texts = fields.filter(({ type, isDeclared }) => isDeclared && isText(type));
  const marked = texts.filter(({ search }) => search !== undefined);
  const searched = kind === 'edge' ? [] : marked.length > 0 ? marked : texts;
  return new Map(searched.map(({ slot, search = null }) => [slot, JSON.stringify(search)]));
}

/** Returns true if the documents of elements that exist differ. They have no value of a new property. */
function changesDocuments(former: CatalogLabel, label: CatalogLabel): boolean {
  const [old, now] = [searchedSlots(former), searchedSlots(label)];
  for (const slot of now.keys()) if (slot >= former.slots) now.delete(slot);
  return old.size !== now.size || [...now].some(([slot, search]) => old.get(slot) !== search);
}

/** Computes the change from `stored` to `schema`. Does not modify the stored catalog. */
export function compareSchema(stored: StoredCatalog, schema: Schema): SchemaChange {
  return new Comparison(stored).run(schema);
}

class Comparison {
  readonly #former: Map<string, CatalogLabel>;
  readonly #change: SchemaChange;

  constructor(private readonly stored: StoredCatalog) {
    this.#former = new Map(stored.labels.map((label) => [keyOf(label), label]));
    this.#change = {
      catalog: { ...stored, labels: [] },
      conflicts: [],
      drops: [],
      builds: [],
      uniqueIndexes: [],
      uniqueEdges: [],
      texts: [],
    };
  }

  run(schema: Schema): SchemaChange {
    const { catalog } = this.#change;
    catalog.version = Math.max(schema.version, this.stored.version);
    // Edge types refer to other labels, so those come first. The catalog keeps this order.
    const types: ElementType[] = [...schema.nodes, ...schema.vectors, ...schema.edges];
    for (const type of types) catalog.labels.push(this.#label(type));
    const declared = new Set(catalog.labels.map(keyOf));
    for (const label of this.stored.labels) {
      if (!declared.has(keyOf(label))) catalog.labels.push(this.#hide(label, catalog.labels));
    }
    return this.#change;
  }

  #label(type: ElementType): CatalogLabel {
    const { catalog } = this.#change;
    const former = this.#former.get(keyOf(type));
    if (!former && catalog.nextLabel >= 0xffff) {
      fail('SCHEMA_INCOMPATIBLE', { what: 'More than 65,534 types were declared over time.' });
    }
    const label: CatalogLabel = {
      id: former?.id ?? catalog.nextLabel++,
      kind: type.kind,
      name: type.name,
      isDeclared: true,
      slots: former?.slots ?? 0,
      fields: [],
    };
    if (type.kind === 'edge') this.#ends(label, type, former);
    this.#fields(label, type.properties, former);
    return label;
  }

  #ends(label: CatalogLabel, type: EdgeType, former: CatalogLabel | undefined): void {
    label.from = this.#idOf(type.from);
    label.to = this.#idOf(type.to);
    label.unique = type.unique;
    if (!former) return;
    if (former.from !== label.from || former.to !== label.to) {
      const what = `The ends of E::${type.name} changed while such edges exist.`;
      const keep = `Keep E::${type.name} as it was and declare the new ends under another name.`;
      const renamed = [former.from, former.to].flatMap((id, at) =>
        this.#renameHint(id, [type.from, type.to][at]!),
      );
      const hint = renamed[0] ?? keep;
      this.#change.conflicts.push({ kind: 'elements', label: label.id, what, hint });
    }
    if (type.unique && !former.unique) this.#change.uniqueEdges.push(label.id);
  }

  /**
   * The MIGRATION to write if the end of an edge type has another name now; empty if its old type is
   * still there.
   */
  #renameHint(formerId: number | undefined, end: TypeRef): string[] {
    const old = this.stored.labels.find(({ id }) => id === formerId);
    const next = this.#change.catalog.labels.find((label) => keyOf(label) === keyOf(end));
    const isRemoved = !this.#change.catalog.labels.some(({ id }) => id === formerId);
    if (old === undefined || next === undefined || !isRemoved || this.#former.has(keyOf(end)))
      return [];
    const names = new Set(old.fields.filter((one) => one.isDeclared).map(({ name }) => name));
    const rules = next.fields.filter(({ name }) => names.has(name));
    return [
      renameHint(
        old,
        next,
        rules.map(({ name }) => name),
        this.stored.version,
      ),
    ];
  }

  #idOf(ref: TypeRef): number {
    const end = this.#change.catalog.labels.find((label) => keyOf(label) === keyOf(ref));
    if (!end)
      fail('SCHEMA_INCOMPATIBLE', {
        what: `An edge type ends at ${ref.name}, which is not declared.`,
      });
    return end.id;
  }

  #fields(label: CatalogLabel, properties: readonly Property[], former?: CatalogLabel): void {
    const retained = new Set<CatalogField>();
    for (const property of properties) {
      const old = former?.fields.find((field) => field.name === property.name);
      const same = old && sameType(old.type, property.type) ? old : undefined;
      if (old) retained.add(old);
      if (old && !same) this.#retype(label, old, property);
      label.fields.push(this.#field(label, property, same));
    }
    for (const old of former?.fields ?? []) {
      if (retained.has(old)) continue;
      if (old.indexId !== 0) this.#change.drops.push(old.indexId);
      label.fields.push({ ...old, index: 'none', indexId: 0, isDeclared: false });
    }
    if (former && changesDocuments(former, label)) this.#change.texts.push(label.id);
  }

  /** The old values are in another slot and can no longer be read, so there must be none. */
  #retype(label: CatalogLabel, old: CatalogField, property: Property): void {
    const retype = { owner: label, property: old.name, from: old.type, to: property.type };
    this.#change.conflicts.push({ kind: 'values', label: label.id, slot: old.slot, retype });
    if (old.indexId !== 0) this.#change.drops.push(old.indexId);
  }

  #field(label: CatalogLabel, property: Property, same: CatalogField | undefined): CatalogField {
    const { name, type, index, search } = property;
    const packed = packDefault(property.default);
    const slot = same?.slot ?? label.slots++;
    const field: CatalogField = { name, type, slot, index, indexId: 0, isDeclared: true };
    if (packed) field.default = packed;
    if (search) field.search = search;
    const formerId = same?.indexId ?? 0;
    if (index === 'none') {
      if (formerId !== 0) this.#change.drops.push(formerId);
      return field;
    }
    field.indexId = formerId || this.#change.catalog.nextIndex++;
    const entry = { label: label.id, indexId: field.indexId };
    if (formerId === 0) this.#change.builds.push(entry);
    else if (index === 'unique' && same!.index !== 'unique') this.#change.uniqueIndexes.push(entry);
    return field;
  }

  #hide(label: CatalogLabel, declared: readonly CatalogLabel[]): CatalogLabel {
    const other = declared.find(({ name, kind }) => name === label.name && kind !== label.kind);
    const isNew = other && !this.#former.get(keyOf(other))?.isDeclared;
    if (label.isDeclared && isNew) {
      const kinds = `${label.kind} to ${other.kind}`;
      const what = `${label.name} changed from ${kinds} while such data exists.`;
      const hint = `Declare the ${other.kind} type under another name.`;
      this.#change.conflicts.push({ kind: 'elements', label: label.id, what, hint });
    }
    const fields = label.fields.map((field) => {
      if (field.indexId !== 0) this.#change.drops.push(field.indexId);
      return { ...field, index: 'none' as const, indexId: 0 };
    });
    return { ...label, isDeclared: false, fields };
  }
}

const keyOf = ({ kind, name }: TypeRef): string => `${kind} ${name}`;
