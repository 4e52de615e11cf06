// The syntax tree of expressions: what was written, with places, before anything is known about
// names. Calls are kept general (a name with type arguments and arguments); which calls exist and
// what they take is the checker's business.
import type { Faulty, Literal, Name } from './ast-literal.js';
import type { Span } from './source.js';

export type Expr =
  | Literal
  | Faulty
  | { kind: 'not'; of: Expr; span: Span }
  | { kind: 'array'; items: Expr[]; span: Span }
  | ObjectLiteral
  /** Only what a variable is bound to: how many elements were deleted. */
  | { kind: 'drop'; of: Expr; span: Span }
  | Chain;

export interface ObjectLiteral {
  kind: 'object';
  members: { name: Name; value: Expr }[];
  span: Span;
}

export interface Chain {
  kind: 'chain';
  /** `members`: `_.a.b`. */
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
  /** Of the directions of ORDER, beside `types`: `NULLS FIRST` is `FIRST`. */
  nulls?: (Name | undefined)[];
  args?: Argument[];
  /** `{1, 3}` behind a step; `any` is `*`, and without `high` the bounds are one number. */
  hops?: { low: Expr; high?: Expr | { kind: 'any' }; span: Span };
  span: Span;
}

export type Step =
  | Call
  | { kind: 'projection'; items: ProjectionItem[]; closure?: Name; span: Span }
  | { kind: 'exclusion'; names: Name[]; span: Span };

export type ProjectionItem =
  | { kind: 'spread'; span: Span }
  /** `name <- value`: seen by the members behind it, not printed. */
  | { kind: 'binding'; name: Name; value: Expr }
  /** `value` absent: the property of that name. */
  | {
      kind: 'member';
      name: Name;
      value?: Expr | { kind: 'nested'; items: ProjectionItem[]; span: Span };
    };
