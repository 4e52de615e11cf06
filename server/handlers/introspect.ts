// Handles `GET /introspect`: schema and queries in the form that HelixDB's dashboard reads. Everything is in
// source order.
import {
  defaultTexts,
  type ParameterType,
  type Program,
  type Property,
  emptySchema,
} from '../../engine/internal.js';
import { scopeNames } from '../auth/keys.js';

/** Prints a type in HelixDB's spelling: `Array(F64)`, `{name: String}`. */
function printHelixType(type: ParameterType): string {
  if (type.kind === 'scalar') return type.name;
  if (type.kind === 'list') return `Array(${printHelixType(type.of)})`;
  const members = type.members.map((member) => `${member.name}: ${printHelixType(member.type)}`);
  return `{${members.join(', ')}}`;
}

/** Returns an object whose members keep their order and may have any name. */
function members(entries: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(entries);
}

function properties(implicit: Record<string, string>, declared: readonly Property[]) {
  const own = declared.map(({ name, type }) => [name, printHelixType(type)] as const);
  return { ...implicit, ...members(own) };
}

const nodeImplicit = { id: 'ID', label: 'String' };
const vectorImplicit = { ...nodeImplicit, data: 'Array(F64)', score: 'F64' };

/**
 * Describes the program. A key limited to the queries in `scope` sees those, and nothing of the schema.
 */
export function introspection(program: Program, scope?: readonly string[]): string {
  const schema = scope === undefined ? program.schema : emptySchema;
  const queries = program.queries.filter(({ name }) => !scope || scopeNames(scope, name));
  const description = {
    schema: {
      nodes: schema.nodes.map((type) => ({
        name: type.name,
        properties: properties(nodeImplicit, type.properties),
      })),
      vectors: schema.vectors.map((type) => ({
        name: type.name,
        properties: properties(vectorImplicit, type.properties),
      })),
      edges: schema.edges.map((type) => ({
        name: type.name,
        from: type.from.name,
        to: type.to.name,
        properties: properties({}, type.properties),
      })),
    },
    queries: queries.map(({ name, plan, returns, mcp }) => ({
      name,
      parameters: members(plan.parameters.map((p) => [p.name, printHelixType(p.type)])),
      returns,
      optional: plan.parameters.filter((p) => p.optional || p.default).map((p) => p.name),
      default: defaultTexts(plan.parameters),
      writes: plan.writes,
      mcp,
    })),
  };
  return JSON.stringify(description, null, 2);
}
