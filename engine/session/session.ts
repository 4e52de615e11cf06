// The state of a session as data: the traversal and its cursor, and the transitions between states. A
// transition creates a new state and does not change the old one, so that a failing call leaves a session
// unchanged.

/**
 * Items of a traversal: dense ids, pairs (score, distance) with NaN for none, and hops with -1 for none.
 * Shared memory, immutable after creation.
 */
export interface Items {
  readonly ids: Uint32Array;
  readonly scores?: Float64Array;
  readonly hops?: Int32Array;
}

export interface Traversal {
  /** Undefined while the session is blank; a built traversal may have no items. */
  readonly items: Items | undefined;
  /** Position of the next item that `next` returns; at most the number of items. */
  readonly cursor: number;
}

export const blank: Traversal = { items: undefined, cursor: 0 };

export const noItems: Items = { ids: new Uint32Array(0) };

/** Returns the traversal after a tool has replaced it. */
export function built(items: Items): Traversal {
  return { items, cursor: 0 };
}

/** Returns the traversal after `next` has read up to `cursor`, at most to the end. */
export function advanced(traversal: Traversal, cursor: number): Traversal {
  return { items: traversal.items, cursor: Math.min(cursor, lengthOf(traversal)) };
}

export function lengthOf(traversal: Traversal): number {
  return traversal.items?.ids.length ?? 0;
}

/** Returns the bytes of the items. */
export function countBytes(traversal: Traversal): number {
  const { items } = traversal;
  if (items === undefined) return 0;
  const { ids, scores, hops } = items;
  return ids.byteLength + (scores?.byteLength ?? 0) + (hops?.byteLength ?? 0);
}
