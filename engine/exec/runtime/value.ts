// What a slot may hold while a plan runs: scalars and lists as everywhere, objects from the
// request, elements of the graph and records made by the plan. Values are never changed once made,
// but for an element's lazily read record and the embedding that a binding keeps.
import type { Instant, Uuid } from '../../base/value.js';

/**
 * One node, edge or vector as a row. `record` is read on first use; where a plan writes, a bound
 * variable reads it at its binding, so that later changes do not show through it (helixql.md 6.3).
 */
export class Element {
  record: Uint8Array | undefined = undefined;
  /** Held by a list: the bytes of its record count as memory of the query. */
  kept = false;
  /** Similarity or relevance of a search hit; NaN on everything else. */
  declare score: number;
  /** Raw metric of a vector hit; NaN on everything else. */
  declare distance: number;
  /** A reranker has set `score`: [compat] then prints it instead of the distance. */
  declare reranked: boolean;
  /** Of a fused hit: its score as a part of the highest possible; NaN on everything else. */
  declare share: number;
  /** Made, or given its embedding, by this request: [compat] prints that. */
  declare fresh: boolean;
  /** Distance from the start of a repetition; -1 on everything else. */
  declare hops: number;
  /** Of an edge that a walk came to in either direction: the end it came from; else 0. */
  declare origin: number;
  /** Embedding as of the binding, where the plan may change or delete it later. */
  declare vector: Float64Array | undefined;

  constructor(readonly id: number) {}
}

// Few elements are hits: on the others these are read from the prototype, which spares every row
// two boxed numbers.
Element.prototype.score = Number.NaN;
Element.prototype.distance = Number.NaN;
Element.prototype.reranked = false;
Element.prototype.share = Number.NaN;
Element.prototype.fresh = false;
Element.prototype.hops = -1;
Element.prototype.origin = 0;
Element.prototype.vector = undefined;

/**
 * An ordered set of named values: groups, paths, objects and projections. `names` is shared between
 * siblings.
 */
export class RecordValue {
  constructor(
    readonly names: readonly string[],
    readonly values: readonly Value[],
  ) {}

  /** The value of a member, undefined when there is none. */
  member(name: string): Value | undefined {
    const at = this.names.indexOf(name);
    return at < 0 ? undefined : this.values[at];
  }
}

/** A record of GROUP_BY or AGGREGATE_BY that knows what it was grouped by, and its items. */
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
  | Float64Array
  | readonly Value[]
  | ReadonlyMap<string, Value>
  | Element
  | RecordValue;

/** Whether a value is a list: a stream's rows, an array, or a vector. */
export function isListValue(value: Value): value is readonly Value[] | Float64Array {
  return Array.isArray(value) || value instanceof Float64Array;
}
