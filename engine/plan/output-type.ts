// The type of a query's result. The compiler makes it; JSON Schema, TypeScript and OpenAPI are
// printed from it. Plain data.
// Invariant: every result of the query is a value of its type. If the compiler is uncertain, the
// type is wider (nullable, unknown), never narrower.
import type { ScalarName, TypeRef } from '../base/schema.js';
import type { Scalar } from '../base/value.js';

/** Members that a search adds to an element: a vector hit has both, a keyword hit has a score. */
export type HitMembers = 'none' | 'vector' | 'text' | 'reranked' | 'mixed';

export type OutputType =
  /** `Integer` has no particular width, up to 128 bits. */
  | { kind: 'scalar'; name: ScalarName | 'Integer' }
  /**
   * A whole element of one of the types. `data`: vectors have their embedding and a score, whether
   * a search found them or not. `hops`: some elements have this member.
   */
  | {
      kind: 'element';
      types: readonly TypeRef[];
      hit: HitMembers;
      hops?: true;
      data: boolean;
    }
  | { kind: 'record'; members: readonly OutputMember[] }
  /** Records that differ only in their members. */
  | { kind: 'union'; of: readonly OutputType[] }
  | { kind: 'list'; of: OutputType }
  /** An object whose values have one type and whose names come from the data. */
  | { kind: 'map'; of: OutputType }
  | { kind: 'nullable'; of: OutputType }
  | { kind: 'literal'; value: Scalar | null }
  | { kind: 'unknown' };

export interface OutputMember {
  name: string;
  type: OutputType;
  /** The member may be absent, rather than null. */
  optional?: true;
}

/**
 * `bare`: the result is the value itself ([compat], one object literal); otherwise an object with
 * members.
 */
export type ReplyType = { members: readonly OutputMember[] } | { bare: OutputType };

export const unknownOutput: OutputType = { kind: 'unknown' };

/** Returns the type extended by null. */
export function nullable(type: OutputType): OutputType {
  const hasNull = type.kind === 'nullable' || type.kind === 'unknown';
  return hasNull ? type : { kind: 'nullable', of: type };
}

/** Returns the number of result members and how many of them have an unknown type. */
export function countUnknown(reply: ReplyType): { unknown: number; members: number } {
  const count = { unknown: 0, members: 0 };
  const visit = (type: OutputType): void => {
    if (type.kind === 'unknown') count.unknown++;
    if (type.kind === 'list' || type.kind === 'map' || type.kind === 'nullable') visit(type.of);
    if (type.kind === 'union') for (const one of type.of) visit(one);
    if (type.kind === 'record') for (const member of type.members) visitMember(member.type);
  };
  const visitMember = (type: OutputType): void => {
    count.members++;
    visit(type);
  };
  if ('bare' in reply) visitMember(reply.bare);
  else for (const { type } of reply.members) visitMember(type);
  return count;
}
