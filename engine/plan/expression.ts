// Expressions of a plan: plain, cloneable data. Evaluated against an environment of numbered slots.
//
// Slots hold variables, loop items and every "current item" (`_`): a binder names the slot it
// fills, so nested binders need no depth counting. A slot holds a scalar, an element, a record, a
// list of these, or null.
import type { Scalar, ScalarList } from '../base/value.js';
import type { TypeRef } from '../base/schema.js';
import type { Source, Step } from './step.js';

export type CompareOperator = 'EQ' | 'NEQ' | 'GT' | 'GTE' | 'LT' | 'LTE' | 'CONTAINS' | 'IS_IN';

export type MathFunction =
  | 'ADD'
  | 'SUB'
  | 'MUL'
  | 'ABS'
  | 'DIV'
  | 'MOD'
  | 'POW'
  | 'SQRT'
  | 'LN'
  | 'LOG10'
  | 'LOG'
  | 'EXP'
  | 'SIN'
  | 'COS'
  | 'TAN'
  | 'ASIN'
  | 'ACOS'
  | 'ATAN'
  | 'ATAN2'
  | 'PI'
  | 'E'
  | 'CEIL'
  | 'FLOOR'
  | 'ROUND'
  | 'MIN'
  | 'MAX';

export type AggregateFunction = 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'COUNT';

/**
 * What a by-id or unique lookup does on a miss: 404, or nothing (in EXISTS, DROP, per-item
 * expressions).
 */
export type Miss = 'error' | 'none';

/** One property assignment of a create, update or upsert. */
export interface Assignment {
  property: string;
  value: Expression;
  /** `NONE` written literally: unset the property (a run-time null is skipped instead). */
  unset: boolean;
}

/** An end of an edge. `many`: every element of the list; otherwise exactly one element or ID. */
export interface End {
  value: Expression;
  many: boolean;
}

/** One member of a projection, in output order. */
export type Member =
  | { kind: 'value'; name: string; value: Expression }
  /** `..`: every property and implicit member of the item (without `data`) except these names. */
  | { kind: 'spread'; except: string[] };

/**
 * Implicit member names understood by `property`: id, label, from_node, to_node, data, score,
 * distance. `distance` and `score` are null on items that no search produced.
 */
export type Expression =
  | { kind: 'literal'; value: Scalar | ScalarList }
  /** The instant at which the request began. */
  | { kind: 'now' }
  | { kind: 'parameter'; index: number }
  | { kind: 'slot'; slot: number }
  /** Member of an element or record; of null: null; of a list: the list of members. */
  | { kind: 'property'; of: Expression; name: string }
  /**
   * What a binding has computed for the item `of` under `key`; for any other item `value`, computed
   * now.
   */
  | { kind: 'kept'; key: number; of: Expression; value: Expression }
  /** The only item of a list (404 on none or null, 409 on several; `miss: 'none'`: null on none). A single
   *  value passes through. `place` names it in the error. */
  | { kind: 'single'; of: Expression; miss: Miss; place: string }
  /**
   * `any`: `left` is a list and one of its items must satisfy it. `f32`: round both sides to 32
   * bits first.
   */
  | {
      kind: 'compare';
      operator: CompareOperator;
      left: Expression;
      right: Expression;
      any: boolean;
      f32: boolean;
    }
  | { kind: 'and' | 'or'; of: Expression[] }
  /** null counts as false before negation. */
  | { kind: 'not'; of: Expression }
  /** At least one item, or a value that is not null. */
  | { kind: 'exists'; of: Expression }
  /** `integer`: all arguments are integers, so the result is exact; else F64 arithmetic. */
  | { kind: 'math'; function: MathFunction; of: Expression[]; integer: boolean }
  /** Over one list (a scalar counts as a list of one); nulls are skipped. */
  | { kind: 'aggregate'; function: AggregateFunction; of: Expression; integer: boolean }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'record'; members: { name: string; value: Expression }[] }
  /** The embedding of a text that was embedded before the transaction. */
  | { kind: 'embed'; text: Expression }
  | Pipeline
  /** Shapes every element of `of` (one or a list; null stays null); printed member by member. */
  | { kind: 'project'; of: Expression; slot: number; members: Member[] }
  | { kind: 'addNode'; type: string; set: Assignment[] }
  | { kind: 'addVector'; type: string; vector: Expression; set: Assignment[] }
  | { kind: 'addVectors'; type: string; vectors: Expression }
  /** One edge, or with a `many` end the list of all combinations, From-major. */
  | { kind: 'addEdge'; type: string; set: Assignment[]; from: End; to: End }
  | {
      kind: 'upsertEdge';
      type: string;
      slot: number;
      set: Assignment[];
      from: Expression;
      to: Expression;
    }
  /** A session filter's test of one property (sessions.md 6.3, 6.4). */
  | SessionTest;

/**
 * A source followed by steps. `one` and `opt` yield the first row or null; `many` the list of all
 * rows.
 */
export interface Pipeline {
  kind: 'pipeline';
  source: Source;
  steps: Step[];
  result: 'one' | 'opt' | 'many';
}

/**
 * `operator` over the property `key` of the item in `slot`. An item whose type does not declare the
 * key, or has it unset, fails every operator. `cases` gives per declaring type the coerced filter
 * values; `null` stands for a value that is null or not comparable with that type. `list`: the
 * filter value was written as a list.
 */
export interface SessionTest {
  kind: 'test';
  slot: number;
  key: string;
  operator: '==' | '!=' | '>' | '>=' | '<' | '<=';
  list: boolean;
  cases: { type: TypeRef; values: SessionOperand[] }[];
  /**
   * Operands for items of all other types: of `id` and `label`, and of the `score` and `distance`
   * of hits.
   */
  attribute?: SessionOperand[];
}

/**
 * A coerced filter value. Decimal text against an integer property is held as the floor and "was
 * exact".
 */
export type SessionOperand =
  | { kind: 'value'; value: Scalar }
  | { kind: 'fraction'; floor: number | bigint }
  | { kind: 'incomparable' };
