// Loads the schema and the contract of the queries from the running server.
import { computed, signal } from '@preact/signals';
import { type Contract, type QueryContract, readContract } from '../model/contract.js';
import type { SchemaType } from '../model/status.js';
import { ask } from './api.js';

export const contract = signal<Contract | undefined>(undefined);
export const schema = signal<SchemaType[] | undefined>(undefined);

/** Index in the palette of every node and vector type. It is the same on every page. */
export const typePaletteIndexes = computed(() => {
  const types = (schema.value ?? []).filter(({ kind }) => kind !== 'edge');
  return new Map(types.map(({ name }, at) => [name, at]));
});

export const queryNamed = (name: string): QueryContract | undefined =>
  contract.value?.queries.find((query) => query.name === name);

interface Introspection {
  schema: Record<
    'nodes' | 'edges' | 'vectors',
    { name: string; from?: string; to?: string; properties: Record<string, string> }[]
  >;
}

const implicit = new Set(['id', 'label', 'data', 'score']);

export async function readProgram(signal: AbortSignal): Promise<void> {
  const [api, introspection] = await Promise.all([
    ask<unknown>('openapi.json', { signal }),
    ask<Introspection>('introspect', { signal }),
  ]);
  signal.throwIfAborted();
  contract.value = readContract(api.value);
  const { nodes, edges, vectors } = introspection.value.schema;
  const typesOf = (list: typeof nodes, kind: SchemaType['kind']): SchemaType[] =>
    list.map(({ name, from, to, properties }) => ({
      name,
      kind,
      ...(from !== undefined && { from, to: to! }),
      properties: Object.entries(properties)
        .filter(([property]) => kind === 'edge' || !implicit.has(property))
        .map(([property, type]) => ({ name: property, type })),
    }));
  schema.value = [
    ...typesOf(nodes, 'node'),
    ...typesOf(vectors, 'vector'),
    ...typesOf(edges, 'edge'),
  ];
}
