// Syntax tree of expressions, with positions, before any name is resolved. Calls are general: a name with
// type arguments and arguments. The checker decides which calls exist and what they accept.
import type { Faulty, Literal, Name } from './ast-literal.js';
import type { Span } from './source-file.js';

export type Expr =
  | Literal
  | Faulty
  | { kind: 'not'; of: Expr; span: Span }
  | { kind: 'array'; items: Expr[]; span: Span }
  | ObjectLiteral
  /** Only as the value of a variable: the number of deleted elements. */
  | { kind: 'drop'; of: Expr; span: Span }
  | Chain;

export interface ObjectLiteral {
  kind: 'object';
  members: { name: Name; value: Expr }[];
  span: Span;
}

export interface Chain {
  kind: 'chain';
  /** `members`: the names in `_.a.b`. */
  head: { kind: 'item'; members: Name[]; span: Span } | Path | Call;
  steps: Step[];
  span: Span;
}

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
  /** `NULLS FIRST` or `NULLS LAST` of each direction of an ORDER, parallel to `types`. */
  nulls?: (Name | undefined)[];
  args?: Argument[];
  /** `{1, 3}` after a step. `any` is `*`; without `high` both bounds are `low`. */
  hops?: { low: Expr; high?: Expr | { kind: 'any' }; span: Span };
  span: Span;
}

export type Step =
  | Call
  | { kind: 'projection'; items: ProjectionItem[]; closure?: Name; span: Span }
  | { kind: 'exclusion'; names: Name[]; span: Span };

export type ProjectionItem =
  | { kind: 'spread'; span: Span }
  /** `name <- value`: visible to later members, not printed. */
  | { kind: 'binding'; name: Name; value: Expr }
  /** Without `value`: the property of that name. */
  | {
      kind: 'member';
      name: Name;
      value?: Expr | { kind: 'nested'; items: ProjectionItem[]; span: Span };
    };
