// The `schema_resource` tool: the schema and the queries as a record for the model of an MCP client.
import { excerpt, fail } from '../../base/errors.js';
import { type ElementType, printType, type TypeRef } from '../../base/schema.js';
import { defaultTexts } from '../../plan/default-text.js';
import type { Program } from '../../plan/program.js';
import type { Plan, Query } from '../../plan/plan.js';
import { optional } from '../argument/tool-argument.js';
import { readText } from '../argument/argument-value.js';
import type { Tool } from '../tool-context.js';

/** Returns the record, or the same record as text inside a JSON string. */
export const schemaResource: Tool = (args, _, { program, schemaFormat }) => {
  const view = optional(args, 'format');
  const format = view === undefined ? schemaFormat : readText(view, 'format');
  if (format !== 'object' && format !== 'string') {
    const got = `"${excerpt(format)}"`;
    const allowed = '"object" or "string"';
    fail('PARAM_VALUE', { param: 'format', allowed, got }, { path: view!.path });
  }
  const text = JSON.stringify(schemaRecord(program));
  return { kind: 'answer', body: format === 'string' ? JSON.stringify(text) : text, after: 'keep' };
};

/** Returns declared properties only, with types as written, in declaration order. */
export function schemaRecord({ schema, queries }: Pick<Program, 'schema' | 'queries'>) {
  const edges = schema.edges.map((type) => ({
    name: type.name,
    from: nameOf(type.from),
    to: nameOf(type.to),
    properties: propertiesOf(type),
  }));
  return {
    schema: {
      nodes: schema.nodes.map(plainType),
      vectors: schema.vectors.map(plainType),
      edges,
    },
    queries: queries.map(queryRecord),
  };
}

const nameOf = (ref: TypeRef): string => ref.name;

const plainType = (type: ElementType) => ({ name: type.name, properties: propertiesOf(type) });

// Object.fromEntries defines own members, whatever their names.
const propertiesOf = (type: ElementType): Record<string, string> =>
  Object.fromEntries(type.properties.map(({ name, type: of }) => [name, printType(of)]));

/** Returns true if the query returns one literal, which has no name. */
function returnsLiteral({ output }: Plan): boolean {
  if (output.kind !== 'object' || output.members.length !== 1) return false;
  return output.members[0]!.value.kind === 'literal';
}

function queryRecord({ name, plan, returns }: Query) {
  const { parameters } = plan;
  const defaults = defaultTexts(parameters);
  const optionalNames = parameters.filter((p) => p.optional || p.default).map((p) => p.name);
  return {
    name,
    parameters: Object.fromEntries(parameters.map((p) => [p.name, printType(p.type)])),
    returns: returnsLiteral(plan) ? [] : returns,
    ...(optionalNames.length > 0 ? { optional: optionalNames } : {}),
    ...(defaults && { default: defaults }),
  };
}
