// Runs the engine inside a Node program, without HTTP. Cheap reads run on the caller's thread. Writes go
// through the writer thread, and are durable when their promise resolves. Compiler, plans and results are the
// same as over HTTP.
import { fail } from '../base/errors.js';
import { throwAtCaller } from './attach/throw-at-caller.js';
import type { Limits } from '../base/limits.js';
import { statisticsOf } from '../exec/statistics.js';
import { explain } from '../plan/explain.js';
import { adHocName, readAdHocCall } from './ad-hoc.js';
import type { DatabaseOptions } from './call/options.js';
import { compile } from '../lang/compile.js';
import { type Diagnostic, printDiagnostic } from '../lang/syntax/diagnostic.js';
import type { Attachment } from './attach/attachment.js';
import { type AnyQueries, type Calls, callsOf } from './attach/query-caller.js';
import type { ClusterNode } from '../cluster/node.js';
import type { Program } from '../plan/program.js';
import type { Database, DatabaseStatus } from './database.js';
import type { DatabaseSample } from './metrics/definitions.js';
import { type OpenOptions, checkSources, completeOptions } from './embedded-options.js';
import { openDatabase } from './database-impl.js';

/**
 * A database that is open inside this process, as `open` returns it. `call` and `callBytes` run the queries
 * of its program; the other methods manage the database.
 *
 * @example
 * const db: EmbeddedDatabase = await open({ dataDir: './data', sources });
 * await db.backUp('./backup');
 * console.log(db.status().phase); // serving
 */
export type EmbeddedDatabase<Q = AnyQueries> = Calls<Q> & EmbeddedParts;

type ProgramOptions = Pick<OpenOptions, 'sources' | 'compat'>;

interface EmbeddedParts {
  /**
   * For a worker thread, which passes it to `attach` to read on its own thread. `port` must be in the
   * transfer list.
   */
  attachment(): Attachment;
  /**
   * Compiles the sources and switches to them, on all threads and nodes at the same time. Additive schema
   * changes are applied; others fail SCHEMA_INCOMPATIBLE. Fails SOURCE_INVALID; in a cluster NOT_LEADER on
   * all nodes but one.
   */
  reload(sources: OpenOptions['sources']): Promise<void>;
  /**
   * Copies the newest commit to the new folder `to` while reads and writes continue; resolves with its size.
   */
  backUp(to: string): Promise<{ bytes: number }>;
  /** Writes snapshots of the vector indexes now, which shortens the next start. */
  snapshot(): Promise<void>;
  /** State of the database, and the reason if it accepts no writes. */
  status(): DatabaseStatus;
  /** The counters and gauges that a server prints at /metrics. */
  metrics(): DatabaseSample[];
  /** This node of a cluster: its role, position and lag; undefined for a database of one process. */
  readonly cluster: ClusterNode | undefined;
  /** Finishes the writes that wait, writes snapshots, closes the files. */
  close(): Promise<void>;
  /**
   * Everything that the server uses; it changes without notice.
   * @internal
   */
  readonly database: Database;
}

/**
 * Open databases. They do not keep the process alive. When the process has nothing left to do, they are
 * closed in order.
 */
const opened = new Set<Database>();
const closeAll = (): void => {
  for (const database of opened) {
    database.close().then(
      () => unregister(database),
      () => unregister(database),
    );
  }
};

/** Databases that the caller has closed. A call then fails DATABASE_CLOSED, which no retry can change. */
const closed = new WeakSet<Database>();

function checkOpen(database: Database): void {
  if (closed.has(database)) fail('DATABASE_CLOSED');
}

function close(database: Database): Promise<void> {
  closed.add(database);
  return database.close().finally(() => unregister(database));
}

function remember(database: Database): void {
  if (opened.size === 0) process.on('beforeExit', closeAll);
  opened.add(database);
}

function unregister(database: Database): void {
  opened.delete(database);
  if (opened.size === 0) process.off('beforeExit', closeAll);
}

/**
 * Opens a database inside this process, and creates `dataDir` if it is missing. An invalid source fails
 * SOURCE_INVALID with the location of every error. An invalid option fails PARAM_MISSING, PARAM_TYPE,
 * PARAM_RANGE, PARAM_VALUE or UNKNOWN_MEMBER. Data that another process has open fail DATA_LOCKED.
 *
 * @example
 * const text = 'N::Person { name: String }  QUERY people() => p <- N<Person> RETURN p::{name}';
 * const db = await open({ dataDir: './data', sources: [{ path: 'app.hx', text }] });
 * console.log(await db.call('people')); // { p: [] }
 * await db.close();
 */
export async function open<Q = AnyQueries>(options: OpenOptions): Promise<EmbeddedDatabase<Q>> {
  try {
    // The types come from the generated file. Nothing compares them with the program here.
    return (await openEmbedded(options)) as EmbeddedDatabase<Q>;
  } catch (error) {
    return throwAtCaller(error, open);
  }
}

async function openEmbedded(options: OpenOptions): Promise<EmbeddedDatabase> {
  const complete = completeOptions(options);
  const database = await openDatabase({
    ...complete,
    program: compileOrFail(options, complete.limits),
  });
  remember(database);
  const calls = callsOf({
    int64: options.int64,
    program: () => database.program,
    send: (name, body) => {
      checkOpen(database);
      return name === adHocName ? callAdHoc(database, body, complete) : database.call(name, body);
    },
    readDirectly: (name, args) => {
      checkOpen(database);
      return database.readDirectly?.(name, args);
    },
    replyOf: (name) => {
      const { schema, queries } = database.program;
      const query = queries.find((each) => each.name === name);
      return query && { schema, reply: query.output };
    },
  });
  return { ...calls, ...partsOf(database, options, complete.limits) };
}

function partsOf(database: Database, { compat }: OpenOptions, limits: Limits): EmbeddedParts {
  const parts: EmbeddedParts = {
    database,
    attachment() {
      checkOpen(database);
      return database.attachment();
    },
    reload: async (sources) => {
      try {
        checkOpen(database);
        checkSources(sources);
        const program = compileOrFail({ sources, compat }, limits);
        const archive = database.cluster && { compat: compat === 'helix-2', sources };
        await database.reload(program, archive);
      } catch (error) {
        throwAtCaller(error, parts.reload);
      }
    },
    backUp: async (to) => {
      try {
        checkOpen(database);
        return await database.backUp(to);
      } catch (error) {
        return throwAtCaller(error, parts.backUp);
      }
    },
    async snapshot() {
      checkOpen(database);
      await database.snapshot();
    },
    status: () => database.status(),
    metrics() {
      checkOpen(database);
      return database.metrics();
    },
    cluster: database.cluster,
    close: () => close(database),
  };
  return parts;
}

/** Runs a query that the caller passes: a program that opened the database may run any query. */
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

/** The program of the sources. Fails SOURCE_INVALID. */
export function compileOrFail({ sources, compat }: ProgramOptions, limits: Limits): Program {
  const { program, diagnostics } = compile(sources, { compat: compat === 'helix-2', limits });
  return program ?? refuse(diagnostics, sources);
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
