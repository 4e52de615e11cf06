// The syntax tree: what was written, with places, before anything is known about names. Calls are kept general
// (a name with type arguments and arguments); which calls exist and what they take is the checker's business.
import type { ElementKind } from '../base/schema.js';
import type { Span } from './source.js';

export interface Name {
  text: string;
  span: Span;
}

export type LiteralValue =
  | { kind: 'string'; value: string }
  | { kind: 'integer'; value: number | bigint }
  | { kind: 'float'; value: number }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'none' }
  | { kind: 'now' };

export interface Literal {
  kind: 'literal';
  value: LiteralValue;
  span: Span;
}

/** Stands where something could not be read; it has been reported. */
export interface Faulty {
  kind: 'faulty';
  span: Span;
}

// Schema.

export type TypeNode =
  | { kind: 'name'; name: Name; span: Span }
  | { kind: 'list'; of: TypeNode; span: Span }
  | { kind: 'object'; fields: Field[]; span: Span };

export interface Field {
  name: Name;
  index: 'none' | 'index' | 'unique';
  optional: boolean;
  type: TypeNode;
  default?: Literal | Faulty;
}

export interface TypeDeclaration {
  kind: ElementKind;
  name: Name;
  unique: boolean;
  /** Edges only; absent when not written. */
  from?: Name;
  to?: Name;
  fields: Field[];
}

export interface Version {
  number: number;
  span: Span;
}

export interface MigrationDeclaration {
  from: Version;
  to: Version;
  mappings: Mapping[];
}

export interface Mapping {
  kind: ElementKind;
  from: Name;
  /** Absent: `_::`, the same type. */
  to?: { kind: ElementKind; name: Name };
  rules: MappingRule[];
}

export interface MappingRule {
  name: Name;
  value: Literal | Faulty | { kind: 'copy'; from: Name; as?: Name };
}

// Queries.

export interface QueryDeclaration {
  name: Name;
  macros: Macro[];
  parameters: Field[];
  statements: Statement[];
  /** Absent without `RETURN`. */
  returns?: Expr[];
  /** Parts of it could not be read, so that what is missing means nothing. */
  faulty: boolean;
}

export interface Macro {
  name: Name;
  argument?: string;
}

export type Statement =
  | { kind: 'bind'; name: Name; value: Expr }
  | { kind: 'drop'; value: Expr }
  | { kind: 'for'; names: Name[]; destructured: boolean; in: Expr; body: Statement[] }
  | { kind: 'effect'; value: Expr };

export type Expr =
  | Literal
  | Faulty
  | { kind: 'not'; of: Expr; span: Span }
  | { kind: 'array'; items: Expr[]; span: Span }
  | ObjectLiteral
  | Chain;

export interface ObjectLiteral {
  kind: 'object';
  members: { name: Name; value: Expr }[];
  span: Span;
}

export interface Chain {
  kind: 'chain';
  head: Head;
  steps: Step[];
  span: Span;
}

export type Head = { kind: 'item'; span: Span } | Path | Call;

/** A name, or a member of one: `a.b.c`. */
export interface Path {
  kind: 'path';
  names: [Name, ...Name[]];
  span: Span;
}

export interface Argument {
  /** Written `name: value`. */
  name?: Name;
  value: Expr;
}

export interface Call {
  kind: 'call';
  name: Name;
  types?: Name[];
  args?: Argument[];
  span: Span;
}

export type Step =
  | Call
  | { kind: 'projection'; items: ProjectionItem[]; closure?: Name; span: Span }
  | { kind: 'exclusion'; names: Name[]; span: Span };

export type ProjectionItem =
  | { kind: 'spread'; span: Span }
  /** `value` absent: the property of that name. */
  | { kind: 'member'; name: Name; value?: Expr | NestedProjection };

export interface NestedProjection {
  kind: 'nested';
  items: ProjectionItem[];
  span: Span;
}

/** Everything one or more files declare, in order. */
export interface SourceTree {
  types: { version: Version; declaration: TypeDeclaration }[];
  /** Blocks as written, also empty ones. */
  versions: Version[];
  migrations: MigrationDeclaration[];
  queries: QueryDeclaration[];
}
