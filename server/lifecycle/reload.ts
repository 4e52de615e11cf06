// Recompiles the sources and replaces the program of the database. Invariant: a set of sources that is
// faulty, unreadable or empty never replaces a working one. At most one reload runs; one more waits if
// something changed meanwhile.
import {
  type Database,
  type Program,
  TrellisError,
  toErrorData,
  errorHint,
  errorMessage,
} from '../../engine/internal.js';
import { programChanges } from '../dev/schema-diff.js';
import type { Log } from '../telemetry/log.js';
import { compileInWorker } from '../project/compile-in-worker.js';
import type { SourceStatus } from '../project/source-status.js';
import { counted } from '../terminal/format.js';
import {
  type Compiled,
  type ProgramOptions,
  archiveOf,
  countErrors,
  codeFrameOf,
} from '../project/program.js';

export interface ReloadOptions extends ProgramOptions {
  database: Database;
  log: Log;
  /** Prints a diagnostic with its code frame for people. Absent if the log is machine-readable. */
  show?: ((codeFrame: string) => void) | undefined;
  /** Receives the accepted and the refused sources. */
  sources: SourceStatus;
  /** Returns the part of the program that this database has. Absent: all of it. */
  narrow?: (program: Program) => Program;
  /** Checks that the shards accept the program too. Fails SCHEMA_INCOMPATIBLE. */
  validate?: (program: Program) => Promise<void>;
  /** Called after the program was replaced, with the whole program. */
  onApplied: (program: Program) => void;
  onResult: (result: 'done' | 'refused') => void;
  onCompiled: (seconds: number) => void;
}

export interface ReloadResult {
  reloaded: boolean;
  /** Why the sources were not reloaded. */
  reason?: string;
  /** What to write instead. */
  hint?: string;
  errors: number;
  queries: number;
}

export function createReloader(options: ReloadOptions): () => Promise<ReloadResult> {
  let last: Promise<ReloadResult> = Promise.resolve(undefined as never);
  let waiting: Promise<ReloadResult> | undefined;
  return () => {
    waiting ??= last
      .catch(() => undefined)
      .then(() => {
        waiting = undefined;
        return (last = reload(options));
      });
    return waiting;
  };
}

/** Milliseconds between two attempts while the system lacks resources. */
const againMs = 1_000;

/**
 * Returns a function that reloads in the background. It tries again if the system lacked resources, since no
 * caller would.
 */
export function inBackground(reload: () => Promise<ReloadResult>): () => void {
  const run = async (): Promise<void> => {
    try {
      await reload();
    } catch (error) {
      if (toErrorData(error).error.code !== 'RESOURCE_EXHAUSTED') throw error;
      setTimeout(() => void run(), againMs).unref();
    }
  };
  return () => void run();
}

async function reload(options: ReloadOptions): Promise<ReloadResult> {
  const { database, log, onApplied: onSwap, onResult } = options;
  let compiled: Compiled | undefined;
  const refuse = (reason: string, errors = 0, hint?: string): ReloadResult => {
    log('warn', 'reload failed; still serving the previous version', { reason, hint });
    onResult('refused');
    options.sources.refuse(compiled, errors, reason);
    const queries = database.program.queries.length;
    return { reloaded: false, reason, errors, queries, ...(hint !== undefined && { hint }) };
  };
  const started = performance.now();
  try {
    compiled = await compileInWorker(options);
    const { program, diagnostics, sources } = compiled;
    options.onCompiled((performance.now() - started) / 1000);
    for (const diagnostic of diagnostics) {
      const { code, file, line, column, hint } = diagnostic;
      const codeFrame = codeFrameOf(diagnostic, compiled, options.show ? process.stderr : {});
      const level = diagnostic.severity === 'error' ? 'error' : 'warn';
      if (options.show) options.show(codeFrame);
      else log(level, diagnostic.message, { code, file, line, column, hint, picture: codeFrame });
    }
    if (sources.length === 0) return refuse('there are no sources');
    if (program === undefined) {
      const errors = countErrors(diagnostics);
      return refuse(`${counted(errors, 'error')} in the sources`, errors);
    }
    const before = database.program;
    const archive = database.cluster && archiveOf(compiled, options);
    const fitting = options.narrow?.(program) ?? program;
    await options.validate?.(program);
    await database.reload(fitting, archive);
    const changes = programChanges(before, fitting);
    options.sources.use(compiled);
    onSwap(program);
    onResult('done');
    const queries = program.queries.length;
    const ms = Math.round(performance.now() - started);
    if (options.show) for (const line of changes) options.show(`  ${line}`);
    log('info', 'sources reloaded', { queries, ms, ...(!options.show && { changes }) });
    return { reloaded: true, errors: 0, queries };
  } catch (error) {
    const { error: data, stack } = toErrorData(error);
    if (stack !== undefined) throw error;
    const hint = errorHint(data);
    const migration = /`(MIGRATION .*)`/.exec(hint ?? '')?.[1];
    if (options.show && migration !== undefined) options.show(`  to paste: ${migration}`);
    const refused = refuse(errorMessage(data), 0, hint);
    // The sources are not at fault, so the caller may try again.
    if (data.code === 'RESOURCE_EXHAUSTED') throw new TrellisError(data);
    return refused;
  }
}
