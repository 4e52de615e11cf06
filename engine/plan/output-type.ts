// What a query answers, as a type: made once by the compiler, printed as JSON Schema, TypeScript and
// OpenAPI by those who tell callers. Plain data. Invariant: every reply of the query is a value of it;
// where the compiler cannot know, the type is wider (nullable, unknown), never narrower.
import type { ScalarName, TypeRef } from '../base/schema.js';
import type { Scalar } from '../base/value.js';

/** What a search adds to an element: a vector hit has both members, a keyword hit a score. */
export type HitMembers = 'none' | 'vector' | 'text' | 'reranked' | 'mixed';

export type OutputType =
  /** `Integer`: of no particular width, up to 128 bits. */
  | { kind: 'scalar'; name: ScalarName | 'Integer' }
  /**
   * A whole element of one of the types; `data`: vectors carry their embedding and a score, searched
   * or not; `hops`: some have this member.
   */
  | {
      kind: 'element';
      types: readonly TypeRef[];
      hit: HitMembers;
      hops?: true;
      data: boolean;
    }
  | { kind: 'record'; members: readonly OutputMember[] }
  /** Records that are told apart by nothing but their members. */
  | { kind: 'union'; of: readonly OutputType[] }
  | { kind: 'list'; of: OutputType }
  /** An object of values of one type, under names that only the data say. */
  | { kind: 'map'; of: OutputType }
  | { kind: 'nullable'; of: OutputType }
  | { kind: 'literal'; value: Scalar | null }
  | { kind: 'unknown' };

export interface OutputMember {
  name: string;
  type: OutputType;
  /** Not there in every answer, rather than null. */
  optional?: true;
}

/** `bare`: the reply is the value itself ([compat], one object literal), else an object of members. */
export type ReplyType = { members: readonly OutputMember[] } | { bare: OutputType };

export const unknownOutput: OutputType = { kind: 'unknown' };

/** The type with null among its values. */
export function nullable(type: OutputType): OutputType {
  const hasNull = type.kind === 'nullable' || type.kind === 'unknown';
  return hasNull ? type : { kind: 'nullable', of: type };
}

/** How many of the returned members are of unknown type, and how many there are. */
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
