// Expressions of a plan: plain data that can be cloned. They are evaluated in an environment of slots.
// A slot holds the value of a variable, a loop item or a current item (`_`). A binder names the slot that it
// fills, so nested binders need no depth counting. The value is a scalar, an element, a record, a list of
// these, or null.
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
 * Result of a lookup by id or unique value that finds nothing: error 404, or no row (in EXISTS, DROP and
 * expressions per item).
 */
export type Miss = 'error' | 'none';

/** One property assignment of a create, update or upsert. */
export interface Assignment {
  property: string;
  value: Expression;
  /** The source has a literal `NONE`: unset the property. A run-time null leaves the property unchanged. */
  unset: boolean;
}

/** An endpoint of an edge. `many`: every element of the list; otherwise exactly one element or id. */
export interface End {
  value: Expression;
  many: boolean;
}

/** A named value; it may read the values before it. */
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
 * `property` also accepts the implicit members id, label, from_node, to_node, data, hops, score and distance.
 * `distance` and `score` are null for items that no search produced; `hops` is null for items that no
 * repetition yielded.
 */
export type Expression =
  | { kind: 'literal'; value: Scalar | ScalarList }
  /** The instant at which the request began. */
  | { kind: 'now' }
  | { kind: 'parameter'; index: number }
  | { kind: 'slot'; slot: number }
  /** Member of an element or record. For null it is null, for a list the list of members. */
  | { kind: 'property'; of: Expression; name: string }
  /**
   * The value that a binding has computed for the item `of` under `key`. For any other item `value` is
   * computed now.
   */
  | { kind: 'captured'; key: number; of: Expression; value: Expression }
  /** Planner only. Evaluated on first use, and again after one of the slots it reads was refilled. */
  | { kind: 'hoisted'; of: Expression; slots: number[] }
  /** Planner only. The condition `of`, which is true for exactly the elements that the path leads to. */
  | {
      kind: 'semiJoin';
      of: Expression;
      item: Extract<Expression, { kind: 'slot' }>;
      path: ReachedPath;
    }
  /**
   * `value` together with named values, each in its own slot. A named value is computed once for the item
   * `of`, identified by `key`, however many expressions read it. It stays valid until something is written or
   * a slot that it reads changes.
   */
  | { kind: 'with'; of: Expression; lets: Let[]; value: Expression }
  /**
   * The only item of a list: 404 for none or null, 409 for several; `miss: 'none'` gives null for none. A
   * value that is not a list passes unchanged. `valueName` names the value in the error.
   */
  | { kind: 'single'; of: Expression; miss: Miss; valueName: string }
  /**
   * `any`: `left` is a list of which at least one item must satisfy the comparison. `f32`: round both sides
   * to 32 bits first.
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
  /** null counts as false before the negation. */
  | { kind: 'not'; of: Expression }
  /** True for a list with at least one item, and for a value that is not null. */
  | { kind: 'exists'; of: Expression }
  /** `integer`: all arguments are integers, so the result is exact; otherwise F64 arithmetic. */
  | { kind: 'math'; function: MathFunction; of: Expression[]; integer: boolean }
  /**
   * Aggregates one list (a scalar counts as a list of one) and skips nulls. `count` (planner): the average of
   * `count` values whose sum is `of`.
   */
  | {
      kind: 'aggregate';
      function: AggregateFunction;
      of: Expression;
      integer: boolean;
      count?: Expression;
    }
  /** Evaluates only the branch taken; null counts as false. */
  | { kind: 'if'; condition: Expression; value: Expression; otherwise: Expression }
  /**
   * The first value that is not null; later values are not evaluated. A value that fails with 404 counts as
   * null.
   */
  | { kind: 'coalesce'; of: Expression[] }
  /** Null if an argument is null. */
  | { kind: 'text'; function: TextFunction; of: Expression[] }
  /** Null if an argument is null. Units are Strings, in the last argument. */
  | { kind: 'date'; function: DateFunction; of: Expression[] }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'record'; members: { name: string; value: Expression }[] }
  /**
   * The embedding of a text, computed before the transaction with the model of vector type `type`. `isQuery`:
   * the vector is searched for, not stored.
   */
  | { kind: 'embed'; text: Expression; type?: string; isQuery?: true }
  | Pipeline
  /**
   * Projects every element of `of` (one or a list; null stays null). The result is printed member by member.
   */
  | { kind: 'project'; of: Expression; slot: number; members: Member[] }
  | { kind: 'addNode'; type: string; set: Assignment[] }
  | { kind: 'addVector'; type: string; vector: Expression; set: Assignment[] }
  | { kind: 'addVectors'; type: string; vectors: Expression }
  /** Creates one edge, or with a `many` endpoint the list of all combinations, ordered by `from` first. */
  | { kind: 'addEdge'; type: string; set: Assignment[]; from: End; to: End }
  /** For each combination, updates the oldest edge or creates one. Returns as many edges as `addEdge`. */
  | { kind: 'upsertEdge'; type: string; slot: number; set: Assignment[]; from: End; to: End }
  /** Deletes every element of `of`; the value is their number. */
  | { kind: 'drop'; of: Expression }
  /** The test that a session filter applies to one property. */
  | SessionTest;

