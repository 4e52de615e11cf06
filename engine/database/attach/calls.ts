// How a program calls queries by name: objects there, objects or exact bytes back. The same on the thread
// that opened the database and on those that are attached to it.
import { excerpt, fail } from '../../base/errors.js';

/** What a query takes: JSON values, and bigint for integers beyond 2^53. */
export type Arguments = Readonly<Record<string, unknown>>;

/** How generated functions read an answer, integers beyond 2^53 among it. */
interface AnswerShape {
  readonly decode?: (text: string) => unknown;
}

export interface Calls {
  /** The reply as an object. Numbers beyond 2^53 lose digits here: use `callBytes` for those. */
  call<T = Record<string, unknown>>(
    name: string,
    args?: Arguments,
    options?: { shape?: AnswerShape },
  ): Promise<T>;
  /** The reply as JSON bytes, exact. Returns at once when the read ran on this thread. */
  callBytes(name: string, args?: Arguments): Uint8Array | Promise<Uint8Array>;
}

export function callsOf(
  send: (name: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): Calls {
  const callBytes: Calls['callBytes'] = (name, args) => {
    if (typeof name !== 'string') refuseArgument('name', 'String', name);
    return send(name, args === undefined ? new Uint8Array(0) : encode(args));
  };
  return {
    callBytes,
    async call<T>(name: string, args?: Arguments, options?: { shape?: AnswerShape }) {
      const text = decoder.decode(await callBytes(name, args));
      return (options?.shape?.decode ?? JSON.parse)(text) as T;
    },
  };
}

function refuseArgument(param: string, type: string, given: unknown): never {
  return fail('PARAM_TYPE', { param, type, got: excerpt(String(given)) });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bigintMark = '\u0000n';
const marked = /"\\u0000n(-?\d+)"/g;

/** JSON text of arguments; a bigint becomes its bare digits. */
function encode(args: Arguments): Uint8Array {
  let isExact = true;
  const mark = (_: string, value: unknown): unknown => {
    if (typeof value !== 'bigint') return value;
    isExact = false;
    return `${bigintMark}${value}`;
  };
  if (typeof args !== 'object') refuseArgument('args', 'an object', args);
  let text: string;
  try {
    text = JSON.stringify(args, mark);
  } catch (error) {
    return refuseArgument('args', 'an object of JSON values', (error as Error).message);
  }
  return encoder.encode(isExact ? text : text.replace(marked, '$1'));
}
