// The catalog: durable numbers of every name that was ever declared, and the declarations as last applied.
//
// What is stored is one JSON value (meta.ts); what the layers above see is made from it. Names that are no longer declared stay
// in it, hidden, with their numbers, so that their data returns when they are declared again.
// Invariant: a label id, slot or index id is never given to anything else.
import { createHash } from 'node:crypto';
import { assert } from '../base/assert.js';
import { ByteWriter } from '../base/bytes.js';
import type {
  Default,
  ElementKind,
  ElementType,
  Property,
  PropertyType,
  TypeRef,
} from '../base/schema.js';
import type { Scalar } from '../base/value.js';
import type { Table } from './env.js';
import { printScalar, readFragment } from './fragment.js';
import { metaKey } from './meta.js';
import type { Catalog, Direction, Label } from './store.js';

export interface CatalogField {
  name: string;
  type: PropertyType;
  slot: number;
  index: Property['index'];
  /** 0 without an index. */
  indexId: number;
  isDeclared: boolean;
  /** `now`, or the JSON text of a literal. */
  default?: { kind: 'now' } | { kind: 'literal'; text: string };
}

export interface CatalogLabel {
  id: number;
  kind: ElementKind;
  name: string;
  isDeclared: boolean;
  /** Edge types. */
  from?: number;
  to?: number;
  unique?: boolean;
  /** Number of slots ever given out. */
  slots: number;
  /** Declared ones first, in declaration order. */
  fields: CatalogField[];
}

export interface StoredCatalog {
  /** `schema::n` of the data. */
  version: number;
  nextLabel: number;
  nextIndex: number;
  /** Declared ones first, in declaration order. */
  labels: CatalogLabel[];
}

export const emptyCatalog: StoredCatalog = { version: 0, nextLabel: 1, nextIndex: 1, labels: [] };

/** SHA-256 over the stored form. */
export function fingerprint(catalog: StoredCatalog): string {
  return createHash('sha256').update(JSON.stringify(catalog)).digest('hex');
}

export function readCatalog(meta: Table<Uint8Array>): StoredCatalog {
  const value = meta.get(metaKey.catalog);
  if (!value) return emptyCatalog;
  const { catalog } = JSON.parse(Buffer.from(value).toString()) as { catalog: StoredCatalog };
  return catalog;
}

/** The fingerprint that was stored beside the catalog. */
export function readFingerprint(meta: Table<Uint8Array>): string | undefined {
  const value = meta.get(metaKey.catalog);
  return value && (JSON.parse(Buffer.from(value).toString()) as { fingerprint: string }).fingerprint;
}

export function writeCatalog(meta: Table<Uint8Array>, catalog: StoredCatalog): void {
  const stored = { fingerprint: fingerprint(catalog), catalog };
  meta.put(metaKey.catalog, Buffer.from(JSON.stringify(stored)));
}

/** The stored form of a default. */
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

/** The catalog with what only the store needs. */
export interface FullCatalog extends Catalog {
  /** Ids of the edge labels, hidden ones included, that start (`out`) or end (`in`) at elements of a label. */
  edgesAt(label: number, direction: Direction): readonly number[];
  /** Labels declared or not. */
  allLabels(): readonly Label[];
}

/** What the layers above see. Labels that are not declared are found by id only. */
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
      return { name: field.name, type, index, slot, indexId, ...(value && { default: value }) };
    });
  if (kind !== 'edge') return { id, kind, name, type: { kind, name, properties }, properties };
  assert(from !== undefined && to !== undefined, 'an edge type has ends');
  const ends = { from: refOf(from), to: refOf(to), unique: stored.unique === true };
  const type: ElementType = { kind, name, ...ends, properties };
  return { id, kind, name, type, properties, from, to };
}
