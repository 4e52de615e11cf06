// Entry of the thread that compiles beside those that serve. Invariant: nothing native is loaded here, so
// that the thread may be ended whatever it does.
import { type CompileOptions, compile, type Source } from '../../lang/compile.js';
import type { Diagnostic } from '../../lang/syntax/diagnostic.js';
import { type PackedProgram, packProgram } from '../call/packed-program.js';

export interface CompileTask {
  sources: readonly Source[];
  options: Pick<CompileOptions, 'compat' | 'limits' | 'scattered'>;
  /** Nobody asks for the queries. */
  headOnly: boolean;
}

export interface CompileReport {
  /** Undefined when a diagnostic is an error. */
  program: PackedProgram | undefined;
  diagnostics: Diagnostic[];
}

export default function compileTask({ sources, options, headOnly }: CompileTask): CompileReport {
  const { program, diagnostics } = compile(sources, options);
  const wanted = program && headOnly ? { ...program, queries: [] } : program;
  return { program: wanted && packProgram(wanted), diagnostics };
}
