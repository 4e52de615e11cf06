// `trellis check`: prints every diagnostic of a project and opens no data. Ends with 0, or with 1
// when there is an error.
import { type Diagnostic, TrellisError, errorMessage } from '../engine/index.js';
import type { Config } from './config.js';
import { exitCodes } from './exit-code.js';
import { printErrorLine, printLine } from './log.js';
import { countErrors, loadProgram, pictureOf, programOptions } from './program.js';

export function checkCommand(config: () => Config, json: boolean): number {
  try {
    const { diagnostics, sources } = loadProgram(programOptions(config()));
    if (json) printLine(printJson(diagnostics));
    else for (const diagnostic of diagnostics) printLine(pictureOf(diagnostic, sources));
    const errors = countErrors(diagnostics);
    if (!json) printLine(summary(sources.length, errors, diagnostics.length - errors));
    if (errors === 0) return exitCodes.ok;
    printErrorLine('SOURCE_INVALID: the sources have errors. Correct the places named above.');
    return exitCodes.diagnostics;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    // `check` ends with 0 or 1 only.
    const { code } = error;
    if (json) printLine(JSON.stringify({ diagnostics: [], error: errorMessage(error.data), code }));
    printErrorLine(`${code}: ${errorMessage(error.data)}`);
    return exitCodes.diagnostics;
  }
}

function printJson(diagnostics: readonly Diagnostic[]): string {
  return JSON.stringify({ diagnostics }, null, 2);
}

function summary(files: number, errors: number, warnings: number): string {
  const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
  return `${count(files, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
