// The OpenAPI document of a server: its queries and its built-in paths.
//
// Invariant: a caller sees only what it may call.
import {
  checkCompiler,
  type JsonSchema,
  type OpenApiText,
  buildOpenApi,
  type Program,
} from '../../engine/internal.js';
import { adminPaths, graphPaths, openPaths } from './built-in-paths.js';
import { sessionPaths } from './session-paths.js';

export interface DocumentOptions {
  /** Title of the project. */
  title: string;
  /** Version of the server. */
  version: string;
  /** Whether callers need a key. */
  keys: boolean;
  /** Names of the only queries that the caller may see. */
  sees?: (query: string) => boolean;
  /** Whether the caller sees the paths of administration. */
  admin: boolean;
  /** Whether equal schemas are shared (default: the engine decides). */
  shared?: boolean;
}

/** Returns the options of the engine, without the filter of queries. */
function aboutOf(program: Program, { sees, admin, ...about }: DocumentOptions) {
  const graph =
    sees === undefined ? [...sessionPaths(program, program.queries), ...graphPaths] : [];
  const paths = [...graph, ...openPaths, ...(admin ? adminPaths : [])];
  return { ...about, types: sees === undefined, paths };
}

export function documentOf(program: Program, options: DocumentOptions): JsonSchema {
  return buildOpenApi(program, {
    ...aboutOf(program, options),
    sees: options.sees ?? (() => true),
  });
}

/**
 * Returns the text of the document. With many queries, another thread creates it. Fails OVERLOADED.
 */
export function documentText(
  program: Program,
  options: DocumentOptions,
): OpenApiText | Promise<OpenApiText> {
  const { sees } = options;
  const names = program.queries.map(({ name }) => name);
  const seen = sees && new Set(names.filter(sees));
  return checkCompiler.document(program, aboutOf(program, options), seen);
}