/** A source followed by steps. `one` and `opt` yield the first row or null; `many` yields all rows. */
export interface Pipeline {
  kind: 'pipeline';
  source: Source;
  steps: Step[];
  result: 'one' | 'opt' | 'many';
}

/**
 * Applies `operator` to the property `key` of the item in `slot`. The test fails if the item's type does not
 * declare the key or the property is unset. `cases` has the coerced filter values for each declaring type;
 * null stands for a value that is null or not comparable with that type. `list`: the filter value was a list.
 */
export interface SessionTest {
  kind: 'test';
  slot: number;
  key: string;
  operator: '==' | '!=' | '>' | '>=' | '<' | '<=';
  list: boolean;
  cases: { type: TypeRef; values: SessionOperand[] }[];
  /** Operands for items of all other types: for `id` and `label`, and for `score` and `distance` of hits. */
  attribute?: SessionOperand[];
}

/**
 * A coerced filter value. A decimal text compared with an integer property is stored as its floor and a flag
 * that says whether it was exact.
 */
export type SessionOperand =
  | { kind: 'value'; value: Scalar }
  | { kind: 'fraction'; floor: number | bigint }
  | { kind: 'incomparable' };

// Sources and steps of a pipeline: the units of traversal. Rows are elements, scalars, records or lists.

/** A condition or value of each item: the item is stored in `slot`, then `value` is evaluated. */
export interface ItemExpression {
  slot: number;
  value: Expression;
}

/** The elements that a hit leads to, its parents: yields the best parents, each with its best hit. */
type ByParent = { by?: ItemExpression };
export type Source =
  /** All elements of the types, oldest first. `access` (planner): how to find the wanted elements. */
  | { kind: 'scan'; types: TypeRef[]; access?: Access }
  /** The element with this id and type, or with a type in `others`. `id` yields a Uuid or an element. */
  | { kind: 'byId'; type: TypeRef; others?: TypeRef[]; id: Expression; miss: Miss }
  /** Elements whose property equals `value`, oldest first. `first`: only the oldest ([compat], unique). */
  | {
      kind: 'lookup';
      type: TypeRef;
      property: string;
      value: Expression;
      first: boolean;
      miss: Miss;
    }
  | ({
      kind: 'searchVector';
      type: string;
      vector: Expression;
      k: Expression;
      prefilter?: ItemExpression;
      /** Planner only: access path of the scan for the elements that the prefilter accepts. */
      access?: Access;
      /** Planner only: number of the filter, if other searches of a fusion have an equal filter. */
      shared?: number;
      /** Drops hits below this score. */ scoreMin?: Expression;
      /** Width of this search; otherwise that of the index. */ ef?: Expression;
    } & ByParent)
  | ({
      kind: 'searchText';
      type: TypeRef;
      text: Expression;
      k: Expression;
      prefilter?: ItemExpression;
      /** Planner only, with `shared`: access path of the filter, as for a vector search. */
      access?: Access;
      shared?: number;
      scoreMin?: Expression;
      /** `any`, `all`, `phrase` or `query`; `any` by default. */ mode?: Expression;
      /** Whether the last word may be the beginning of a word. */ prefix?: Expression;
    } & ByParent)
  /** Sessions, blank search: searches every vector type of the query's dimension and merges the hits. */
  | { kind: 'searchAnyVector'; vector: Expression; k: Expression; scoreMin?: Expression }
  /**
   * For each value of a list, in list order: the elements of any of the types whose property equals it,
   * oldest first. Property `id` finds the element with this id. `nulls`: a value without an element gives
   * null.
   */
  | { kind: 'batch'; types: TypeRef[]; property: string; values: Expression; nulls: boolean }
  /** The rows of a value: none for null, the items of a list, otherwise the value itself. */
  | { kind: 'value'; of: Expression }
  /**
   * Set operation on the rows of several lists; each row appears once. Lists after the first are read when
   * needed, but a list that can fail is read first.
   */
  | { kind: 'set'; operation: 'union' | 'except' | 'intersect'; of: Expression[] }
  /** Fuses ranked lists of elements by reciprocal rank. Null defaults: `k` is 60, weights are 1. */
  | ({
      kind: 'fuse';
      of: Expression[];
      k: Expression | null;
      weights: Expression | null;
    } & ByParent)
  /** The items that are passed with the plan (a session's traversal), optionally a slice of them. */
  | { kind: 'items'; start: number; end: number };

