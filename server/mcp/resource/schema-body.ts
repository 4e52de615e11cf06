// Describes the schema as a record for programs: that of `mcp/schema_resource`, with the number of elements
// of each type.
import { type ElementKind, type ReadView, schemaRecord } from '../../../engine/internal.js';
import type { Visibility } from './visibility.js';

export function schemaBody(seen: Visibility, view: ReadView): string {
  const { schema, queries } = schemaRecord(seen);
  const counted = <T extends { name: string }>(kind: ElementKind, types: readonly T[]) =>
    types.map((type) => ({ ...type, count: countOf(view, kind, type.name) }));
  const counts = {
    nodes: counted('node', schema.nodes),
    vectors: counted('vector', schema.vectors),
    edges: counted('edge', schema.edges),
  };
  return JSON.stringify({ schema: counts, queries });
}

export function countOf(view: ReadView, kind: ElementKind, name: string): number {
  const label = view.catalog.find(kind, name);
  return label === undefined ? 0 : view.count(label.id);
}
