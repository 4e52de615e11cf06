// Parses the arguments of a call. One argument belongs to this server: the maximum length of the result.
// Invariant: a tool gets the other arguments as the bytes that were received.
import { fail, type JsonView } from '../../../engine/internal.js';
import { rawText } from '../message/json-rpc.js';
import { limitArgument } from './tool.js';

export interface GivenArguments {
  /** JSON text; empty for none. */
  args: Uint8Array;
  /** Maximum number of characters of the result. */
  limit: number;
}

/** `most`: default and upper limit for the characters of the result. Fails PARAM_VALUE. */
export function argumentsOf(
  given: JsonView | undefined,
  body: Uint8Array,
  most: number,
): GivenArguments {
  if (given === undefined || given.kind === 'null' || given.length === 0) {
    return { args: new Uint8Array(0), limit: most };
  }
  const asked = given.member(limitArgument);
  if (asked === undefined) {
    return { args: body.subarray(given.start, given.start + given.size), limit: most };
  }
  const members = given.names().filter((name) => name !== limitArgument);
  const texts = members.map((name) => {
    return `${JSON.stringify(name)}:${rawText(given.member(name)!, body)}`;
  });
  const limit = asked.integral ? Number(asked.token()) : 0;
  if (limit < 1) {
    const wrong = { param: limitArgument, allowed: 'an integer from 1', got: 'another value' };
    fail('PARAM_VALUE', wrong, { path: `/${limitArgument}` });
  }
  return { args: Buffer.from(`{${texts.join(',')}}`), limit: Math.min(limit, most) };
}
