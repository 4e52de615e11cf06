// Runs the engine inside a Node program, without HTTP. Cheap reads run on the caller's thread. Writes go
// through the writer thread, and are durable when their promise resolves. Compiler, plans and results are the
// same as over HTTP.
import { fail } from '../base/errors.js';
import { statisticsOf } from '../exec/statistics.js';
import { explain } from '../plan/explain.js';
import { adHocName, readAdHocCall } from './ad-hoc.js';
import type { DatabaseOptions } from './call/options.js';
import { compile } from '../lang/compile.js';
import { type Diagnostic, printDiagnostic } from '../lang/syntax/diagnostic.js';
import type { Attachment } from './attach/attachment.js';
import { type AnyQueries, type Calls, callsOf } from './attach/query-caller.js';
import type { Database } from './database.js';
import { type OpenOptions, completeOptions } from './embedded-options.js';
import { openDatabase } from './database-impl.js';

export type EmbeddedDatabase<Q = AnyQueries> = Calls<Q> & EmbeddedParts;

interface EmbeddedParts {
  /**
   * For a worker thread, which passes it to `attach` to read on its own thread. `port` must be in the
   * transfer list.
   */
  attachment(): Attachment;
  /** The full interface: session plans, reload, status, metrics. */
  readonly database: Database;
  close(): Promise<void>;
}

/**
 * Open databases. They do not keep the process alive. When the process has nothing left to do, they are
 * closed in order.
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
 * Opens a database inside this process. Fails SOURCE_INVALID with the code frames of all errors, and
 * PARAM_MISSING, PARAM_TYPE, PARAM_RANGE, PARAM_VALUE or UNKNOWN_MEMBER with the name of an option.
 */
export async function open<Q = AnyQueries>(options: OpenOptions): Promise<EmbeddedDatabase<Q>> {
  const complete = completeOptions(options);
  const { sources, compat, int64 } = options;
  const compiled = compile(sources, { compat: compat === 'helix-2', limits: complete.limits });
  if (compiled.program === undefined) refuse(compiled.diagnostics, sources);
  const database = await openDatabase({ ...complete, program: compiled.program });
  remember(database);
  const calls = callsOf({
    int64,
    program: () => database.program,
    send: (name, body) =>
      name === adHocName ? callAdHoc(database, body, complete) : database.call(name, body),
    replyOf: (name) => {
      const { schema, queries } = database.program;
      const query = queries.find((each) => each.name === name);
      return query && { schema, reply: query.output };
    },
  });
  const embedded: EmbeddedDatabase = {
    ...calls,
    database,
    attachment: () => database.attachment(),
    close: () => database.close().finally(() => forget(database)),
  };
  // The types come from the generated file. Nothing checks that they belong to this program.
  return embedded as EmbeddedDatabase<Q>;
}

/** Runs an ad hoc query. The process that opened the database may run any query. */
function callAdHoc(
  database: Database,
  body: Uint8Array,
  { limits, strictMembers: strict }: Pick<DatabaseOptions, 'limits' | 'strictMembers'>,
): Uint8Array | Promise<Uint8Array> {
  const call = readAdHocCall(body, database.program, { limits, strict });
  if (call.explain) {
    const explanation = database.view((view) => explain(call.plan, statisticsOf(view)));
    return encoder.encode(JSON.stringify(explanation));
  }
  const result = database.run(call.plan, call.args, undefined);
  return result instanceof Promise ? result.then((done) => done.body) : result.body;
}

const encoder = new TextEncoder();

function refuse(diagnostics: readonly Diagnostic[], sources: OpenOptions['sources']): never {
  const pictures = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((diagnostic) => {
      const source = sources.find(({ path }) => path === diagnostic.file);
      return printDiagnostic(diagnostic, source?.text ?? '');
    });
  return fail('SOURCE_INVALID', { what: `The sources are refused.\n${pictures.join('\n')}` });
}
