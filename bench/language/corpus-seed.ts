// Creates data for an external project before its queries run, with one query for each type that creates
// elements, added to its sources. Reads from the plans to which types the ids in the query's parameters
// belong.
import type { ElementType, PropertyType, Query, Schema, Source } from '../../engine/internal.js';

/** Names that no project uses. */
const prefix = 'trellisCorpusSeed';

export const seedName = (kind: string, name: string): string => `${prefix}_${kind}_${name}`;
export const isSeed = ({ name }: Query): boolean => name.startsWith(prefix);

function fieldsOf({ properties }: ElementType): { header: string; set: string } {
  const print = (type: PropertyType): string =>
    type.kind === 'list' ? `[${print(type.of)}]` : type.name;
  return {
    header: properties.map(({ name, type }) => `${name}: ${print(type)}`).join(', '),
    set: `{ ${properties.map(({ name }) => `${name}: ${name}`).join(', ')} }`,
  };
}

/**
 * One query per type that creates elements. Its parameter names differ from the names of properties.
 */
export function seedSource(schema: Schema): Source {
  const query = (type: ElementType, more: string, body: (set: string) => string): string => {
    const { header, set } = fieldsOf(type);
    const parameters = [header, more].filter((part) => part !== '').join(', ');
    return `QUERY ${seedName(type.kind, type.name)}(${parameters}) => x <- ${body(set)} RETURN x::ID`;
  };
  const texts = [
    ...schema.nodes.map((type) => query(type, '', (set) => `AddN<${type.name}>(${set})`)),
    ...schema.vectors.map((type) =>
      query(type, 'zz_vec: [F64]', (set) => `AddV<${type.name}>(zz_vec, ${set})`),
    ),
    ...schema.edges.map((type) =>
      query(type, 'zz_a: ID, zz_b: ID', (set) => {
        return `AddE<${type.name}>(${set})::From(zz_a)::To(zz_b)`;
      }),
    ),
  ];
  return { path: 'zz-corpus-seed.hx', text: texts.join('\n') };
}

/** For every parameter that is an id: the type it must be of, where the plan says so. */
export function idTypes({ plan }: Query, schema: Schema): Map<number, string> {
  const found = new Map<number, string>();
  const note = (value: unknown, type: string): void => {
    const { kind, index } = (value ?? {}) as { kind?: string; index?: number };
    if (kind === 'parameter') found.set(index!, type);
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as Record<string, unknown>;
    if (node.kind === 'byId') note(node.id, (node.type as { name: string }).name);
    const edge = schema.edges.find(({ name }) => name === node.type);
    if (edge !== undefined && (node.kind === 'addEdge' || node.kind === 'upsertEdge')) {
      for (const end of ['from', 'to'] as const) {
        const given = node[end] as { value?: unknown } | undefined;
        note(given?.value ?? given, edge[end].name);
      }
    }
    if (node.kind === 'shortestPath') {
      const [first] = node.edges as string[];
      const path = schema.edges.find(({ name }) => first === undefined || name === first);
      if (path !== undefined) note(node.target, path.to.name);
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  visit([plan.statements, plan.output]);
  return found;
}
