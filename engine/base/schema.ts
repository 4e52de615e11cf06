// The declared types in memory. The compiler builds them, all layers read them. Plain data, never
// changed after construction.
import type { SearchOptions } from './text/search-options.js';
import type { Instant, Scalar, ScalarList } from './value.js';

export type ScalarName =
  | 'String'
  | 'Boolean'
  | 'Date'
  | 'ID'
  | 'I8'
  | 'I16'
  | 'I32'
  | 'I64'
  | 'U8'
  | 'U16'
  | 'U32'
  | 'U64'
  | 'U128'
  | 'F32'
  | 'F64'
  | 'Json';

/** Type of a property: a scalar or a (nested) list of scalars. */
export type PropertyType =
  | { kind: 'scalar'; name: ScalarName }
  | { kind: 'list'; of: PropertyType };

/** Type of a parameter: also allows objects with named members. */
export type ParameterType =
  | { kind: 'scalar'; name: ScalarName }
  | { kind: 'list'; of: ParameterType }
  | { kind: 'object'; members: ObjectMember[] };

export interface ObjectMember {
  name: string;
  type: ParameterType;
  optional: boolean;
  /** Value of a member that is absent or null. */
  default?: ParameterDefault;
}

/** `now` is the instant of the request. */
export type ParameterDefault = { kind: 'now' } | { kind: 'literal'; value: Scalar | ScalarList };

export type Default = { kind: 'now' } | { kind: 'literal'; value: Scalar };

/**
 * Returns the default value at the instant `now`. For an I64 it is the number of seconds since 1970
 * ([compat]).
 */
export function defaultAt(defaultValue: Default, type: PropertyType, now: Instant): Scalar {
  if (defaultValue.kind === 'literal') return defaultValue.value;
  return type.kind === 'scalar' && type.name === 'I64' ? now.seconds : now;
}

/** Returns true for the types that keyword search reads: String and [String]. */
export const isText = (type: PropertyType): boolean =>
  type.kind === 'list' ? type.of.kind === 'scalar' && isText(type.of) : type.name === 'String';

export interface Property {
  name: string;
  type: PropertyType;
  index: 'none' | 'index' | 'unique';
  default?: Default;
  search?: SearchOptions;
}

export type ElementKind = 'node' | 'edge' | 'vector';

export interface NodeType {
  kind: 'node';
  name: string;
  properties: Property[];
}

export interface EdgeType {
  kind: 'edge';
  name: string;
  from: TypeRef;
  to: TypeRef;
  /** Allows at most one edge for each pair of endpoints. */
  unique: boolean;
  properties: Property[];
}

export interface VectorType {
  kind: 'vector';
  name: string;
  properties: Property[];
}

export type ElementType = NodeType | EdgeType | VectorType;

/** Names one declared type. Types of different kinds may share a name. */
export interface TypeRef {
  kind: ElementKind;
  name: string;
}

/** Declarations in source order; `version` is the highest `schema::n`. */
export interface Schema {
  version: number;
  nodes: NodeType[];
  edges: EdgeType[];
  vectors: VectorType[];
}

export const emptySchema: Schema = { version: 1, nodes: [], edges: [], vectors: [] };

/**
 * Returns the declaration of a reference, or undefined. The search is linear, so callers on hot
 * paths store the result.
 */
export function findType(schema: Schema, ref: TypeRef): ElementType | undefined {
  return typesOf(schema, ref.kind).find((type) => type.name === ref.name);
}

export function typesOf(schema: Schema, kind: ElementKind): readonly ElementType[] {
  return kind === 'node' ? schema.nodes : kind === 'edge' ? schema.edges : schema.vectors;
}

/** Returns the type as a source writes it: `[F64]`, `String`, `{name: String}`. */
export function printType(type: ParameterType): string {
  if (type.kind === 'scalar') return type.name;
  if (type.kind === 'list') return `[${printType(type.of)}]`;
  const members = type.members.map(
    (m) => `${m.name}${m.optional ? '?' : ''}: ${printType(m.type)}`,
  );
  return `{${members.join(', ')}}`;
}
