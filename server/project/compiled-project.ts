// Compiles a project for commands that need its queries.
import { type Program, type Source, fail } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { printErrorLine } from '../telemetry/log.js';
import { counted } from '../terminal/format.js';
import { countErrors, loadProgram, codeFrameOf, programOptions } from './program.js';

/** Returns the program. If there are errors, prints them and fails SOURCE_INVALID. */
export function requireProgram(config: Config): { program: Program; sources: Source[] } {
  const compiled = loadProgram(programOptions(config));
  const { program, diagnostics, sources } = compiled;
  if (program !== undefined) return { program, sources };
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== 'error') continue;
    printErrorLine(codeFrameOf(diagnostic, compiled, process.stderr));
  }
  const errors = counted(countErrors(diagnostics), 'error');
  return fail('SOURCE_INVALID', { what: `The sources have ${errors}.` });
}
