// The walk as tools: those of a session (`POST /mcp/<tool>`), with the members of `data` as arguments.
// A tool that is called without a session opens one, and every answer says which it was and how many
// items its traversal has.
import {
  type JsonView,
  type Limits,
  type Schema,
  scanBody,
  TrellisError,
} from '../../../engine/index.js';
import { budgetOf } from '../../request/reception.js';
import { callerOf } from '../../endpoint/query-handler.js';
import type { McpHandler } from '../../endpoint/mcp-handler.js';
import { type Output, outputOf } from './output.js';
import { once, textOf } from './query-tool.js';
import { limitArgument, limitSchema, type Tool, type ToolCall } from './tool.js';
import { rawText } from '../message/wire.js';

export interface SessionToolOptions {
  handler: () => McpHandler;
  limits: Limits;
  schema: Schema;
}

type Property = Readonly<Record<string, unknown>>;

interface Form {
  about: string;
  properties: Readonly<Record<string, Property>>;
  required?: readonly string[];
  /** Builds a traversal: may be the first call of a session. */
  opens?: true;
  /** What the member of the answer is called that holds the reply. */
  answer: 'first' | 'items' | 'item' | 'reset';
}

/** The tools in the order of their list. */
export function sessionTools(options: SessionToolOptions): Tool[] {
  return [...formsOf(options.schema)].map(([name, form]) => ({
    name,
    entry: once(() => JSON.stringify(entryOf(name, form, options.limits))),
    call: (call) => walk(name, form, call, options).catch(tellHowToOpen),
  }));
}

const text = (description?: string): Property => ({
  type: 'string',
  ...(description !== undefined && { description }),
});
const hits: Property = { type: 'integer', minimum: 1, description: 'How many hits.' };
const flag = (description: string): Property => ({ type: 'boolean', description });
const texts: Property = { type: 'array', items: { type: 'string' } };
const namesMax = 200;

function names(types: readonly { name: string }[]): Property {
  const list = types.slice(0, namesMax).map(({ name }) => name);
  return types.length === list.length && list.length > 0 ? { type: 'string', enum: list } : text();
}

const range: Property = {
  type: 'object',
  properties: { start: { type: 'integer' }, end: { type: 'integer' } },
  additionalProperties: false,
  description: 'Positions start <= i < end; without an end all.',
};
const filters: Property = {
  type: 'object',
  description:
    'Such as {"properties":[[{"key":"year","operator":">=","value":1700}]]}: inner lists are AND, the outer one is OR.',
};

function formsOf(schema: Schema): Map<string, Form> {
  return new Map([...walking(schema), ...searches(schema), ...reading]);
}

function walking(schema: Schema): [string, Form][] {
  const edge = { edge_label: names(schema.edges) };
  const kind = { edge_type: { type: 'string', enum: ['node', 'vec'] } };
  const step = (about: string, toNodes: boolean): Form => ({
    about,
    properties: toNodes ? { ...edge, ...kind } : edge,
    required: ['edge_label'],
    answer: 'first',
  });
  return [
    ['n_from_type', starting('All nodes of a type', { node_type: names(schema.nodes) })],
    ['e_from_type', starting('All edges of a type', { edge_type: names(schema.edges) })],
    ['out_step', step('From each item along its outgoing edges to their far ends.', true)],
    ['in_step', step('From each item against its incoming edges to their far ends.', true)],
    ['out_e_step', step('From each item to its outgoing edges.', false)],
    ['in_e_step', step('From each item to its incoming edges.', false)],
    [
      'filter_items',
      {
        about: 'Keeps the items that pass.',
        properties: { filter: filters },
        required: ['filter'],
        answer: 'first',
      },
    ],
    [
      'order_by',
      {
        about: 'Orders the items by properties.',
        properties: { properties: texts, order: { type: 'string', enum: ['asc', 'desc'] } },
        required: ['properties', 'order'],
        answer: 'first',
      },
    ],
    ['group_by', grouping('How many items share the values of properties.')],
    ['aggregate_by', grouping('The items that share the values of properties, in groups.')],
  ];
}

function searches(schema: Schema): [string, Form][] {
  const label = names([...schema.nodes, ...schema.vectors]);
  return [
    [
      'search_vector',
      {
        about: 'Ranks by nearness to a vector: the items there are, or all vectors.',
        properties: {
          vector: { type: 'array', items: { type: 'number' } },
          k: hits,
          min_score: { type: 'number' },
        },
        required: ['vector', 'k'],
        opens: true,
        answer: 'items',
      },
    ],
    [
      'search_vector_text',
      searching(
        'Ranks by meaning: what is nearest to a text.',
        'k',
        ['query', 'label'],
        names(schema.vectors),
      ),
    ],
    [
      'search_keyword',
      searching('Ranks by the words of a text.', 'limit', ['query', 'label', 'limit'], label),
    ],
  ];
}

