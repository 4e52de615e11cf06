// Reload: recompiles the sources and swaps the program in the database. Invariant: a set that is
// faulty, unreadable or empty never replaces a working one; at most one reload runs, and one more
// waits when something changed meanwhile.
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
  /** Shows a diagnostic with its picture to people; absent where the log goes to a machine. */
  show?: ((picture: string) => void) | undefined;
  /** Hears what was accepted, and what was refused. */
  sources: SourceStatus;
  /** What of the program this database has; all of it if absent. */
  narrow?: (program: Program) => Program;
  /** Whether others that have a part of its data take the program too. Fails SCHEMA_INCOMPATIBLE. */
  validate?: (program: Program) => Promise<void>;
  /** After a swap; with the program as a whole. */
  onApplied: (program: Program) => void;
  onResult: (result: 'done' | 'refused') => void;
  onCompiled: (seconds: number) => void;
}

export interface ReloadResult {
  reloaded: boolean;
  /** Why not. */
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

/** Between two tries where the system lacks what a reload takes. */
const againMs = 1_000;

/** A reload whose result nobody waits for: what the system lacked is no reason to keep the old sources. */
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
      const picture = codeFrameOf(diagnostic, compiled, options.show ? process.stderr : {});
      const level = diagnostic.severity === 'error' ? 'error' : 'warn';
      if (options.show) options.show(picture);
      else log(level, diagnostic.message, { code, file, line, column, hint, picture });
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
    // Nothing is said of the sources: whoever asked may ask again.
    if (data.code === 'RESOURCE_EXHAUSTED') throw new TrellisError(data);
    return refused;
  }
}
