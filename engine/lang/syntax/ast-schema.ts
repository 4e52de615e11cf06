// Syntax tree of declarations: types, fields, versions, migrations.
import type { ElementKind } from '../../base/schema.js';
import type { Faulty, Literal, Name } from './ast-literal.js';
import type { Expr } from './ast-expression.js';
import type { Span } from './source-file.js';

export type TypeNode =
  | { kind: 'name'; name: Name; span: Span }
  | { kind: 'list'; of: TypeNode; span: Span }
  | { kind: 'object'; fields: Field[]; span: Span };

/** `SEARCH`, or `SEARCH(weight: 3)`. */
export interface SearchMark {
  span: Span;
  options: { name: Name; value: Literal | Faulty }[];
}

export interface Field {
  name: Name;
  search?: SearchMark;
  index: 'none' | 'index' | 'unique';
  optional: boolean;
  type: TypeNode;
  default?: Literal | Faulty;
  /** `= value` of a parameter or of a member of its type. */
  defaultExpr?: Expr;
}

export interface TypeDeclaration {
  kind: ElementKind;
  name: Name;
  unique: boolean;
  /** Edges only; absent if not written. */
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
