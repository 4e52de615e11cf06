// Offers the session tools (`POST /mcp/<tool>`) as MCP tools, with the members of `data` as arguments. A tool
// that is called without a session opens one. Every result has the id of the session and the number of items
// of its traversal.
import { type JsonView, type Limits, type Schema, TrellisError } from '../../../engine/internal.js';
import { budgetOf } from '../../pipeline/timeout.js';
import { type ToolForm, toolForms } from '../../openapi/session-tools.js';
import { callerOf } from '../../handlers/query-handler.js';
import type { SessionService } from '../../handlers/sessions.js';
import { shapeOfForm } from './argument-shape.js';
import { type Received, scanCoerced } from './coerce-arguments.js';
import { type Output, outputOf, textOf } from './output.js';
import { lazy } from './query-tool.js';
import { limitArgument, limitSchema, type Tool, type ToolCall } from './tool.js';
import { rawText } from '../message/json-rpc.js';

export interface SessionToolOptions {
  handler: () => SessionService;
  limits: Limits;
  schema: Schema;
  /** Beginning of the names of all tools. */
  prefix: string;
}

/** The tools in the order of their list. */
export function sessionTools(options: SessionToolOptions): Tool[] {
  return [...toolForms(options.schema)].map(([name, form]) => {
    const shape = lazy(() => shapeOfForm(form));
    return {
      name,
      entry: lazy(() => JSON.stringify(entryOf(name, form, options.limits))),
      call: (call) => {
        const received = scanCoerced(call.args, shape(), options.limits);
        return walk(name, form, { ...call, received }, options).catch((error: unknown) =>
          failWithoutSession(error, options.prefix),
        );
      },
    };
  });
}

function entryOf(name: string, form: ToolForm, limits: Limits): object {
  const { session_idle: idle } = limits;
  const life = idle === 0 ? '' : ` Sessions end after ${timeText(idle)} idle.`;
  const opening = ` Without connection_id a session is opened.${life}`;
  return {
    name,
    title: form.about,
    description: `${form.about}${form.opens ? opening : ''}`,
    inputSchema: {
      type: 'object',
      properties: {
        connection_id: { type: 'string', description: 'Of an earlier answer.' },
        ...form.properties,
        [limitArgument]: limitSchema,
      },
      required: form.opens ? form.required : ['connection_id', ...(form.required ?? [])],
      additionalProperties: false,
    },
    // A traversal does not change stored data.
    annotations: { readOnlyHint: true, openWorldHint: name === 'search_vector_text' },
  };
}

/** A model does not call `mcp/init`. */
function failWithoutSession(error: unknown, prefix: string): never {
  if (!(error instanceof TrellisError) || error.code !== 'CONNECTION_NOT_FOUND') throw error;
  const hint = `Leave connection_id out: ${prefix}n_from_type and the searches open a session.`;
  throw new TrellisError({ ...error.data, hint });
}

const reads: ReadonlySet<string> = new Set(['collect', 'next', 'group_by', 'aggregate_by']);

async function walk(
  tool: string,
  { answer }: ToolForm,
  { exchange, received, key, limit }: ToolCall & { received: Received },
  { handler, limits }: SessionToolOptions,
): Promise<Output> {
  const sessions = handler();
  const caller = callerOf(key, exchange);
  const { view, body: args } = received;
  const idView = view.member('connection_id');
  const isNew = idView === undefined || idView.kind === 'null';
  const id = isNew ? sessions.open(caller) : idView.kind === 'string' ? idView.text() : '';
  const members = view.names().flatMap((name) => {
    if (name === 'connection_id') return [];
    return [`${JSON.stringify(name)}:${rawText(view.member(name)!, args)}`];
  });
  const body = `{${[`"connection_id":${JSON.stringify(id)}`, ...members].join(',')}}`;
  // Collecting can clear the traversal.
  const before = isNew ? { count: 0 } : sessions.held(id, caller);
  const budget = budgetOf(exchange, limits.query_time);
  const cancellable = (cancel: () => void): void => {
    exchange.cancel = cancel;
  };
  const bytes = Buffer.from(body);
  const reply = await performed(() => sessions.handle(tool, bytes, caller, budget, cancellable));
  // A tool that reads may have cleared the traversal, and a tool that starts one may have created it.
  const { count, kind } = reads.has(tool) ? before : sessions.held(id, caller);
  const parts = [
    `"connection_id":${JSON.stringify(id)}`,
    ...(kind === undefined ? [] : [`"kind":"${kind}"`]),
    `"count":${count}`,
    ...(tool === 'collect' ? [`"more":${endOf(view) < count}`] : []),
    ...(answer === 'reset' ? [] : [`"${answer}":${reply}`]),
  ];
  const advice = 'Ask for fewer, or page with range and drop false.';
  return outputOf(`{${parts.join(',')}}`, { limit, widePaths: 'every', advice });

  async function performed(run: () => Uint8Array | Promise<Uint8Array>): Promise<string> {
    try {
      return textOf(await run());
    } catch (error) {
      // The client does not learn the id of a session whose first call failed.
      if (isNew) sessions.close(id, caller);
      throw error;
    }
  }
}

/** Returns a duration such as `1 h`, in the largest unit that divides it. */
function timeText(ms: number): string {
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  const [name, size] = units.find(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size} ${name}`;
}

/** Returns the end of a `range`; without one, the end of the list. */
function endOf(view: JsonView): number {
  const range = view.member('range');
  const end = range?.kind === 'object' ? range.member('end') : undefined;
  const at = end?.integral ? Number(end.token()) : -1;
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}
