// Expressions of a plan: plain, cloneable data. Evaluated against an environment of numbered slots.
//
// Slots hold variables, loop items and every "current item" (`_`): a binder names the slot it
// fills, so nested binders need no depth counting. A slot holds a scalar, an element, a record, a
// list of these, or null.
import type { Scalar, ScalarList } from '../base/value.js';
import type { TypeRef } from '../base/schema.js';
import type { DateFunction, MathFunction, TextFunction } from './function-name.js';

export type CompareOperator =
  | 'EQ'
  | 'NEQ'
  | 'GT'
  | 'GTE'
  | 'LT'
  | 'LTE'
  | 'CONTAINS'
  | 'IS_IN'
  | 'STARTS_WITH'
  | 'ENDS_WITH';

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

/** A value with a name, which may read those in front of it. */
interface Let {
  slot: number;
  key: number;
  value: Expression;
}

/** One member of a projection, in output order. */
export type Member =
  | { kind: 'value'; name: string; value: Expression }
  /** `..`: every property and implicit member of the item (without `data`) except these names. */
  | { kind: 'spread'; except: string[] };

/**
 * Implicit member names understood by `property`: id, label, from_node, to_node, data, hops, score,
 * distance. `distance` and `score` are null on items that no search produced, `hops` on those that
 * no repetition yielded.
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
  /** Evaluated when it is first needed and whenever one of the slots it reads was filled anew (planner). */
  | { kind: 'once'; of: Expression; slots: number[] }
  /** The condition `of`, which holds for those elements that the path leads to (planner). */
  | {
      kind: 'among';
      of: Expression;
      item: Extract<Expression, { kind: 'slot' }>;
      path: ReachedPath;
    }
  /**
   * `value` beside values that have names: each is in its slot, computed once for the item `of` however many
   * expressions ask for it (`key`), as long as nothing is written and the slots it reads hold the same.
   */
  | { kind: 'with'; of: Expression; lets: Let[]; value: Expression }
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
  /**
   * Over one list (a scalar counts as a list of one); nulls are skipped. `count` (planner): of an
   * average, `of` is the sum of so many.
   */
  | {
      kind: 'aggregate';
      function: AggregateFunction;
      of: Expression;
      integer: boolean;
      count?: Expression;
    }
  /** Only the branch taken is evaluated; null counts as false. */
  | { kind: 'if'; condition: Expression; value: Expression; otherwise: Expression }
  /** The first value that is not null, the rest unevaluated; what is missing (404) is null. */
  | { kind: 'coalesce'; of: Expression[] }
  /** Null when an argument is. */
  | { kind: 'text'; function: TextFunction; of: Expression[] }
  /** Null when an argument is. Units are Strings, the last argument. */
  | { kind: 'date'; function: DateFunction; of: Expression[] }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'record'; members: { name: string; value: Expression }[] }
  /** The embedding of a text that was embedded before the transaction, by the model of that vector type. */
  | { kind: 'embed'; text: Expression; type?: string }
  | Pipeline
  /** Shapes every element of `of` (one or a list; null stays null); printed member by member. */
  | { kind: 'project'; of: Expression; slot: number; members: Member[] }
  | { kind: 'addNode'; type: string; set: Assignment[] }
  | { kind: 'addVector'; type: string; vector: Expression; set: Assignment[] }
  | { kind: 'addVectors'; type: string; vectors: Expression }
  /** One edge, or with a `many` end the list of all combinations, From-major. */
  | { kind: 'addEdge'; type: string; set: Assignment[]; from: End; to: End }
  /** The oldest edge of each combination updated, or one made; as many as `addEdge` gives. */
  | { kind: 'upsertEdge'; type: string; slot: number; set: Assignment[]; from: End; to: End }
  /** Deletes every element that `of` yields; how many that were. */
  | { kind: 'drop'; of: Expression }
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

// Sources and steps of a pipeline: the units of traversal. Rows are elements, scalars, records or
// lists.

/** A condition tested per item: the item is put into `slot`, then `value` is evaluated. */
export interface ItemExpression {
  slot: number;
  value: Expression;
}

