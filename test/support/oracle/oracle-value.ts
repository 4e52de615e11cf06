// Values of the oracle: what a plan computes with. Written apart from the engine on purpose: only
// the classes of scalars are shared.
import type { ElementType } from '../../../engine/base/schema.js';
import type { Instant, Uuid } from '../../../engine/base/value.js';

/** One stored element. */
export interface OracleElement {
  /** Position of creation. */
  readonly id: number;
  uuid: string;
  readonly type: ElementType;
  /** Set properties; a new map with every change. */
  values: ReadonlyMap<string, Value>;
  vector?: readonly number[];
  readonly from?: OracleElement;
  readonly to?: OracleElement;
  alive: boolean;
}

/** How a walk came to an element: the distance of a repetition, the end that an edge was reached from. */
interface Trail {
  hops?: number;
  origin?: OracleElement;
}

/** One element as a row: its values as they were when the row was made. */
export class Item {
  /** Made, or given its embedding, by this request. */
  fresh = false;
  readonly values: ReadonlyMap<string, Value>;
  readonly vector: readonly number[] | undefined;

  constructor(
    readonly element: OracleElement,
    readonly score?: number,
    readonly distance?: number,
    readonly reranked = false,
    /** For a fused hit: its score as a share of the highest possible. */
    readonly share?: number,
    readonly trail: Trail = {},
  ) {
    this.values = element.values;
    this.vector = element.vector;
  }

  /** The row as it was found, with what a reranker has set instead of its score and distance. */
  marked(score?: number, distance?: number, share?: number): Item {
    const own = new Item(this.element, score, distance, true, share, this.trail);
    const { values, vector, fresh } = this;
    return Object.assign(own, { values, vector, fresh });
  }
}

/** Named values in order: groups, paths, objects and shapes. */
export class Rec {
  constructor(readonly entries: readonly (readonly [name: string, value: Value])[]) {}

  get(name: string): Value {
    return this.entries.find(([own]) => own === name)?.[1] ?? null;
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
  | Item
  | Rec
  | readonly Value[];

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** The rows of a value: null none, a list its items, else itself. */
export function rowsOf(value: Value): readonly Value[] {
  if (value === null) return [];
  return isList(value) ? value : [value];
}

/** Whole numbers in the form that values have everywhere: a number while that is exact. */
export function whole(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
