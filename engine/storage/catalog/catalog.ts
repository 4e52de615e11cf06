// Builds the catalog that the upper layers use, declarations with their stored numbers, from the stored form
// (catalog-record.ts).
import { assert } from '../../base/assert.js';
import { ByteWriter } from '../../base/bytes.js';
import type { Default, ElementType, TypeRef } from '../../base/schema.js';
import type { Scalar } from '../../base/value.js';
import type { CatalogField, CatalogLabel, StoredCatalog } from './catalog-record.js';
import { printScalar, readFragment } from '../record/fragment.js';
import type { Catalog, Direction, Label, StoredProperty } from '../table/view-types.js';

/** Returns the stored form of a default. */
export function packDefault(value: Default | undefined): CatalogField['default'] {
  if (value === undefined || value.kind === 'now') return value;
  const writer = new ByteWriter(64);
  printScalar(writer, value.value);
  return { kind: 'literal', text: Buffer.from(writer.take()).toString() };
}

function unpackDefault({ type, default: packed }: CatalogField): Default | undefined {
  if (packed === undefined || packed.kind === 'now') return packed;
  if (packed.text === 'null') return { kind: 'literal', value: null };
  const bytes = Buffer.from(packed.text);
  return { kind: 'literal', value: readFragment(bytes, 0, bytes.length, type) as Scalar };
}

/** The catalog, with the parts that only the storage layer needs. */
export interface FullCatalog extends Catalog {
  /**
   * Returns the ids of the edge labels, hidden ones included, that start (`out`) or end (`in`) at elements of
   * a label.
   */
  edgesAt(label: number, direction: Direction): readonly number[];
  /** Returns all labels, declared or hidden. */
  allLabels(): readonly Label[];
}

/** Builds a catalog. Labels that are not declared can be found only by id. */
export function catalogOf(stored: StoredCatalog): FullCatalog {
  const byId = new Map<number, CatalogLabel>(stored.labels.map((label) => [label.id, label]));
  const refOf = (id: number): TypeRef => {
    const end = byId.get(id);
    assert(end, 'the ends of an edge type are labels');
    return { kind: end.kind, name: end.name };
  };
  const labels = stored.labels.map((label) => labelOf(label, refOf));
  const ids = new Map(labels.map((label) => [label.id, label]));
  const declared = labels.filter((label) => byId.get(label.id)!.isDeclared);
  const names = new Map(declared.map((label) => [`${label.kind} ${label.name}`, label]));
  const ends = { out: new Map<number, number[]>(), in: new Map<number, number[]>() };
  for (const { id, from, to } of labels) {
    if (from !== undefined) ends.out.set(from, [...(ends.out.get(from) ?? []), id]);
    if (to !== undefined) ends.in.set(to, [...(ends.in.get(to) ?? []), id]);
  }
  return {
    label(id) {
      const label = ids.get(id);
      assert(label, 'a label id comes from the store');
      return label;
    },
    find: (kind, name) => names.get(`${kind} ${name}`),
    labels: () => declared,
    allLabels: () => labels,
    edgesAt: (label, direction) => ends[direction].get(label) ?? [],
  };
}

function labelOf(stored: CatalogLabel, refOf: (id: number) => TypeRef): Label {
  const { id, kind, name, from, to } = stored;
  const properties = stored.fields
    .filter((field) => field.isDeclared)
    .map((field) => {
      const { slot, indexId, index, type } = field;
      const value = unpackDefault(field);
      const property: StoredProperty = { name: field.name, type, index, slot, indexId };
      if (value !== undefined) property.default = value;
      if (field.search !== undefined) property.search = field.search;
      return property;
    });
  if (kind !== 'edge') return { id, kind, name, type: { kind, name, properties }, properties };
  assert(from !== undefined && to !== undefined, 'an edge type has ends');
  const ends = { from: refOf(from), to: refOf(to), unique: stored.unique === true };
  const type: ElementType = { kind, name, ...ends, properties };
  return { id, kind, name, type, properties, from, to };
}
