// Defines the values of slots while a plan runs: scalars and lists, objects from the request, elements of
// the graph, and records made by the plan. Values never change once made, except for an element's record,
// which is read on demand, and the vector that a binding captures.
import type { Json } from '../../base/text/json.js';
import type { Instant, Uuid } from '../../base/value.js';

/** How a search found an element. A number that does not apply is NaN. */
export interface SearchHit {
  /** Similarity or relevance. */
  readonly score: number;
  /** Raw distance of a vector hit. */
  readonly distance: number;
  /** True if a reranker has set `score`: [compat] then prints it in place of the distance. */
  readonly reranked: boolean;
  /** For a fused hit: its score divided by the maximum possible score. */
  readonly share: number;
  /** The hit that led to this element, of a search with `by`. */
  readonly found?: Element;
}

export function searchHit(score: number, distance: number): SearchHit {
  return { score, distance, reranked: false, share: Number.NaN };
}

/** The hit of every element that no search found. */
export const noHit = searchHit(Number.NaN, Number.NaN);

/** A value that a projection has computed for its item (expression/let-binding.ts). */
interface NamedValue {
  key: number;
  value: Value;
  /** Number of writes before it, and the outer slots that it read. */
  writes: number;
  slots: readonly number[];
  held: readonly Value[];
  next: NamedValue | undefined;
}

/**
 * One node, edge or vector as a row. `record` is read on first use. In a plan that writes, a bound variable
 * reads it at its binding, so that later changes do not show through it.
 */
export class Element {
  record: Uint8Array | undefined = undefined;
  /** True if a list holds the element: the bytes of its record then count as memory of the query. */
  isRetained = false;
  /** The search that found the element; `noHit` on all other elements. */
  declare hit: SearchHit;
  /** True if this request created the element or set its vector: [compat] prints the vector then. */
  declare fresh: boolean;
  /** Distance from the start of a repetition; -1 on all other elements. */
  declare hops: number;
  /**
   * For an edge that a traversal reached in either direction: the endpoint from which it was reached.
   * Otherwise 0.
   */
  declare origin: number;
  /** Vector at the binding, if the plan may change or delete it later. */
  declare vector: Float64Array | undefined;
  /** What named values of projections are for this element; undefined where none was computed. */
  declare named: NamedValue | undefined;

  constructor(readonly id: number) {}
}

// Few elements have these attributes. The others read them from the prototype, which saves memory in
// every row.
Element.prototype.hit = noHit;
Element.prototype.fresh = false;
Element.prototype.hops = -1;
Element.prototype.origin = 0;
Element.prototype.vector = undefined;
Element.prototype.named = undefined;

/** An ordered set of named values: groups, paths, objects and projections. Siblings share `names`. */
export class RecordValue {
  constructor(
    readonly names: readonly string[],
    readonly values: readonly Value[],
  ) {}

  /** Returns the value of a member, or undefined when there is none. */
  member(name: string): Value | undefined {
    const at = this.names.indexOf(name);
    return at < 0 ? undefined : this.values[at];
  }
}

/** A record of GROUP_BY or AGGREGATE_BY that knows its group keys and its items. */
export class GroupRecord extends RecordValue {
  constructor(
    names: readonly string[],
    values: readonly Value[],
    readonly keyNames: readonly string[],
    readonly keys: readonly Value[],
    readonly items: readonly Value[] = [],
  ) {
    super(names, values);
  }

  override member(name: string): Value | undefined {
    const shown = super.member(name);
    if (shown !== undefined) return shown;
    const at = this.keyNames.indexOf(name);
    if (at >= 0) return this.keys[at];
    return name === 'data' || name === '#rows' ? this.items : undefined;
  }
}

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Instant
  | Uuid
  | Json
  | Float64Array
  | readonly Value[]
  | ReadonlyMap<string, Value>
  | Element
  | RecordValue;

/** Returns true if a value is a list: a stream's rows, an array, or a vector. */
export function isListValue(value: Value): value is readonly Value[] | Float64Array {
  return Array.isArray(value) || value instanceof Float64Array;
}
