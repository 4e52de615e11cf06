// The syntax tree of queries and of whole files.
import type { Expr } from './ast-expression.js';
import type { Name } from './ast-literal.js';
import type { Field, MigrationDeclaration, TypeDeclaration, Version } from './ast-schema.js';
import type { Span } from './source.js';

export interface QueryDeclaration {
  name: Name;
  /** From its first macro to the last sign of it that was read. */
  span: Span;
  macros: Macro[];
  parameters: Field[];
  statements: Statement[];
  /** Absent without `RETURN`. */
  returns?: Expr[];
  /** Parts of it could not be read, so that what is missing means nothing. */
  faulty: boolean;
  /** Names that stand in those parts: they may have been bound there. */
  lost?: ReadonlySet<string>;
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

/** Everything one or more files declare, in order. */
export interface SourceTree {
  types: { version: Version; declaration: TypeDeclaration }[];
  /** Blocks as written, also empty ones. */
  versions: Version[];
  migrations: MigrationDeclaration[];
  queries: QueryDeclaration[];
  /** Names that stand in what could not be read: they may have been declared there. */
  lost: Set<string>;
}
