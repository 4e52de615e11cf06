// The OpenAPI document of a server (client.md 3): its queries, told by the engine, and the paths that
// every server has. Invariant: a caller is told of what it may call and of nothing else.
import { type JsonSchema, openApiOf, type Program } from '../../engine/index.js';
import { adminPaths, graphPaths, openPaths } from './fixed.js';
import { walkPaths } from './walk-path.js';

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
}

export function documentOf(program: Program, options: DocumentOptions): JsonSchema {
  const { sees, admin, ...about } = options;
  const graph = sees === undefined ? [...walkPaths(program, program.queries), ...graphPaths] : [];
  return openApiOf(program, {
    ...about,
    sees: sees ?? (() => true),
    types: sees === undefined,
    paths: [...graph, ...openPaths, ...(admin ? adminPaths : [])],
  });
}
