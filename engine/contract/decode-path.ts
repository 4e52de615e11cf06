// Paths in a reply to values that JSON.parse rounds or returns as text: 64-bit integers, and dates
// that are wanted as Date. The generated module passes them to the client, for each query.
//
//   0      nothing to decode below this point
//   1      a 64-bit integer that is rejected beyond 53 bits
//   2      ... that becomes a bigint      3  ... that becomes text
//   4      a date that becomes a Date
//   [p]    a list of p, or an object whose members all are p, whatever their names
//   {k: p} an object; members that are not listed need no decoding
import type { Schema } from '../base/schema.js';
import type { OutputMember, OutputType, ReplyType } from '../plan/output-type.js';
import { elementMembers } from './element-shape.js';
import { isWideInteger } from './wide-integer.js';

export type DecodePath = 0 | 1 | 2 | 3 | 4 | [DecodePath] | { [name: string]: DecodePath };

export interface DecodeWish {
  int64: 'number' | 'bigint' | 'string';
  dates: boolean;
}

const integerPaths = { number: 1, bigint: 2, string: 3 } as const;

export function findDecodePaths(schema: Schema, reply: ReplyType, wish: DecodeWish): DecodePath {
  const visit = (type: OutputType): DecodePath => {
    switch (type.kind) {
      case 'nullable':
        return visit(type.of);
      case 'list':
      case 'map': {
        const of = visit(type.of);
        return of === 0 ? 0 : [of];
      }
      case 'record':
        return object(type.members);
      case 'union':
        return type.of.map(visit).reduce(joined, 0);
      case 'element':
        // Members of one name in several types are decoded alike: a value that is not an integer stays
        // unchanged.
        return type.types.map((ref) => object(elementMembers(schema, ref, type))).reduce(joined, 0);
      case 'scalar':
        if (type.name === 'Date') return wish.dates ? 4 : 0;
        return isWideInteger(type.name) ? integerPaths[wish.int64] : 0;
      default:
        return 0;
    }
  };
  const object = (members: readonly OutputMember[]): DecodePath => {
    const found = members
      .map(({ name, type }) => [name, visit(type)] as const)
      .filter(([, path]) => path !== 0);
    return found.length === 0 ? 0 : Object.fromEntries(found);
  };
  return 'bare' in reply ? visit(reply.bare) : object(reply.members);
}

function joined(a: DecodePath, b: DecodePath): DecodePath {
  if (a === 0) return b;
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) || Array.isArray(b)) {
    return a;
  }
  return { ...b, ...a };
}
