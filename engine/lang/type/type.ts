// Static types of values in queries: the type of an item of a stream, and relations between types.
import type { ScalarName, TypeRef } from '../../base/schema.js';
import type { Groups } from '../../plan/print-form.js';

/**
 * `Integer`: no particular width, up to 128 bits. `Null`: `NONE`. `Unknown`: known only at run time, or
 * already reported as invalid; fits every type.
 */
export type Basic = ScalarName | 'Integer' | 'Null' | 'Unknown';

/** The search that set the `score` of an element; `mixed`: only some elements have one. */
export type Hit = 'none' | 'vector' | 'text' | 'reranked' | 'mixed';

/** `sparse`: an item is null if its lookup found nothing. */
export type ItemType =
  | { kind: 'scalar'; name: Basic; sparse?: true }
  | { kind: 'list'; of: ItemType }
  | {
      kind: 'element';
      types: readonly TypeRef[];
      hit: Hit;
      sparse?: true;
      /** A repetition has added the distance: the elements have the member `hops`. */
      hops?: true;
      /** Parents of hits: the type of the member `hit`, the best hit of each. */
      best?: ItemType;
      /** Edges that were traversed from one end: the direction, and the possible types at the far end. */
      reached?: { direction: 'out' | 'in' | 'both'; far: readonly TypeRef[] };
    }
  /** `groups`: the result of GROUP_BY or AGGREGATE_BY. */
  | {
      kind: 'record';
      members: ReadonlyMap<string, ItemType>;
      sparse?: true;
      groups?: Groups;
      /** Members of groups that are not printed. */
      hidden?: ReadonlyMap<string, ItemType>;
      /** For groups: the type of their items, the member that holds them, and their original `Shape`. */
      items?: { type: ItemType; name: 'data' | '#rows'; shape?: object };
      /** Members that only some of the records have. */
      partial?: ReadonlySet<string>;
    };

export const scalarType = (name: Basic): ItemType => ({ kind: 'scalar', name });
export const unknownType: ItemType = scalarType('Unknown');

/** Returns true if items of the type may be null. */
export function isNullable(type: ItemType): boolean {
  return type.kind !== 'list' && type.sparse === true;
}

/** Returns true if the type is the scalar `name`, or unknown. */
export function isBasic(type: ItemType, name: Basic): boolean {
  return type.kind === 'scalar' && (type.name === name || type.name === 'Unknown');
}

export function isUnknownOrNull(type: ItemType): boolean {
  return type.kind === 'scalar' && (type.name === 'Unknown' || type.name === 'Null');
}
