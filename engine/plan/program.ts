// What a set of sources compiles to: the schema, its queries and its migrations. Plain data.
import type { ElementKind, Schema } from '../base/schema.js';
import type { ScalarName } from '../base/schema.js';
import type { Scalar } from '../base/value.js';
import type { Query } from './plan.js';

/** How one property of the new type comes to be. */
export type FieldRule =
  | { kind: 'literal'; value: Scalar }
  | { kind: 'now' }
  | { kind: 'copy'; from: string; as?: ScalarName };

/**
 * Rewrites every element of `from` into `to`; `fields` holds all target properties that get a
 * value.
 */
export interface TypeMigration {
  kind: ElementKind;
  from: string;
  to: string;
  fields: { name: string; rule: FieldRule }[];
}

export interface Migration {
  fromVersion: number;
  toVersion: number;
  types: TypeMigration[];
}

export interface Program {
  /** The schema of the highest version. */
  schema: Schema;
  /** Older versions, for migrations only. */
  olderSchemas: Schema[];
  migrations: Migration[];
  queries: Query[];
  compat: boolean;
}