const reading: [string, Form][] = [
  [
    'collect',
    {
      about: 'Answers the items of the traversal; with drop false they stay.',
      properties: { range, drop: flag('Whether the traversal ends; true unless said.') },
      answer: 'items',
    },
  ],
  ['next', { about: 'Answers the next item, null at the end.', properties: {}, answer: 'item' }],
  ['reset', { about: 'Empties the traversal.', properties: {}, answer: 'reset' }],
];

function starting(what: string, properties: Form['properties']): Form {
  const required = Object.keys(properties);
  return { about: `${what}, oldest first.`, properties, required, opens: true, answer: 'first' };
}

function grouping(about: string): Form {
  return { about, properties: { properties: texts }, required: ['properties'], answer: 'items' };
}

function searching(
  about: string,
  count: string,
  required: readonly string[],
  label: Property,
): Form {
  const properties = { query: text('What to look for.'), label, [count]: hits };
  return { about, properties, required, opens: true, answer: 'items' };
}

function entryOf(name: string, form: Form, limits: Limits): object {
  const minutes = Math.round(limits.session_idle / 60_000);
  const life = limits.session_idle === 0 ? '' : ` Sessions end after ${minutes} min idle.`;
  const opening = ` Without connection_id a session is opened.${life}`;
  return {
    name,
    title: form.about,
    description: `${form.about}${form.opens ? opening : ''}`,
    inputSchema: {
      type: 'object',
      properties: {
        connection_id: text('Of an earlier answer.'),
        ...form.properties,
        [limitArgument]: limitSchema,
      },
      required: form.opens ? form.required : ['connection_id', ...(form.required ?? [])],
      additionalProperties: false,
    },
    // A traversal is no data: nothing that is stored changes.
    annotations: { readOnlyHint: true, openWorldHint: name === 'search_vector_text' },
  };
}

/** A model has no `mcp/init`. */
function tellHowToOpen(error: unknown): never {
  if (!(error instanceof TrellisError) || error.code !== 'CONNECTION_NOT_FOUND') throw error;
  const hint = 'Leave connection_id out: n_from_type and the searches open a session.';
  throw new TrellisError({ ...error.data, hint });
}

const reads: ReadonlySet<string> = new Set(['collect', 'next', 'group_by', 'aggregate_by']);

async function walk(
  tool: string,
  { answer }: Form,
  { exchange, args, key, limit }: ToolCall,
  { handler, limits }: SessionToolOptions,
): Promise<Output> {
  const sessions = handler();
  const caller = callerOf(key);
  const view = scanBody(args, limits);
  const given = view.member('connection_id');
  const isNew = given === undefined || given.kind === 'null';
  const id = isNew ? sessions.open(caller) : given.kind === 'string' ? given.text() : '';
  const members = view.names().flatMap((name) => {
    if (name === 'connection_id') return [];
    return [`${JSON.stringify(name)}:${rawText(view.member(name)!, args)}`];
  });
  const body = `{${[`"connection_id":${JSON.stringify(id)}`, ...members].join(',')}}`;
  // Collecting may end the traversal.
  const before = isNew ? { count: 0 } : sessions.held(id, caller);
  const budget = budgetOf(exchange, limits.query_time);
  const cancellable = (cancel: () => void): void => {
    exchange.cancel = cancel;
  };
  const reply = textOf(await sessions.handle(tool, Buffer.from(body), caller, budget, cancellable));
  // What only reads may have ended the traversal; what opens may have made it.
  const { count, kind } = reads.has(tool) ? before : sessions.held(id, caller);
  const parts = [
    `"connection_id":${JSON.stringify(id)}`,
    ...(kind === undefined ? [] : [`"kind":"${kind}"`]),
    `"count":${count}`,
    ...(tool === 'collect' ? [`"more":${endOf(view) < count}`] : []),
    ...(answer === 'reset' ? [] : [`"${answer}":${reply}`]),
  ];
  const advice = 'Ask for fewer, or page with range and drop false.';
  return outputOf(`{${parts.join(',')}}`, { limit, places: 'every', advice });
}

/** Where a `range` ends: behind everything, unless it says so. */
function endOf(view: JsonView): number {
  const range = view.member('range');
  const end = range?.kind === 'object' ? range.member('end') : undefined;
  const at = end?.integral ? Number(end.token()) : -1;
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}
