// Static types of values in queries (helixql.md 4.1): what an item of a stream is, and which types
// go together.
import type { ScalarName, TypeRef } from '../../base/schema.js';
import type { Groups } from '../../plan/print-form.js';

/**
 * `Integer`: of no particular width, up to 128 bits. `Null`: `NONE`. `Unknown`: known only at run
 * time, or already reported as faulty; goes with everything.
 */
export type Basic = ScalarName | 'Integer' | 'Null' | 'Unknown';

/** Which search set the `score` of an element; `mixed`: one has set that of some. */
export type Hit = 'none' | 'vector' | 'text' | 'reranked' | 'mixed';

/** `sparse`: null stands among the items, at the place of what was not found. */
export type ItemType =
  | { kind: 'scalar'; name: Basic; sparse?: true }
  | { kind: 'list'; of: ItemType }
  | {
      kind: 'element';
      types: readonly TypeRef[];
      hit: Hit;
      sparse?: true;
      /** A repetition has left its distance on them: they have the member `hops`. */
      hops?: true;
      /** Edges that a step came to from one end: which way, and what may be at the other. */
      reached?: { way: 'out' | 'in' | 'both'; far: readonly TypeRef[] };
    }
  /** `groups`: what GROUP_BY or AGGREGATE_BY makes. */
  | {
      kind: 'record';
      members: ReadonlyMap<string, ItemType>;
      sparse?: true;
      groups?: Groups;
      /** Members of groups that are not printed with them. */
      hidden?: ReadonlyMap<string, ItemType>;
      /** Of groups: what their items are, under this member, and the `Shape` that they had. */
      items?: { type: ItemType; name: 'data' | '#rows'; shape?: object };
      /** Members that some of the records do not have. */
      partial?: ReadonlySet<string>;
    };

export const scalarType = (name: Basic): ItemType => ({ kind: 'scalar', name });
export const unknownType: ItemType = scalarType('Unknown');

/** Whether null may stand among items of the type. */
export function isNullable(type: ItemType): boolean {
  return type.kind !== 'list' && type.sparse === true;
}

/** Whether the type is the scalar `name`, or not known. */
export function isBasic(type: ItemType, name: Basic): boolean {
  return type.kind === 'scalar' && (type.name === name || type.name === 'Unknown');
}

export function isUnknownOrNull(type: ItemType): boolean {
  return type.kind === 'scalar' && (type.name === 'Unknown' || type.name === 'Null');
}
