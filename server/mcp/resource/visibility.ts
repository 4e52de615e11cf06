// The part of a program that a caller sees: the queries that it may call, and the types unless its key is
// limited to some queries. Resources and prompts are made from this part.
import { emptySchema, type Program, type Query, type Schema } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import { isScoped, mayCall } from '../../auth/permissions.js';

export interface Visibility {
  schema: Schema;
  queries: Query[];
  /** Whether the caller sees types and elements, not only queries. */
  hasGraph: boolean;
}

export function visibleTo({ schema, queries }: Program, caller: Caller | undefined): Visibility {
  const hasGraph = !isScoped(caller);
  return {
    schema: hasGraph ? schema : emptySchema,
    queries: queries.filter((query) => mayCall(caller, query)),
    hasGraph,
  };
}
