// The OpenAPI description of the paths under `/mcp/`: the session tools, and the queries that start a session
// (sessions.md 5).
import {
  parseDocText,
  type JsonSchema,
  parametersSchema,
  type Program,
  type Query,
} from '../../engine/internal.js';
import { type Paths, pathEntry } from './built-in-paths.js';
import { toolForms } from './session-tools.js';

const text: JsonSchema = { type: 'string' };
const connection = { connection_id: text };
const tag = 'sessions';

/** A body that names its session. */
const within = (properties: JsonSchema, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties: { ...connection, ...properties },
  required: ['connection_id', ...required],
});

const step = (name: string, summary: string, body: JsonSchema, gives: JsonSchema) =>
  pathEntry(`/mcp/${name}`, { method: 'post', summary, tag, body, gives });

const items: JsonSchema = { type: 'array' };
const answers = { first: {}, items, item: {}, reset: text } as const;

/**
 * Tools whose arguments are members next to `session_id`. The arguments of the other tools are members of
 * `data`.
 */
const flat: ReadonlySet<string> = new Set(['collect', 'next', 'reset', 'group_by', 'aggregate_by']);

/** `queries`: those that the caller sees. */
export function sessionPaths({ schema }: Program, queries: readonly Query[]): Paths {
  const steps = [...toolForms(schema)].map(([name, form]) => {
    const { about, properties, required = [], answer } = form;
    const data = { type: 'object', properties, required };
    const body = flat.has(name) ? within(properties, required) : within({ data }, ['data']);
    return step(name, about, body, answers[answer]);
  });
  const call = { type: 'object', properties: { tool_name: text, args: { type: 'object' } } };
  return [
    pathEntry('/mcp', {
      method: 'post',
      summary: 'The Model Context Protocol: one message of JSON-RPC 2.0.',
      tag,
      body: { type: 'object' },
    }),
    step('init', 'Opens a session.', { type: 'object' }, text),
    ...steps,
    step('schema_resource', 'Types and queries.', within({ format: text }), {}),
    step('tool_call', 'Any step by its name.', within({ tool: call }, ['tool']), {}),
    ...queries.filter(({ mcp }) => mcp).map(begin),
  ];
}

/** A query whose result becomes the traversal. */
function begin(query: Query) {
  const { title, parameters } = parseDocText(query);
  const data = parametersSchema(query.plan, { about: parameters });
  return step(`${query.name}Mcp`, title, within({ data }), {});
}
