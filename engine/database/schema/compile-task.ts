// Runs on the compiler thread, so that serving threads stay responsive.
// Invariant: this thread loads nothing native, so that it may be terminated at any time.
import { compileAdHoc } from '../../lang/compile-ad-hoc.js';
import { type CompileOptions, compile, type Source } from '../../lang/compile.js';
import type { Limits } from '../../base/limits.js';
import type { Diagnostic } from '../../lang/syntax/diagnostic.js';
import { pack } from '../call/serialize-plan.js';
import { headOf, type PackedProgram, packProgram } from '../call/serialized-program.js';
import { deserializeSignatures } from '../call/serialized-signature.js';
import { type DocumentReport, type DocumentTask, documentOf } from './openapi-task.js';

export interface CompileTask {
  sources: readonly Source[];
  options: Pick<CompileOptions, 'compat' | 'limits' | 'scattered'>;
  /** Return the schema only, without the queries. */
  headOnly: boolean;
}

export interface CompileReport {
  /** Undefined when a diagnostic is an error. */
  program: PackedProgram | undefined;
  diagnostics: Diagnostic[];
}

/** Compiles an ad hoc query against the schema of a program. */
export interface AdHocTask {
  text: string;
  program: PackedProgram;
  limits: Limits;
}

export interface AdHocReport {
  /** Packed. Undefined when a diagnostic is an error. */
  query: unknown;
  diagnostics: Diagnostic[];
}

export type Task = CompileTask | AdHocTask | DocumentTask;

export default function compileTask(task: Task): CompileReport | AdHocReport | DocumentReport {
  if ('about' in task)
    return documentOf(deserializeSignatures(task.signatures), task.about, task.seen);
  return 'text' in task ? adHocTask(task) : programTask(task);
}

function adHocTask({ text, program, limits }: AdHocTask): AdHocReport {
  const { schema, compat } = headOf(program);
  const { query, diagnostics } = compileAdHoc(text, schema, { compat, limits });
  return { query: pack(query), diagnostics };
}

function programTask({ sources, options, headOnly }: CompileTask): CompileReport {
  const { program, diagnostics } = compile(sources, options);
  const wanted = program && headOnly ? { ...program, queries: [] } : program;
  return { program: wanted && packProgram(wanted), diagnostics };
}
