// Offers queries as tools: the schemas of their arguments and replies, and the call. A call is that of
// `POST /<Query>`, and its reply is the result.
import {
  type Database,
  parseDocText,
  type JsonSchema,
  type Limits,
  parametersSchema,
  type Program,
  type Query,
  queryFacts,
  ReplySchemas,
  TrellisError,
} from '../../../engine/internal.js';
import type { CallOnLeader } from '../../cluster/forward/consistency.js';
import { refuseIdempotencyKey } from '../../pipeline/idempotency-key.js';
import { budgetOf } from '../../pipeline/timeout.js';
import { shapeOfParameters } from './argument-shape.js';
import { coerceArguments } from './coerce-arguments.js';
import { type Output, outputOfBytes, widePathsOf } from './output.js';
import { limitArgument, limitSchema, type Tool, type ToolCall } from './tool.js';

export interface QueryToolOptions {
  database: () => Database;
  /** Cluster only. Runs a write on the leader; returns undefined if this node is the leader. */
  callOnLeader?: CallOnLeader;
  limits: Limits;
  /** JSON type of integers beyond 53 bits. */
  integers: 'string' | 'integer';
}

export function queryTool(query: Query, program: Program, options: QueryToolOptions): Tool {
  const entry = lazy(() => JSON.stringify(entryOf(query, program, options)));
  const widePaths = lazy(() => widePathsOf(program.schema, query.output));
  const advice = lazy(() => adviceOf(query));
  const shape = lazy(() => shapeOfParameters(query.plan.parameters));
  const called = { query: query.name, writes: query.plan.writes };
  const finish = (reply: Uint8Array, limit: number): Output =>
    outputOfBytes(reply, { limit, widePaths: widePaths(), advice: advice() });
  return {
    name: query.name,
    query,
    entry,
    call: (call) => {
      call.exchange.called = called;
      // Most calls have arguments of the right types. Only after a refusal is it worth to look at them.
      const again = (error: unknown): Uint8Array | Promise<Uint8Array> => {
        if (!(error instanceof TrellisError) || error.code !== 'PARAM_TYPE') throw error;
        const args = coerceArguments(call.args, shape(), options.limits);
        if (args === undefined) throw error;
        return callQuery(query, { ...call, args: Buffer.from(args) }, options);
      };
      const reply = firstOrAgain(() => callQuery(query, call, options), again);
      if (!(reply instanceof Promise)) return finish(reply, call.limit);
      return reply.then((reply) => finish(reply, call.limit));
    },
  };
}

/** Calls `again` with the error of `first`, if it fails. */
function firstOrAgain<T>(
  first: () => T | Promise<T>,
  again: (error: unknown) => T | Promise<T>,
): T | Promise<T> {
  try {
    const result = first();
    return result instanceof Promise ? result.catch(again) : result;
  } catch (error) {
    return again(error);
  }
}

function callQuery(query: Query, { exchange, args }: ToolCall, options: QueryToolOptions) {
  const { writes } = query.plan;
  if (writes) refuseIdempotencyKey(exchange, 'tools know none');
  const { write_time, query_time } = options.limits;
  const budgetMs = budgetOf(exchange, writes ? write_time : query_time);
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

function entryOf(query: Query, program: Program, options: QueryToolOptions): JsonSchema {
  const { name, plan } = query;
  const { title, text, parameters } = parseDocText(query);
  const outputSchema = replySchema(query, program);
  const { destroys, repeatable, embeds } = queryFacts(query);
  return {
    name,
    title,
    description: text,
    inputSchema: inputSchema(query, parameters, options),
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
  { limits, integers }: QueryToolOptions,
): JsonSchema {
  const style = { about, searchMax: limits.search_k, wide: integers };
  const schema = parametersSchema(plan, style);
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
