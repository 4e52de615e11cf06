// Syntax tree of queries and of whole files.
import type { Expr } from './ast-expression.js';
import type { Name } from './ast-literal.js';
import type { Field, MigrationDeclaration, TypeDeclaration, Version } from './ast-schema.js';
import type { Span } from './source-file.js';

export interface QueryDeclaration {
  name: Name;
  /** From its first macro to its last token. */
  span: Span;
  macros: Macro[];
  parameters: Field[];
  statements: Statement[];
  /** Absent without `RETURN`. */
  returns?: Expr[];
  /** True if parts could not be read. The absence of a name or statement then means nothing. */
  faulty: boolean;
  /** Names in the unreadable parts: they may have been bound there. */
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

/** Declarations of one or more files, in order. */
export interface SourceTree {
  types: { version: Version; declaration: TypeDeclaration }[];
  /** Blocks as written, including empty ones. */
  versions: Version[];
  migrations: MigrationDeclaration[];
  queries: QueryDeclaration[];
  /** Names in unreadable source text: they may have been declared there. */
  lost: Set<string>;
}