/**
 * Rows come from the index of `property`, or in the order of all ids if it is null. With `list` they come
 * from an adjacency list in the order of its ids.
 */
interface Seek {
  property: string | null;
  descending: boolean;
  /** Usually the preceding step, or the one before its condition, reads the edges of one element. */
  list?: true;
  /** Access path to use instead if it leads to few elements. */ alternative?: AccessPath;
}

/** Null keys sort last in both directions, unless `nullsFirst`. */
interface SortKey {
  value: Expression;
  descending: boolean;
  nullsFirst: boolean;
}

/** Values to compute for each item when it is bound to `slot`, or with `inner` for each item of a value. */
interface Keep {
  slot: number;
  members: { key: number; value: Expression; inner?: Keep }[];
}

/**
 * What a group stores of its items, or of the items that satisfy a condition. Items are shaped unless `rows`
 * is true.
 */
type Accumulated = { rows?: true; where?: ItemExpression; slot: number } & (
  | {
      kind: 'total';
      function: Exclude<AggregateFunction, 'AVG'>;
      integer: boolean;
      value: Expression;
    }
  /** The first `max` items in this order. */
  | { kind: 'top'; keys: SortKey[]; max: number }
);

export type Direction = 'out' | 'in';

export type Step =
  /**
   * The far ends of the edges of each node or vector row; other rows and null yield nothing. `farKind` keeps
   * only far elements of this kind.
   */
  | { kind: 'neighbours'; direction: Direction; edges: string[]; farKind?: 'node' | 'vector' }
  /**
   * The edges of each node or vector row. `turn` (sessions): a row that is an edge of one of these types
   * yields its endpoint instead, the target for `out` and the source for `in`. Without `turn` such a row
   * yields nothing.
   */
  | { kind: 'edges'; direction: Direction; edges: string[]; turn?: boolean }
  /**
   * The edges of each node or vector row, or their far ends, filtered by a condition on the edge. With
   * `hops`: the elements at a distance within the bounds, each once per row, ordered by distance, then by
   * age.
   */
  | {
      kind: 'expand';
      direction: Direction | 'both';
      edges: string[];
      take: 'far' | 'edge';
      condition?: ItemExpression;
      /**
       * `max: null` has no upper bound. `multiSource` (planner): the elements reachable from any of the rows,
       * each once, without `hops` and in no order.
       */
      hops?: { min: number; max: Expression | null; multiSource?: true };
    }
  /**
   * Source or target of each edge row, or the endpoint that a traversal did not come from. `edge` keeps only
   * edges of this type.
   */
  | { kind: 'end'; end: 'from' | 'to' | 'other'; edge?: string }
  /** The edge rows, marked as if a traversal had come from this endpoint. */
  | { kind: 'origin'; end: 'from' | 'to' }
  | { kind: 'where'; condition: ItemExpression }
  /** The elements that `of` reaches from every row, in the order of the first row. */
  | { kind: 'intersect'; of: ItemExpression }
  /**
   * Positions start <= i < end; a null bound fails PARAM_MISSING (400). `end: null` (sessions): up to the
   * last row.
   */
  | { kind: 'range'; start: Expression; end: Expression | null }
  | { kind: 'first' }
  /** One row: the number of rows. */
  | { kind: 'count' }
  /** The first of equal rows; with `by`, of rows with equal keys. */
  | { kind: 'dedup'; by?: { slot: number; keys: Expression[] } }
  /** Replaces each row by a value. `ID` is a map to the property id. */
  | { kind: 'map'; value: ItemExpression }
  /**
   * Stable sort. `top` (planner): the next step reads only the first rows. `sorted`: rows arrive in the order
   * of the first key. `seek`: rows arrive in that order if the index is used.
   */
  | { kind: 'order'; slot: number; keys: SortKey[]; top?: true; sorted?: true; seek?: Seek }
  /**
   * One record per combination of keys, in order of first occurrence: {keys..., count} or, with `data`,
   * {count, data}.
   */
  | {
      kind: 'group';
      slot: number;
      keys: { name: string; value: Expression }[];
      data: boolean;
      /** Stores keys and items in addition to the printed members. */ whole?: true;
      /** Projection of the items under `data`, if the stream has one. */ shape?: Expression;
      /** Also stores the unshaped items, as `#rows`. */ rows?: true;
      /** Outer values that the projection of the items reads; they are computed immediately. */
      keep?: Keep;
      /** Planner only: stores these instead of the items, as `#0`, `#1`, and so on. */
      accumulate?: Accumulated[];
    }
  /**
   * One record, {items, next}: the `count` element rows after the position `after`, in the order of the keys
   * and then of the ids, each once. `next` is the position of the last item if more rows follow, otherwise
   * null. `after: null` starts at the first row.
   */
  | {
      kind: 'page';
      slot: number;
      keys: SortKey[];
      /** Identifies the order, so that a position of another order is rejected. */ order: string;
      count: Expression;
      after: Expression | null;
      /** Projection of the items, if the stream has one. */ shape?: Expression;
      /** Planner only: reading starts at the position. */ seek?: Seek;
    }
  /** Exact search among the vector rows; other rows are dropped. Without `type`: any vector type. */
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
  /** Adds one edge for each row. The row is the endpoint that the step does not name. */
  | {
      kind: 'addEdge';
      type: string;
      set: Assignment[];
      slot: number;
      from?: Expression;
      to?: Expression;
    }
  /**
   * One record {path, edges, total_weight, hop_count} per row. `reverse`: the path runs from `target` to the
   * row. `one`: a row without a path fails NO_PATH (404); otherwise it is skipped.
   */
  | {
      kind: 'shortestPath';
      algorithm: 'bfs' | 'dijkstra' | 'astar';
      edges: string[];
      reverse: boolean;
      /** Follows edges in both directions. */ both?: true;
      target: Expression;
      /** Condition on the edges that may be followed. */ condition?: ItemExpression;
      weight?: ItemExpression;
      heuristic?: string;
      one: boolean;
    };

