// Sources and steps of a pipeline: the units of traversal, as data. Rows are elements, scalars,
// records or lists.
import type { TypeRef } from '../base/schema.js';
import type { Access } from './access.js';
import type { Assignment, Expression, Miss } from './expression.js';

/** A condition tested per item: the item is put into `slot`, then `value` is evaluated. */
export interface ItemExpression {
  slot: number;
  value: Expression;
}

export type Source =
  /** All elements of the types, oldest first. `access` (planner): how to find the wanted ones. */
  | { kind: 'scan'; types: TypeRef[]; access?: Access }
  /** The element with this id and type. `id` yields a Uuid or an element. */
  | { kind: 'byId'; type: TypeRef; id: Expression; miss: Miss }
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
      /** Sessions: drop hits below this score. */ scoreMin?: Expression;
    }
  | {
      kind: 'searchText';
      type: TypeRef;
      text: Expression;
      k: Expression;
      prefilter?: ItemExpression;
    }
  /** Sessions, blank search: every vector type of the query's dimension, merged. */
  | { kind: 'searchAnyVector'; vector: Expression; k: Expression; scoreMin?: Expression }
  /** The rows of a value: null none, a list its items, else itself. */
  | { kind: 'value'; of: Expression }
  /**
   * The list of items handed in beside the plan (a session's traversal), optionally a slice of
   * positions.
   */
  | { kind: 'items'; start: number; end: number };

export type Direction = 'out' | 'in';

export type Step =
  /** Far ends of the edges of each node or vector row; other rows and null yield nothing. `reach` keeps only
   *  far elements of that kind. */
  | { kind: 'neighbours'; direction: Direction; edges: string[]; reach?: 'node' | 'vector' }
  /** Edges of each node or vector row. `turn` (sessions): a row that is itself an edge of one of these types
   *  yields its end instead, target for out and source for in; without it such rows yield nothing. */
  | { kind: 'edges'; direction: Direction; edges: string[]; turn?: boolean }
  /** Source or target of each edge row; `edge` keeps only edges of that type. */
  | { kind: 'end'; end: 'from' | 'to'; edge?: string }
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
  | { kind: 'dedup' }
  /** Replaces each row by a value. `ID` is map(property id). */
  | { kind: 'map'; value: ItemExpression }
  /**
   * Stable; null keys last in both directions. `top` (planner): the step behind it reads the first
   * rows only.
   */
  | { kind: 'order'; slot: number; keys: Expression[]; descending: boolean; top?: true }
  /**
   * One record per combination of keys, first seen first: {keys..., count} or, with `data`, {count,
   * data}.
   */
  | {
      kind: 'group';
      slot: number;
      keys: { name: string; value: Expression }[];
      data: boolean;
      /** Shape of the items under `data`, if the stream has one. */ shape?: Expression;
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
      target: Expression;
      weight?: ItemExpression;
      heuristic?: string;
      one: boolean;
    };
