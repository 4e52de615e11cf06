// A program as an OpenAPI 3.1.1 document (client.md 3): one path per query, with the schemas of its
// body and its reply. Pure: the same program gives the same document.
import { errorCodes } from '../base/errors.js';
import { mayBeAbsent } from '../plan/default-text.js';
import type { Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import { docTextOf } from './doc-text.js';
import { type JsonSchema, parametersSchema, ReplySchemas } from './json-schema.js';

export interface OpenApiOptions {
  /** Of the project. */
  title: string;
  /** Of the server. */
  version: string;
  /** Whether callers need a key. */
  keys: boolean;
  /** Which queries the caller may see. */
  sees: (query: string) => boolean;
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });

export function openApiOf(program: Program, options: OpenApiOptions): JsonSchema {
  const replies = new ReplySchemas(program.schema, {
    refs: '#/components/schemas/',
    wideAsText: false,
  });
  const queries = program.queries.filter(({ name }) => options.sees(name));
  const paths = queries.map((query) => [`/${query.name}`, { post: operationOf(query, replies) }]);
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: options.title,
      version: `schema::${program.schema.version}`,
      'x-trellis': { version: options.version },
    },
    ...(options.keys && { security: [{ apiKey: [] }, { bearer: [] }] }),
    paths: Object.fromEntries([...paths, ...fixedPaths()]),
    components: {
      schemas: Object.fromEntries([...replies.named, ['Error', errorSchema]]),
      ...(options.keys && { securitySchemes }),
    },
  };
}

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer' },
};

const errorReply = {
  description: 'What went wrong.',
  content: json({ $ref: '#/components/schemas/Error' }),
};

function operationOf(query: Query, replies: ReplySchemas): JsonSchema {
  const { name, plan, output, mcp } = query;
  const { title, text, parameters } = docTextOf(query);
  const body = parametersSchema(plan.parameters, parameters);
  return {
    operationId: name,
    summary: title,
    description: text,
    requestBody: {
      required: !plan.parameters.every(mayBeAbsent),
      content: json(body),
    },
    responses: {
      200: { description: 'The answer.', content: json(replies.reply(output)) },
      default: errorReply,
    },
    'x-trellis': { writes: plan.writes, cost: plan.cost, mcp },
  };
}

/** Paths that every server has. */
function fixedPaths(): [string, JsonSchema][] {
  const look = (summary: string): JsonSchema => ({
    get: {
      summary,
      responses: {
        200: { description: 'As asked.', content: json({ type: 'object' }) },
        default: errorReply,
      },
    },
  });
  return [
    ['/livez', look('Whether the process lives.')],
    ['/readyz', look('Whether calls are answered.')],
    ['/version', look('Versions of server, interface and data format.')],
    ['/introspect', look('Schema and queries in the form of the dashboard of HelixDB.')],
  ];
}

const errorSchema: JsonSchema = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    code: { type: 'string', enum: errorCodes },
    request_id: { type: 'string' },
    retryable: { type: 'boolean' },
    path: { type: 'string' },
    args: { type: 'object' },
    hint: { type: 'string' },
    errors: { type: 'array', items: { type: 'object' } },
  },
  required: ['error', 'code'],
};
