// Prints a program as an OpenAPI 3.1.1 document: one path per query, with the schemas of its body and its
// reply, and the paths of the server. Pure: the same program gives the same document.
import { errorCodes } from '../base/errors.js';
import type { TypeRef } from '../base/schema.js';
import { mayBeAbsent } from '../plan/default-text.js';
import { computeContract } from './contract-hash.js';
import { type DocText, parseDocText } from './doc-text.js';
import { type JsonSchema, parametersSchema, ReplySchemas } from './json-schema.js';
import { SharedShapes } from './schema-dedup.js';
import type { HasSignatures } from './signature.js';

export interface OpenApiOptions {
  /** Title of the project. */
  title: string;
  /** Version of the server. */
  version: string;
  /** True if callers need a key. */
  keys: boolean;
  /** Returns true for queries that the caller may see. */
  sees: (query: string) => boolean;
  /** Paths that the server adds to those of queries. */
  paths?: readonly (readonly [path: string, JsonSchema])[];
  /** Includes every type, even if no visible query returns it as a whole element. */
  types?: boolean;
  /** Deduplicates schemas that several queries share. Default: for more than a thousand queries. */
  shared?: boolean;
}

const refs = '#/components/schemas/';
/** A document of fewer queries is small, and easier to read without references. */
const sharedFrom = 1_000;

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });

export function buildOpenApi(program: HasSignatures, options: OpenApiOptions): JsonSchema {
  const { schema } = program;
  const replies = new ReplySchemas(schema, { refs, wideAsText: false, taken: ['Error'] });
  const queries = program.queries.filter(({ name }) => options.sees(name));
  if (options.types) replies.nameAll();
  const shaped = buildShapes(queries, replies);
  const shapes = new SharedShapes(refs);
  if (options.shared ?? queries.length > sharedFrom) share(shaped, shapes);
  const paths = new Map<string, JsonSchema>(
    shaped.map((one) => [`/${one.query.name}`, { post: buildOperation(one) }]),
  );
  for (const [path, served] of options.paths ?? []) {
    // A query may have the same path as a server route, which uses another method.
    paths.set(path, { ...served, ...paths.get(path) });
  }
  const knows = (type: TypeRef): boolean => replies.mentions(type);
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: options.title,
      version: `schema::${schema.version}`,
      'x-trellis': {
        version: options.version,
        contract: computeContract(program, options.sees, knows),
      },
    },
    ...(options.keys && { security: [{ apiKey: [] }, { bearer: [] }] }),
    tags: [...new Set(queries.map(({ file }) => file))].map((name) => ({ name })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.fromEntries([...replies.named, ...shapes.named, ['Error', errorSchema]]),
      responses: { Error: errorReply },
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

interface Shaped {
  query: HasSignatures['queries'][number];
  doc: DocText;
  body: JsonSchema;
  reply: JsonSchema;
}

/** Queries that share a plan also share a schema, unless their parameters have descriptions. */
function buildShapes(queries: HasSignatures['queries'], replies: ReplySchemas): Shaped[] {
  const bodies = new Map<object, JsonSchema>();
  return queries.map((query) => {
    const { plan, output } = query;
    const doc = parseDocText(query);
    const isPlain = doc.parameters.size === 0;
    const body = (isPlain && bodies.get(plan)) || parametersSchema(plan, { about: doc.parameters });
    if (isPlain) bodies.set(plan, body);
    return { query, doc, body, reply: replies.reply(output) };
  });
}

function share(shaped: Shaped[], shapes: SharedShapes): void {
  for (const { body, reply } of shaped) {
    shapes.count(body);
    shapes.count(reply);
  }
  for (const one of shaped) {
    one.body = shapes.withReferences(one.body);
    one.reply = shapes.withReferences(one.reply);
  }
}

function buildOperation({ query, doc, body, reply }: Shaped): JsonSchema {
  const { name, plan, mcp, file } = query;
  const { title, text } = doc;
  return {
    operationId: name,
    summary: title,
    description: text,
    tags: [file],
    requestBody: {
      required: !plan.parameters.every(mayBeAbsent),
      content: json(body),
    },
    responses: {
      200: { description: 'The answer.', content: json(reply) },
      default: { $ref: '#/components/responses/Error' },
    },
    'x-trellis': { writes: plan.writes, cost: plan.cost, mcp },
  };
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
