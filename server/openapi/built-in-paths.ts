// The OpenAPI description of the built-in paths: health, version, metrics, administration. Invariant: these
// are all paths of a server for programs, except those of queries (a test compares).
import type { JsonSchema } from '../../engine/internal.js';

export type Paths = readonly (readonly [path: string, JsonSchema])[];

const object: JsonSchema = { type: 'object' };
const list: JsonSchema = { type: 'array', items: object };
const errorReply = { $ref: '#/components/responses/Error' };

const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });

interface OperationOptions {
  method?: 'get' | 'post';
  summary: string;
  tag: string;
  /** Parameters of the query string. One that ends with `!` is required. */
  asks?: readonly string[];
  body?: JsonSchema;
  gives?: JsonSchema;
  /** The reply is plain text. */
  text?: true;
  /** The body is lines of JSON. */
  rows?: true;
  /** No key is needed. */
  open?: true;
}

/** Returns one path. Its operation has a name that no query can have. */
export function pathEntry(path: string, options: OperationOptions): readonly [string, JsonSchema] {
  const {
    method = 'get',
    summary,
    tag,
    asks = [],
    body,
    rows,
    gives = object,
    text,
    open,
  } = options;
  const parameters = asks.map((name) => ({
    name: name.replace('!', ''),
    in: 'query',
    required: name.endsWith('!'),
    schema: { type: 'string' },
  }));
  const content = text ? { 'text/plain': { schema: { type: 'string' } } } : json(gives);
  const operation = {
    operationId: path
      .slice(1)
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-?/, `${method}-`),
    summary,
    tags: [tag],
    ...(open && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: rows ? { 'application/x-ndjson': body } : json(body) } }),
    responses: { 200: { description: 'As asked.', content }, default: errorReply },
  };
  return [path, { [method]: operation }];
}

const health = 'health';
const about = 'about';
const dashboard = 'dashboard of HelixDB';
const admin = 'administration';

/** Paths for every key. */
export const openPaths: Paths = [
  pathEntry('/livez', { summary: 'Whether the process lives.', tag: health, open: true }),
  pathEntry('/healthz', { summary: 'The same under another name.', tag: health, open: true }),
  pathEntry('/readyz', { summary: 'Whether calls are answered.', tag: health, open: true }),
  pathEntry('/version', { summary: 'Versions of server, interface and data format.', tag: about }),
  pathEntry('/openapi.json', { summary: 'This document.', tag: about }),
  pathEntry('/introspect', { summary: 'Schema and queries, in the form of HelixDB.', tag: about }),
];

/** Paths for keys that may read the whole graph. */
export const graphPaths: Paths = [
  pathEntry('/nodes-by-label', {
    summary: 'Nodes of a type.',
    tag: dashboard,
    asks: ['label!', 'limit'],
  }),
  pathEntry('/nodes-edges', {
    summary: 'Some nodes and the edges between them.',
    tag: dashboard,
    asks: ['limit', 'node_label'],
  }),
  pathEntry('/node-connections', {
    summary: 'What a node is connected with.',
    tag: dashboard,
    asks: ['node_id!'],
  }),
  pathEntry('/node-details', { summary: 'One node.', tag: dashboard, asks: ['id!'] }),
];

const post = (path: string, summary: string, more: Partial<OperationOptions> = {}) =>
  pathEntry(`/_admin/${path}`, { method: 'post', summary, tag: admin, ...more });

const text = { type: 'string' };
const flag = { type: 'boolean' };
const source = {
  type: 'object',
  properties: { path: text, text },
  required: ['path', 'text'],
};
const importFile = {
  type: 'object',
  properties: { name: text, rows: { type: 'array', items: { type: 'integer' } }, isUpsert: flag },
  required: ['name', 'rows', 'isUpsert'],
};
const adHoc = {
  type: 'object',
  properties: { source: text, parameters: object, write: flag, explain: flag, profile: flag },
  required: ['source'],
};

/** Paths for the role `admin`. */
export const adminPaths: Paths = [
  pathEntry('/metrics', { summary: 'Measurements, for Prometheus.', tag: admin, text: true }),
  pathEntry('/slowlog', { summary: 'The last slow requests.', tag: admin, gives: list }),
  pathEntry('/_admin/indexes', { summary: 'Every index in numbers.', tag: admin }),
  post('reload', 'Reads the sources again.'),
  post('check', 'What sources are to the compiler and to the data; nothing is changed.', {
    body: { type: 'object', properties: { sources: { type: 'array', items: source } } },
  }),
  post('recall', 'How many of the nearest an index finds.', { asks: ['type', 'samples', 'k'] }),
  post('reembed', 'Makes the vectors of a type again with the configured model.', {
    asks: ['type!', 'from', 'keep', 'status'],
  }),
  post('snapshot', 'Writes images of the vector indexes now.'),
  post('backup', 'Copies the database.', { body: { type: 'object', properties: { name: text } } }),
  post('verify', 'Checks all data.'),
  post('tenants', 'Lists, adds and drops tenants.', {
    body: { type: 'object', properties: { add: text, drop: text } },
  }),
  post('import', 'Loads rows.', { rows: true, body: { schema: text } }),
  post('import-files', 'Says which files the rows of an import are from.', {
    asks: ['name!'],
    body: { type: 'array', items: importFile },
  }),
  post('query', 'Runs a query that nobody stored.', { body: adHoc }),
  post('cluster-status', 'What a node of a cluster knows.'),
  post('cluster-step-down', 'Another node leads.'),
  post('cluster-check', 'Whether the nodes hold the same data.'),
];