// How a scan finds its rows for less than reading its whole type: see access-path.ts.

/**
 * A bound of an index range. A bound that is null at run time accepts nothing, except an equal bound on a
 * part of a date.
 */
export interface Bound {
  value: Expression;
  inclusive: boolean;
  /**
   * Bounded part: `beginning` of a text, `YEAR` of a date, or a time unit for its first instant.
   */
  part?: string;
}

/** The elements that a traversal from known elements leads to. */
export interface ReachedPath {
  kind: 'reverse';
  /** `take`, only in the last step: the edges of the step instead of the elements at their far ends. */
  back: { direction: Direction | 'both'; edges: string[]; take?: 'edge' }[];
  value: Expression;
  list: boolean;
  /** The type that is read completely to find the known elements. */ reads?: TypeRef;
}

export type AccessPath =
  /** By id; with `list`, by every id of a list. */
  | { kind: 'id'; value: Expression; list: boolean }
  /** The index of a property for a value, or with `list` for every value of a list. */
  | { kind: 'equal'; property: string; value: Expression; list: boolean; unique: boolean }
  /** The index of a property between bounds; the rows are returned in creation order. */
  | { kind: 'between'; property: string; low?: Bound; high?: Bound }
  /** The index of a property in its own order, unset values last. It also replaces an ORDER. */
  | { kind: 'ordered'; property: string; descending: boolean; low?: Bound; high?: Bound }
  /**
   * The edges of one type at a known element (`list`: at all elements of a list), or the elements at their
   * other ends. `direction` is relative to the known element.
   */
  | {
      kind: 'incident';
      edge: string;
      direction: Direction;
      take: 'edge' | 'far';
      value: Expression;
      list: boolean;
    }
  | ReachedPath
  /** The shortest of several paths, each of which alone leads to all wanted elements. */
  | { kind: 'shortest'; of: AccessPath[] }
  /**
   * Depends on a condition that reads no item. If it is true: the path `of`, or all elements without `of`.
   * Otherwise no elements.
   */
  | { kind: 'conditional'; condition: Expression; of?: AccessPath }
  /** The elements that any of several paths leads to, in creation order. */
  | { kind: 'any'; of: AccessPath[] }
  /** For a scan of several types: a separate path for each type. */
  | { kind: 'each'; of: { type: TypeRef; path: AccessPath }[] };

export interface Access {
  path: AccessPath;
  /** Conditions of the covered steps that the path does not decide. */
  rest?: Extract<Step, { kind: 'where' }>;
  /** Number of steps directly after the source that path and `rest` replace. */ covers: 0 | 1 | 2;
}