export type Source =
  /** All elements of the types, oldest first. `access` (planner): how to find the wanted ones. */
  | { kind: 'scan'; types: TypeRef[]; access?: Access }
  /** The element with this id and type, or one of `others`. `id` yields a Uuid or an element. */
  | { kind: 'byId'; type: TypeRef; others?: TypeRef[]; id: Expression; miss: Miss }
  /**
   * Elements whose property equals `value`, oldest first; `first`: only the oldest ([compat],
   * unique).
   */
  | {
      kind: 'lookup';
      type: TypeRef;
      property: string;
      value: Expression;
      first: boolean;
      miss: Miss;
    }
  | {
      kind: 'searchVector';
      type: string;
      vector: Expression;
      k: Expression;
      prefilter?: ItemExpression;
      /** Of the scan for what the prefilter lets through (planner). */
      access?: Access;
      /** The number of the filter, if other searches of a fusion have the same one (planner). */
      shared?: number;
      /** Sessions: drop hits below this score. */ scoreMin?: Expression;
    }
  | {
      kind: 'searchText';
      type: TypeRef;
      text: Expression;
      k: Expression;
      prefilter?: ItemExpression;
      /** As of a vector search, where `shared`. */
      access?: Access;
      shared?: number;
    }
  /** Sessions, blank search: every vector type of the query's dimension, merged. */
  | { kind: 'searchAnyVector'; vector: Expression; k: Expression; scoreMin?: Expression }
  /**
   * For each value of a list, in its order, the elements of any of the types whose property equals
   * it, oldest first; property `id`: those with this id. `nulls`: a value without element is null.
   */
  | { kind: 'batch'; types: TypeRef[]; property: string; values: Expression; nulls: boolean }
  /** The rows of a value: null none, a list its items, else itself. */
  | { kind: 'value'; of: Expression }
  /**
   * Rows of lists taken together, each once. Lists behind the first are read when they are needed,
   * but those that can fail before anything else.
   */
  | { kind: 'set'; operation: 'union' | 'except' | 'intersect'; of: Expression[] }
  /** Ranked lists of elements as one, by reciprocal rank. Null: `k` of 60, weights of 1. */
  | { kind: 'fuse'; of: Expression[]; k: Expression | null; weights: Expression | null }
  /**
   * The list of items handed in beside the plan (a session's traversal), optionally a slice of
   * positions.
   */
  | { kind: 'items'; start: number; end: number };

/** Rows come from the index of a property or, null, in the order of all ids; with `list`, of those of a list. */
interface Seek {
  property: string | null;
  descending: boolean;
  /** The step before, or before its condition, reads the edges of one element, most often. */ list?: true;
  /** Where this leads to few, those few are taken. */ few?: AccessPath;
}

/** Null keys come last in both directions, unless first. */
interface SortKey {
  value: Expression;
  descending: boolean;
  nullsFirst: boolean;
}

/** Values to compute for every item in `slot` when it is bound; `inner`, for the items of a value. */
interface Keep {
  slot: number;
  members: { key: number; value: Expression; inner?: Keep }[];
}

/** What a group keeps of its items, or of those that a condition lets pass, in shape unless `rows`. */
type Accumulated = { rows?: true; where?: ItemExpression; slot: number } & (
  | {
      kind: 'total';
      function: Exclude<AggregateFunction, 'AVG'>;
      integer: boolean;
      value: Expression;
    }
  /** The first `most` of them, in this order. */
  | { kind: 'top'; keys: SortKey[]; most: number }
);

export type Direction = 'out' | 'in';

