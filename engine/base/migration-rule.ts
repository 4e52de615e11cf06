// Rules that convert the data of one schema version to the next. The compiler makes them from a
// MIGRATION, and the storage applies them. Plain data.
import type { ElementKind, ScalarName } from './schema.js';
import type { Scalar } from './value.js';

/** Source of one property of the new type. */
export type FieldRule =
  | { kind: 'literal'; value: Scalar }
  | { kind: 'now' }
  | { kind: 'copy'; from: string; as?: ScalarName };

/**
 * Rewrites every element of `from` as `to`. `fields` lists every target property that receives a
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
