// Calls queries by name from a program. Arguments are objects; replies are objects or exact bytes. The
// opening thread and attached threads use the same code.
import { excerpt, fail } from '../../base/errors.js';
import { throwAtCaller } from './throw-at-caller.js';
import { jsonText } from '../../json/json-text.js';
import type { Schema } from '../../base/schema.js';
import { decodeReply } from '../../contract/decode-reply.js';
import { type DecodePath, findDecodePaths } from '../../contract/decode-path.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Program } from '../../plan/program.js';
import { type Changes, warnOfTypeDrift } from './type-drift-warning.js';

/**
 * Arguments of a query by parameter: JSON values, and bigint for integers beyond 2^53.
 *
 * @example
 * const args: QueryArguments = { name: 'Ada', serial: 9007199254740993n };
 */
export type Arguments = Readonly<Record<string, unknown>>;

/** How generated functions read a reply, including integers beyond 2^53. */
interface AnswerShape {
  readonly decode?: (text: string) => unknown;
}

export interface AnswerOptions {
  /** Type of I64, U64 and U128 in the reply. Default: numbers, which lose digits beyond 2^53. */
  int64?: 'bigint' | 'string' | undefined;
}

interface CallOptions extends AnswerOptions {
  shape?: AnswerShape;
}

/** Used when the compiler does not know the names and types of the queries. */
export type AnyQueries = Record<string, { params: Arguments; result: unknown }>;

interface AnyCalls {
  /** Returns the reply as an object. Numbers beyond 2^53 lose digits, unless `int64` is set. */
  call<T = Record<string, unknown>>(
    name: string,
    args?: Arguments,
    options?: CallOptions,
  ): Promise<T>;
}

/** Parameters of a query in `Queries`, the interface that `trellis types` writes. */
type ParamsOf<E> = E extends { params: infer P } ? P : never;
type ResultOf<E> = E extends { result: infer R } ? R : never;
type ArgumentsInput<P> =
  Record<never, never> extends P
    ? [params?: P, options?: CallOptions]
    : [params: P, options?: CallOptions];

interface TypedCalls<Q> {
  /** Returns the reply of a query by its name, with the generated types. */
  call<N extends keyof Q & string>(
    name: N,
    ...args: ArgumentsInput<ParamsOf<Q[N]>>
  ): Promise<ResultOf<Q[N]>>;
  /** For generated functions. */
  call<T>(name: string, params: object | undefined, options: { shape: AnswerShape }): Promise<T>;
}

interface ByteCalls {
  /** Generated functions call it: checks once that their types still match the program. */
  checkTypes(changes: Changes): void;
  /** The former name of `checkTypes`, which the client calls for generated modules. */
  relies(changes: Changes): void;
  /** Returns the reply as exact JSON bytes. Returns synchronously when the read ran on this thread. */
  callBytes(name: string, args?: Arguments): Uint8Array | Promise<Uint8Array>;
}

/**
 * Runs queries by name: a database that is open here, or one that is attached. Its types come from the
 * interface `Queries` that `trellis types` writes.
 *
 * @example
 * const addAda = (db: QueryCaller) => db.call('add', { name: 'Ada' });
 */
export type Calls<Q = AnyQueries> = ByteCalls &
  // `ReturnType<typeof open>` has `unknown` for the queries.
  (unknown extends Q ? AnyCalls : string extends keyof Q ? AnyCalls : TypedCalls<Q>);

export interface CallsOptions extends AnswerOptions {
  /** Returns the current program. */
  program: () => Pick<Program, 'schema' | 'queries'>;
  send: (name: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** Runs a short read without JSON between. Returns undefined if the call takes the way of `send`. */
  readDirectly?: (name: string, args: Arguments) => Uint8Array | undefined;
  /** Returns the reply type in the current program, or undefined for an unknown query. */
  replyOf: (name: string) => { schema: Schema; reply: ReplyType } | undefined;
}

export function callsOf(options: CallsOptions): ByteCalls & AnyCalls {
  const { send, readDirectly, replyOf, program, int64: defaultInt64 } = options;
  const callBytes: ByteCalls['callBytes'] = (name, args) => {
    try {
      if (typeof name !== 'string') refuseArgument('name', 'String', name);
      if (args === undefined) return send(name, noBytes);
      const isObject = typeof args === 'object' && args !== null;
      const reply = isObject ? readDirectly?.(name, args) : undefined;
      return reply ?? send(name, encode(args));
    } catch (error) {
      return throwAtCaller(error, callBytes);
    }
  };
  const replyPath = (name: string, int64: 'bigint' | 'string'): DecodePath => {
    const found = replyOf(name);
    return found === undefined
      ? 0
      : findDecodePaths(found.schema, found.reply, { int64, dates: false });
  };
  const call = async <T>(
    name: string,
    args?: Arguments,
    { shape, int64 = defaultInt64 }: CallOptions = {},
  ): Promise<T> => {
    try {
      if (int64 !== undefined && int64 !== 'bigint' && int64 !== 'string') {
        refuseArgument('int64', '"bigint" or "string"', int64);
      }
      const reply = callBytes(name, args);
      const text = textOf(reply instanceof Uint8Array ? reply : await reply);
      if (shape?.decode !== undefined) return shape.decode(text) as T;
      if (int64 === undefined) return JSON.parse(text) as T;
      return decodeReply(text, replyPath(name, int64)) as T;
    } catch (error) {
      return throwAtCaller(error, call);
    }
  };
  const checkTypes = (changes: Changes): void => warnOfTypeDrift(changes, program());
  return { call, callBytes, checkTypes, relies: checkTypes };
}

function refuseArgument(param: string, type: string, value: unknown): never {
  return fail('PARAM_TYPE', { param, type, got: excerpt(String(value)) });
}

const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();

/** Decodes UTF-8. A Buffer decodes a short reply in half the time of a TextDecoder. */
const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString();

/** Returns the arguments as JSON text. A bigint is printed as bare digits, a typed array as a list. */
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