export type Step =
  /** Far ends of the edges of each node or vector row; other rows and null yield nothing. `reach` keeps only
   *  far elements of that kind. */
  | { kind: 'neighbours'; direction: Direction; edges: string[]; reach?: 'node' | 'vector' }
  /** Edges of each node or vector row. `turn` (sessions): a row that is itself an edge of one of these types
   *  yields its end instead, target for out and source for in; without it such rows yield nothing. */
  | { kind: 'edges'; direction: Direction; edges: string[]; turn?: boolean }
  /**
   * Edges of each node or vector row, or their far ends, through a condition on the edge. With `hops`
   * the elements at a distance within the bounds, each once per row, by distance, then by age.
   */
  | {
      kind: 'walk';
      direction: Direction | 'both';
      edges: string[];
      take: 'far' | 'edge';
      condition?: ItemExpression;
      /**
       * `max` null: as far as there are edges. `together` (planner): what any of the rows reaches,
       * each once, without `hops` and in no order.
       */
      hops?: { min: number; max: Expression | null; together?: true };
    }
  /**
   * Source or target of each edge row, or the end that a walk did not come from; `edge` keeps only
   * edges of that type.
   */
  | { kind: 'end'; end: 'from' | 'to' | 'other'; edge?: string }
  /** Edge rows as if a walk had come from that end. */
  | { kind: 'origin'; end: 'from' | 'to' }
  | { kind: 'where'; condition: ItemExpression }
  /** What `of` reaches from every row, in the order of the first row. */
  | { kind: 'intersect'; of: ItemExpression }
  /**
   * Positions start <= i < end; a null bound is 400 PARAM_MISSING. `end: null` (sessions): to the
   * end.
   */
  | { kind: 'range'; start: Expression; end: Expression | null }
  | { kind: 'first' }
  /** One row: the number of rows. */
  | { kind: 'count' }
  /** The first of equal rows; with `by`, of rows with equal keys. */
  | { kind: 'dedup'; by?: { slot: number; keys: Expression[] } }
  /** Replaces each row by a value. `ID` is map(property id). */
  | { kind: 'map'; value: ItemExpression }
  /**
   * Stable. `top` (planner): the step behind it reads the first rows only; `sorted`: rows come in the
   * order of the first key; `seek`: where the index leads, its rows come in that order.
   */
  | { kind: 'order'; slot: number; keys: SortKey[]; top?: true; sorted?: true; seek?: Seek }
  /**
   * One record per combination of keys, first seen first: {keys..., count} or, with `data`, {count,
   * data}.
   */
  | {
      kind: 'group';
      slot: number;
      keys: { name: string; value: Expression }[];
      data: boolean;
      /** Keys and items are kept beside what is printed. */ whole?: true;
      /** Shape of the items under `data`, if the stream has one. */ shape?: Expression;
      /** The items are kept as they are, too, as `#rows`. */ rows?: true;
      /** What their shape reads of outside is computed at once. */ keep?: Keep;
      /** Instead of the items these are kept, as `#0`, `#1`, … (planner). */ accumulate?: Accumulated[];
    }
  /**
   * One record, {items, next}: the `count` element rows behind the position `after` in the order of the
   * keys and then of their ids, each once, and the position of the last of them where more follow. Null
   * is the beginning.
   */
  | {
      kind: 'page';
      slot: number;
      keys: SortKey[];
      /** What tells positions in this order from those in others. */
      order: string;
      count: Expression;
      after: Expression | null;
      /** Shape of the items, if the stream has one. */ shape?: Expression;
      /** It begins at its position (planner). */ seek?: Seek;
    }
  /** Exact search among the vector rows; others are dropped. `type` absent: any vector type. */
  | {
      kind: 'searchWithin';
      type?: string;
      vector: Expression;
      k: Expression;
      scoreMin?: Expression;
    }
  | { kind: 'rerankRRF'; k: Expression | null }
  | { kind: 'rerankMMR'; lambda: Expression; distance: Expression | null }
  | { kind: 'update'; slot: number; set: Assignment[] }
  | { kind: 'upsertNode'; type: string; slot: number; set: Assignment[] }
  | { kind: 'upsertVector'; type: string; slot: number; vector: Expression; set: Assignment[] }
  /** One edge per row; the end that is absent is the row. */
  | {
      kind: 'addEdge';
      type: string;
      set: Assignment[];
      slot: number;
      from?: Expression;
      to?: Expression;
    }
  /** Record {path, edges, total_weight, hop_count} per row. `reverse`: the path runs from `target` to the row.
   *  `one`: a row without a path is 404 NO_PATH; otherwise it is skipped. */
  | {
      kind: 'shortestPath';
      algorithm: 'bfs' | 'dijkstra' | 'astar';
      edges: string[];
      reverse: boolean;
      /** Along edges in either direction. */
      both?: true;
      target: Expression;
      /** Of the edges that may be followed. */
      condition?: ItemExpression;
      weight?: ItemExpression;
      heuristic?: string;
      one: boolean;
    };

// How a scan finds its rows for less than reading its whole type: see access.ts.

/**
 * A bound of an index range. A bound that is null at run time lets nothing through, but for that of a
 * part of a date which equals it.
 */
export interface Bound {
  value: Expression;
  inclusive: boolean;
  /**
   * What it bounds instead of the property: the `beginning` of a text, the `YEAR` of a date, the first
   * instant of its unit of this name.
   */
  part?: string;
}

/** What a walk from known elements leads to. */
export interface ReachedPath {
  kind: 'reached';
  /** `take`: the edges of the step instead of what is at their far ends; only of the last. */
  back: { direction: Direction | 'both'; edges: string[]; take?: 'edge' }[];
  value: Expression;
  list: boolean;
  /** The type that is read as a whole to know them. */
  reads?: TypeRef;
}

export type AccessPath =
  /** By id; `list`: by every id of a list. */
  | { kind: 'id'; value: Expression; list: boolean }
  /** The index of a property under a value, or (`list`) under every value of a list. */
  | { kind: 'equal'; property: string; value: Expression; list: boolean; unique: boolean }
  /** The index of a property between bounds, brought back into creation order. */
  | { kind: 'between'; property: string; low?: Bound; high?: Bound }
  /** The index of a property in its own order, unset values last: stands for an ORDER too. */
  | { kind: 'ordered'; property: string; descending: boolean; low?: Bound; high?: Bound }
  /**
   * The edges of one type at a known element (`list`: at all of a list), or the elements at their
   * other ends. `direction` as seen from that element.
   */
  | {
      kind: 'touching';
      edge: string;
      direction: Direction;
      take: 'edge' | 'far';
      value: Expression;
      list: boolean;
    }
  | ReachedPath
  /** That of several which leads to the fewest: each leads to all that is wanted. */
  | { kind: 'least'; of: AccessPath[] }
  /** Where the condition, which is about no item, holds: `of`, or everything; else nothing. */
  | { kind: 'given'; condition: Expression; of?: AccessPath }
  /** Whatever one of several paths leads to, in creation order. */
  | { kind: 'any'; of: AccessPath[] }
  /** Of a scan of several types: each by a path of its own. */
  | { kind: 'each'; of: { type: TypeRef; path: AccessPath }[] };

export interface Access {
  path: AccessPath;
  /** What the covered steps ask for beyond the path. */
  rest?: Extract<Step, { kind: 'where' }>;
  /** The number of steps right behind the source that path and rest stand for. */
  covers: 0 | 1 | 2;
}
