// The OpenAPI document of a server (client.md 3): its queries, told by the engine, and the paths that
// every server has. Invariant: a caller is told of what it may call and of nothing else.
import {
  checkCompiler,
  type JsonSchema,
  type OpenApiText,
  buildOpenApi,
  type Program,
} from '../../engine/index.js';
import { adminPaths, graphPaths, openPaths } from './built-in-paths.js';
import { walkPaths } from './session-paths.js';

export interface DocumentOptions {
  /** Of the project. */
  title: string;
  /** Of the server. */
  version: string;
  /** Whether callers need a key. */
  keys: boolean;
  /** Names of the only queries that the caller may see. */
  sees?: (query: string) => boolean;
  /** The caller is told of administration, too. */
  admin: boolean;
  /** As the engine decides, unless told. */
  shared?: boolean;
}

/** What the engine is told, but for which queries are seen. */
function aboutOf(program: Program, { sees, admin, ...about }: DocumentOptions) {
  const graph = sees === undefined ? [...walkPaths(program, program.queries), ...graphPaths] : [];
  const paths = [...graph, ...openPaths, ...(admin ? adminPaths : [])];
  return { ...about, types: sees === undefined, paths };
}

export function documentOf(program: Program, options: DocumentOptions): JsonSchema {
  return buildOpenApi(program, {
    ...aboutOf(program, options),
    sees: options.sees ?? (() => true),
  });
}

/** Its text. That of many queries is made beside the thread that serves; fails as its queue does, OVERLOADED. */
export function documentText(
  program: Program,
  options: DocumentOptions,
): OpenApiText | Promise<OpenApiText> {
  const { sees } = options;
  const names = program.queries.map(({ name }) => name);
  const seen = sees && new Set(names.filter(sees));
  return checkCompiler.document(program, aboutOf(program, options), seen);
}
