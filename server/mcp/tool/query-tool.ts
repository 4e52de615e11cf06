// Offers queries as tools: the schemas of their arguments and replies, and the call. A call is that of
// `POST /<Query>`, and its reply is the result.
import {
  type Database,
  parseDocText,
  type JsonSchema,
  parametersSchema,
  type Program,
  type Query,
  queryFacts,
  ReplySchemas,
} from '../../../engine/internal.js';
import type { CallOnLeader } from '../../cluster/forward/consistency.js';
import { refuseIdempotencyKey } from '../../pipeline/idempotency-key.js';
import { budgetOf } from '../../pipeline/timeout.js';
import { type Output, outputOfBytes, widePathsOf } from './output.js';
import { limitArgument, limitSchema, type Tool, type ToolCall } from './tool.js';

export interface QueryToolOptions {
  database: () => Database;
  /** Cluster only. Runs a write on the leader; returns undefined if this node is the leader. */
  callOnLeader?: CallOnLeader;
  /** Maximum number of hits of a search. */
  searchMax: number;
  /** Milliseconds. */
  readBudget: number;
  writeBudget: number;
}

export function queryTool(query: Query, program: Program, options: QueryToolOptions): Tool {
  const entry = lazy(() => JSON.stringify(entryOf(query, program, options.searchMax)));
  const widePaths = lazy(() => widePathsOf(program.schema, query.output));
  const advice = lazy(() => adviceOf(query));
  const called = { query: query.name, writes: query.plan.writes };
  const finish = (reply: Uint8Array, limit: number): Output =>
    outputOfBytes(reply, { limit, widePaths: widePaths(), advice: advice() });
  return {
    name: query.name,
    query,
    entry,
    call: (call) => {
      call.exchange.called = called;
      const reply = callQuery(query, call, options);
      if (!(reply instanceof Promise)) return finish(reply, call.limit);
      return reply.then((reply) => finish(reply, call.limit));
    },
  };
}

function callQuery(query: Query, { exchange, args }: ToolCall, options: QueryToolOptions) {
  const { writes } = query.plan;
  if (writes) refuseIdempotencyKey(exchange, 'tools know none');
  const budgetMs = budgetOf(exchange, writes ? options.writeBudget : options.readBudget);
  const fromLeader = writes
    ? options.callOnLeader?.(exchange, query.name, bodyOf(args), budgetMs)
    : undefined;
  if (fromLeader !== undefined) return fromLeader;
  return options.database().call(query.name, args, {
    budgetMs,
    caller: exchange,
    onCancellable: (cancel) => {
      exchange.cancel = cancel;
    },
    onWork: (cost) => {
      exchange.work = cost;
    },
  });
}

const noArguments = Buffer.from('{}');

const bodyOf = (args: Uint8Array): Uint8Array => (args.length === 0 ? noArguments : args);

function entryOf(query: Query, program: Program, searchMax: number): JsonSchema {
  const { name, plan } = query;
  const { title, text, parameters } = parseDocText(query);
  const outputSchema = replySchema(query, program);
  const { destroys, repeatable, embeds } = queryFacts(query);
  return {
    name,
    title,
    description: text,
    inputSchema: inputSchema(query, parameters, searchMax),
    ...(outputSchema && { outputSchema }),
    annotations: {
      readOnlyHint: !plan.writes,
      destructiveHint: destroys,
      idempotentHint: !plan.writes || repeatable,
      openWorldHint: embeds,
    },
  };
}

function inputSchema(
  { plan }: Query,
  about: ReadonlyMap<string, string>,
  searchMax: number,
): JsonSchema {
  const schema = parametersSchema(plan, about, searchMax);
  const properties = schema.properties as JsonSchema;
  if (limitArgument in properties) return schema;
  return { ...schema, properties: { ...properties, [limitArgument]: limitSchema } };
}

/** Returns the schema of a reply; undefined if the reply is not an object. */
export function replySchema({ output }: Query, program: Program): JsonSchema | undefined {
  const replies = new ReplySchemas(program.schema, { refs: '#/$defs/', wideAsText: true });
  const schema = replies.reply(output);
  if (schema.type !== 'object') return undefined;
  return replies.named.size === 0
    ? schema
    : { ...schema, $defs: Object.fromEntries(replies.named) };
}

function adviceOf(query: Query): string {
  const { page } = queryFacts(query);
  if (page === undefined) return 'Ask for fewer.';
  return `Ask for fewer, or page with the parameters ${page[0]} and ${page[1]}.`;
}

/** Created at the first use. */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
