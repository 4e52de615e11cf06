// The engine inside a Node program, without HTTP: cheap reads run on the caller's thread, writes go
// through the writer lane and are durable when their promise resolves. Same compiler, same plans,
// same answers as over HTTP.
import { excerpt, fail } from '../base/errors.js';
import { compile } from '../lang/compile.js';
import { type Diagnostic, printDiagnostic } from '../lang/syntax/diagnostic.js';
import type { Database } from './database.js';
import { type OpenOptions, completeOptions } from './embedded-options.js';
import { openDatabase } from './open-database.js';

/** What a query takes: JSON values, and bigint for integers beyond 2^53. */
export type Arguments = Readonly<Record<string, unknown>>;

/** How generated functions read an answer, integers beyond 2^53 among it. */
interface AnswerShape {
  readonly decode?: (text: string) => unknown;
}

export interface EmbeddedDatabase {
  /** The reply as an object. Numbers beyond 2^53 lose digits here: use `callBytes` for those. */
  call<T = Record<string, unknown>>(
    name: string,
    args?: Arguments,
    options?: { shape?: AnswerShape },
  ): Promise<T>;
  /** The reply as JSON bytes, exact. Returns at once when the read ran on this thread. */
  callBytes(name: string, args?: Arguments): Uint8Array | Promise<Uint8Array>;
  /** The full interface: session plans, reload, status, metrics. */
  readonly database: Database;
  close(): Promise<void>;
}

/**
 * Databases that nobody has closed. They do not keep the process alive: when there is nothing left
 * for it to do, they are closed in order, which is all that ends them.
 */
const opened = new Set<Database>();
const closeAll = (): void => {
  for (const database of opened) {
    database.close().then(
      () => forget(database),
      () => forget(database),
    );
  }
};

function remember(database: Database): void {
  if (opened.size === 0) process.on('beforeExit', closeAll);
  opened.add(database);
}

function forget(database: Database): void {
  opened.delete(database);
  if (opened.size === 0) process.off('beforeExit', closeAll);
}

/**
 * Opens a database inside this process. Fails SOURCE_INVALID with the pictures of all errors, and
 * PARAM_MISSING, PARAM_TYPE, PARAM_RANGE, PARAM_VALUE or UNKNOWN_MEMBER with the name of an option.
 */
export async function open(options: OpenOptions): Promise<EmbeddedDatabase> {
  const complete = completeOptions(options);
  const { sources, compat } = options;
  const compiled = compile(sources, { compat: compat === 'helix-2', limits: complete.limits });
  if (compiled.program === undefined) refuse(compiled.diagnostics, sources);
  const database = await openDatabase({ ...complete, program: compiled.program });
  remember(database);
  const callBytes: EmbeddedDatabase['callBytes'] = (name, args) => {
    if (typeof name !== 'string') refuseArgument('name', 'String', name);
    return database.call(name, args === undefined ? new Uint8Array(0) : encode(args));
  };
  return {
    database,
    callBytes,
    async call<T>(name: string, args?: Arguments, options?: { shape?: AnswerShape }) {
      const text = decoder.decode(await callBytes(name, args));
      return (options?.shape?.decode ?? JSON.parse)(text) as T;
    },
    close: () => database.close().finally(() => forget(database)),
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

function refuse(diagnostics: readonly Diagnostic[], sources: OpenOptions['sources']): never {
  const pictures = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((diagnostic) => {
      const source = sources.find(({ path }) => path === diagnostic.file);
      return printDiagnostic(diagnostic, source?.text ?? '');
    });
  return fail('SOURCE_INVALID', { what: `The sources are refused.\n${pictures.join('\n')}` });
}
