// The resources: the schema for programs and for models, every query, every element. Invariant: a resource
// that a caller may not see gives the same error as a missing one.
import {
  type Database,
  parseDocText,
  parseUuid,
  type Query,
  type ReadView,
} from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import type { ProtocolStyle } from '../message/protocol-version.js';
import { type Answer, type MethodCall, membersOf, type Methods } from '../message/method.js';
import { RpcError, rpcCodes } from '../message/rpc-reply.js';
import { textParameter } from '../message/json-rpc.js';
import { elementBody } from './element-body.js';
import { queryBody } from './query-body.js';
import { schemaBody } from './schema-body.js';
import { schemaPage } from './schema-page.js';
import { type Visibility, visibleTo } from './visibility.js';

/** Fails while calls are refused, for example with NOT_READY. */
export type GetDatabase = () => Database;

export const schemaUri = 'trellis://schema';
export const schemaPageUri = 'trellis://schema.md';
export const queryTemplate = 'trellis://query/{name}';
const queryPrefix = 'trellis://query/';
const elementTemplate = 'trellis://element/{id}';
const elementPrefix = 'trellis://element/';

/**
 * Maximum number of listed queries. Others are only reachable by their template, because a long list
 * fills the context of a model.
 */
const listedMax = 200;

const json = 'application/json';
const markdown = 'text/markdown';

const schemas = [
  {
    uri: schemaUri,
    name: 'schema',
    title: 'Schema',
    description: 'Types with the number of their elements, and queries, as a record.',
    mimeType: json,
  },
  {
    uri: schemaPageUri,
    name: 'schema.md',
    title: 'Schema, for reading',
    description: 'What there is: types, edges, values to look up, queries. Read this first.',
    mimeType: markdown,
  },
];

const queryEntry = {
  uriTemplate: queryTemplate,
  name: 'query',
  title: 'A query',
  description: 'The text of a query, what it takes and gives, and its plan.',
  mimeType: json,
};
const elementEntry = {
  uriTemplate: elementTemplate,
  name: 'element',
  title: 'An element',
  description: 'A node, edge or vector by its id, and how many edges of each type it has.',
  mimeType: json,
};

export function resourceMethods(database: GetDatabase): Methods {
  return [
    ['resources/list', { answer: ({ key }) => list(visibleTo(database().program, key)) }],
    ['resources/templates/list', { answer: ({ key }) => templates(database, key) }],
    ['resources/read', { answer: (call) => read(call, database()) }],
  ];
}

function list({ queries }: Visibility): Answer {
  const resources = [...schemas, ...queries.slice(0, listedMax).map(resourceOfQuery)];
  return { members: membersOf({ resources }), keep: 'lists' };
}

function resourceOfQuery(query: Query) {
  const { name } = query;
  const { title } = parseDocText(query);
  return { uri: `${queryPrefix}${name}`, name, title, mimeType: json };
}

function templates(database: GetDatabase, key: Caller | undefined): Answer {
  const { hasGraph } = visibleTo(database().program, key);
  const resourceTemplates = hasGraph ? [queryEntry, elementEntry] : [queryEntry];
  return { members: membersOf({ resourceTemplates }), keep: 'lists' };
}

interface Content {
  mimeType: string;
  text: string;
  /** The resource changes all the time, so clients must not cache it. */
  passing?: true;
}

function read({ frame, era, key }: MethodCall, database: Database): Answer {
  const uri = textParameter(frame, 'uri');
  const content = contentOf(uri, database, key);
  if (content === undefined) return failUnknown(uri, era);
  const { mimeType, text, passing } = content;
  const contents = [{ uri, mimeType, text }];
  return { members: membersOf({ contents }), keep: passing ? 'never' : 'lists' };
}

function contentOf(uri: string, database: Database, key: Caller | undefined): Content | undefined {
  const { program } = database;
  const seen = visibleTo(program, key);
  const inView = <T>(see: (view: ReadView) => T): T => database.view(see);
  if (uri === schemaUri) {
    return { mimeType: json, text: inView((view) => schemaBody(seen, view)) };
  }
  if (uri === schemaPageUri) {
    return { mimeType: markdown, text: inView((view) => schemaPage(seen, view)) };
  }
  if (uri.startsWith(queryPrefix)) {
    const query = seen.queries.find(({ name }) => name === uri.slice(queryPrefix.length));
    if (query === undefined) return undefined;
    const text = inView((view) => queryBody(query, program, seen.hasGraph ? view : undefined));
    return { mimeType: json, text };
  }
  const uuid = uri.startsWith(elementPrefix) && parseUuid(uri.slice(elementPrefix.length));
  const text = uuid && seen.hasGraph ? inView((view) => elementBody(view, uuid)) : undefined;
  return text === undefined ? undefined : { mimeType: json, text, passing: true };
}

function failUnknown(uri: string, era: ProtocolStyle): never {
  const code = era === 'modern' ? rpcCodes.params : rpcCodes.noResource;
  throw new RpcError(code, `Resource not found: ${uri}`, undefined, { uri });
}
