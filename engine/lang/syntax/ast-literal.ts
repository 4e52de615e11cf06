// Names and literals of the syntax tree, used in declarations and queries.
import type { Span } from './source-file.js';

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

/** Replaces unreadable source text, which has been reported. */
export interface Faulty {
  kind: 'faulty';
  span: Span;
}
