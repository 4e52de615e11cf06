// How a program calls queries by name: objects there, objects or exact bytes back. The same on the thread
// that opened the database and on those that are attached to it.
import { excerpt, fail } from '../../base/errors.js';
import { jsonText } from '../../json/json-text.js';
import type { Schema } from '../../base/schema.js';
import { decodeReply } from '../../contract/decode-reply.js';
import { type DecodePlace, decodePlaces } from '../../contract/decode-path.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Program } from '../../plan/program.js';
import { type Changes, warnOfTypeDrift } from './type-drift-warning.js';

/** What a query takes: JSON values, and bigint for integers beyond 2^53. */
export type Arguments = Readonly<Record<string, unknown>>;

/** How generated functions read an answer, integers beyond 2^53 among it. */
interface AnswerShape {
  readonly decode?: (text: string) => unknown;
}

export interface AnswerOptions {
  /** What I64, U64 and U128 are in the answer; numbers unless said, which lose digits beyond 2^53. */
  int64?: 'bigint' | 'string' | undefined;
}

interface CallOptions extends AnswerOptions {
  shape?: AnswerShape;
}

/** Where names and types of queries are not known to the compiler. */
export type AnyQueries = Record<string, { params: Arguments; result: unknown }>;

interface AnyCalls {
  /** The reply as an object. Numbers beyond 2^53 lose digits unless `int64` says otherwise. */
  call<T = Record<string, unknown>>(
    name: string,
    args?: Arguments,
    options?: CallOptions,
  ): Promise<T>;
}

/** Of `Queries`, the interface that `trellis types` writes. */
type ParamsOf<E> = E extends { params: infer P } ? P : never;
type ResultOf<E> = E extends { result: infer R } ? R : never;
type Given<P> =
  Record<never, never> extends P
    ? [params?: P, options?: CallOptions]
    : [params: P, options?: CallOptions];

interface TypedCalls<Q> {
  /** The reply of a query by its name, with the types that were generated. */
  call<N extends keyof Q & string>(
    name: N,
    ...given: Given<ParamsOf<Q[N]>>
  ): Promise<ResultOf<Q[N]>>;
  /** For generated functions. */
  call<T>(name: string, params: object | undefined, options: { shape: AnswerShape }): Promise<T>;
}

interface ByteCalls {
  /** For generated functions: told once of what they rely on. */
  relies(changes: Changes): void;
  /** The reply as JSON bytes, exact. Returns at once when the read ran on this thread. */
  callBytes(name: string, args?: Arguments): Uint8Array | Promise<Uint8Array>;
}

export type Calls<Q = AnyQueries> = ByteCalls & (string extends keyof Q ? AnyCalls : TypedCalls<Q>);

export interface CallsOptions extends AnswerOptions {
  /** The program in force. */
  program: () => Pick<Program, 'schema' | 'queries'>;
  send: (name: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** Of the program in force; undefined for an unknown query. */
  replyOf: (name: string) => { schema: Schema; reply: ReplyType } | undefined;
}

export function callsOf(options: CallsOptions): ByteCalls & AnyCalls {
  const { send, replyOf, program, int64: standard } = options;
  const callBytes: ByteCalls['callBytes'] = (name, args) => {
    if (typeof name !== 'string') refuseArgument('name', 'String', name);
    return send(name, args === undefined ? new Uint8Array(0) : encode(args));
  };
  const placesOf = (name: string, int64: 'bigint' | 'string'): DecodePlace => {
    const found = replyOf(name);
    return found === undefined
      ? 0
      : decodePlaces(found.schema, found.reply, { int64, dates: false });
  };
  return {
    callBytes,
    relies: (changes) => warnOfTypeDrift(changes, program()),
    async call<T>(name: string, args?: Arguments, { shape, int64 = standard }: CallOptions = {}) {
      if (int64 !== undefined && int64 !== 'bigint' && int64 !== 'string') {
        refuseArgument('int64', '"bigint" or "string"', int64);
      }
      const text = decoder.decode(await callBytes(name, args));
      if (shape?.decode !== undefined) return shape.decode(text) as T;
      if (int64 === undefined) return JSON.parse(text) as T;
      return decodeReply(text, placesOf(name, int64)) as T;
    },
  };
}

function refuseArgument(param: string, type: string, given: unknown): never {
  return fail('PARAM_TYPE', { param, type, got: excerpt(String(given)) });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** JSON text of arguments; a bigint becomes its bare digits, a typed array a list. */
function encode(args: Arguments): Uint8Array {
  if (typeof args !== 'object') refuseArgument('args', 'an object', args);
  const text = jsonText(args, (path, param, got) =>
    fail(
      'PARAM_TYPE',
      { param: excerpt(param), type: 'a JSON value', got: excerpt(got) },
      { path },
    ),
  );
  return encoder.encode(text);
}
