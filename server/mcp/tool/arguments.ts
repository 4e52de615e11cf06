// Parses the arguments of a call. One argument belongs to this server: the maximum length of the result.
// Invariant: a tool gets the other arguments as the bytes that were received.
import { fail, type JsonView } from '../../../engine/internal.js';
import { rawText } from '../message/json-rpc.js';
import { limitArgument } from './tool.js';

export interface ToolArguments {
  /** JSON text; empty for none. */
  args: Uint8Array;
  /** Maximum number of characters of the result. */
  limit: number;
}

/** `charsMax`: default and upper limit for the characters of the result. Fails PARAM_VALUE. */
export function argumentsOf(
  view: JsonView | undefined,
  body: Uint8Array,
  charsMax: number,
): ToolArguments {
  if (view === undefined || view.kind === 'null' || view.length === 0) {
    return { args: new Uint8Array(0), limit: charsMax };
  }
  const limitView = view.member(limitArgument);
  if (limitView === undefined) {
    return { args: body.subarray(view.start, view.start + view.size), limit: charsMax };
  }
  const members = view.names().filter((name) => name !== limitArgument);
  const texts = members.map((name) => {
    return `${JSON.stringify(name)}:${rawText(view.member(name)!, body)}`;
  });
  const limit = limitView.integral ? Number(limitView.token()) : 0;
  if (limit < 1) {
    const wrong = { param: limitArgument, allowed: 'an integer from 1', got: 'another value' };
    fail('PARAM_VALUE', wrong, { path: `/${limitArgument}` });
  }
  return { args: Buffer.from(`{${texts.join(',')}}`), limit: Math.min(limit, charsMax) };
}
