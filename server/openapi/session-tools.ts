// The table of session tools: what each does, what it takes, and the name of its reply. Both the MCP tools
// and the paths of `/mcp/` use this table. Invariant: a tool refuses a call without an argument that is
// required here.
import type { Schema } from '../../engine/internal.js';

/** A JSON Schema. */
type Property = Readonly<Record<string, unknown>>;

export interface ToolForm {
  about: string;
  properties: Readonly<Record<string, Property>>;
  required?: readonly string[];
  /** Creates a traversal, so it can be the first call of a session. */
  opens?: true;
  /** Member of the result that has the reply. */
  answer: 'first' | 'items' | 'item' | 'reset';
}

const text = (description?: string): Property => ({
  type: 'string',
  ...(description !== undefined && { description }),
});
const hits: Property = { type: 'integer', minimum: 1, description: 'How many hits.' };
const minScore: Property = { type: 'number', description: 'Hits below it are left out.' };
const flag = (description: string): Property => ({ type: 'boolean', description });
const mode: Property = {
  type: 'string',
  enum: ['any', 'all', 'phrase', 'query'],
  description:
    'any of the words, all of them, a phrase, or a query with phrases in quotation marks, +must and -not.',
};
const prefix = flag('Whether the last word may be the beginning of a word.');
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

/** Tools by name, in the order of their list. */
export function toolForms(schema: Schema): Map<string, ToolForm> {
  return new Map([...walking(schema), ...searches(schema), ...reading]);
}

function walking(schema: Schema): [string, ToolForm][] {
  const edge = { edge_label: names(schema.edges) };
  const kind = { edge_type: { type: 'string', enum: ['node', 'vec'] } };
  const step = (about: string, toNodes: boolean): ToolForm => ({
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

function searches(schema: Schema): [string, ToolForm][] {
  const label = names([...schema.nodes, ...schema.vectors]);
  return [
    [
      'search_vector',
      {
        about: 'Ranks by nearness to a vector: the items there are, or all vectors.',
        properties: {
          vector: { type: 'array', items: { type: 'number' } },
          k: hits,
          min_score: minScore,
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
        { label: names(schema.vectors), k: hits, min_score: minScore },
        ['query', 'label'],
      ),
    ],
    [
      'search_keyword',
      searching('Ranks by the words of a text.', { label, limit: hits, mode, prefix }, [
        'query',
        'label',
        'limit',
      ]),
    ],
  ];
}

const reading: [string, ToolForm][] = [
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

function starting(what: string, properties: ToolForm['properties']): ToolForm {
  const required = Object.keys(properties);
  return { about: `${what}, oldest first.`, properties, required, opens: true, answer: 'first' };
}

function grouping(about: string): ToolForm {
  const drop = flag('Whether the traversal ends; false unless said.');
  const properties = { properties: texts, drop };
  return { about, properties, required: ['properties'], answer: 'items' };
}

function searching(
  about: string,
  more: ToolForm['properties'],
  required: readonly string[],
): ToolForm {
  const properties = { query: text('What to look for.'), ...more };
  return { about, properties, required, opens: true, answer: 'items' };
}
