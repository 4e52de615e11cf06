// How the data of one schema version become those of the next, as the compiler makes it of a MIGRATION
// and the storage carries it out. Plain data.
import type { ElementKind, ScalarName } from './schema.js';
import type { Scalar } from './value.js';

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
