// The result of compiling a set of sources: the schema, its queries and its migrations. Plain data.
import type { Migration } from '../base/migration-rule.js';
import type { Schema } from '../base/schema.js';
import type { Query } from './plan.js';

export interface Program {
  /** The schema of the highest version. */
  schema: Schema;
  /** Older versions, used only by migrations. */
  olderSchemas: Schema[];
  migrations: Migration[];
  queries: Query[];
  compat: boolean;
}
