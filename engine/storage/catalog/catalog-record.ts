// The stored form of the catalog: one JSON value with its fingerprint (meta.ts).
//
// Names that are no longer declared stay in it, hidden, with their numbers. So their data return when they
// are declared again.
// Invariant: a label id, slot or index id is never reused for anything else.
import { createHash } from 'node:crypto';
import type { ElementKind, Property, PropertyType } from '../../base/schema.js';
import type { SearchOptions } from '../../base/text/search-options.js';
import type { Table } from '../table/env.js';
import { metaKey } from '../table/meta.js';

export interface CatalogField {
  name: string;
  type: PropertyType;
  slot: number;
  index: Property['index'];
  /** 0 for a property without an index. */
  indexId: number;
  isDeclared: boolean;
  /** `now`, or a literal as JSON text. */
  default?: { kind: 'now' } | { kind: 'literal'; text: string };
  search?: SearchOptions;
}

export interface CatalogLabel {
  id: number;
  kind: ElementKind;
  name: string;
  isDeclared: boolean;
  /** For edge types: the label at each end, and whether a pair of elements has at most one edge. */
  from?: number;
  to?: number;
  unique?: boolean;
  /** Number of slots ever assigned. */
  slots: number;
  /** Declared fields first, in declaration order. */
  fields: CatalogField[];
}

export interface StoredCatalog {
  /** The number that `schema::n` shows. */
  version: number;
  nextLabel: number;
  nextIndex: number;
  /** Declared labels first, in declaration order. */
  labels: CatalogLabel[];
}

const emptyCatalog: StoredCatalog = { version: 0, nextLabel: 1, nextIndex: 1, labels: [] };

/** Returns the catalog with everything in it declared, as a dump is read. */
export function unhidden(stored: StoredCatalog): StoredCatalog {
  const labels = stored.labels.map((label) => {
    const shown = new Set(label.fields.filter((field) => field.isDeclared).map(({ name }) => name));
    const fields = label.fields
      .filter((field) => field.isDeclared || !shown.has(field.name))
      .map((field) => ({ ...field, isDeclared: true }));
    return { ...label, isDeclared: true, fields };
  });
  return { ...stored, labels };
}

/** Returns the SHA-256 of the stored form, in hexadecimal. */
export function fingerprint(catalog: StoredCatalog): string {
  return createHash('sha256').update(JSON.stringify(catalog)).digest('hex');
}

export function readCatalog(meta: Table<Uint8Array>): StoredCatalog {
  const value = meta.get(metaKey.catalog);
  if (!value) return emptyCatalog;
  const { catalog } = JSON.parse(Buffer.from(value).toString()) as { catalog: StoredCatalog };
  return catalog;
}

/** Returns the fingerprint that is stored with the catalog, or undefined for a database without one. */
export function readFingerprint(meta: Table<Uint8Array>): string | undefined {
  const value = meta.get(metaKey.catalog);
  return (
    value && (JSON.parse(Buffer.from(value).toString()) as { fingerprint: string }).fingerprint
  );
}

export function writeCatalog(meta: Table<Uint8Array>, catalog: StoredCatalog): void {
  const stored = { fingerprint: fingerprint(catalog), catalog };
  meta.put(metaKey.catalog, Buffer.from(JSON.stringify(stored)));
}
