// From a project's files to a program: reading, compiling, and the printing of diagnostics for
// people.
import { join } from 'node:path';
import {
  type Diagnostic,
  type Limits,
  type Program,
  type Source,
  compile,
  printDiagnostic,
} from '../../engine/index.js';
import { type Config, processEnvironment } from '../config/config.js';
import { paintPicture, painterFor } from '../terminal/colour.js';
import { shownPath } from '../terminal/wording.js';
import { readSources } from './project.js';

export interface Compiled {
  /** Absent when a diagnostic is an error. */
  program: Program | undefined;
  diagnostics: Diagnostic[];
  sources: Source[];
  projectDir: string;
}

export interface ProgramOptions {
  projectDir: string;
  queriesDir: string;
  compat: boolean;
  limits: Limits;
}

export function programOptions(config: Config): ProgramOptions {
  const { projectDir, queriesDir, compat, limits } = config;
  return { projectDir, queriesDir, compat: compat === 'helix-2', limits };
}

/**
 * Reads and compiles. Fails SOURCE_INVALID when a file cannot be read; faults inside files are
 * diagnostics. `slow`: so is what is read as a whole without need.
 */
export function loadProgram(options: ProgramOptions, slow = false): Compiled {
  const { projectDir, queriesDir, compat, limits } = options;
  const sources = readSources(projectDir, queriesDir);
  const { program, diagnostics } = compile(sources, { compat, limits, slow });
  return { program, diagnostics, sources, projectDir };
}

/** One diagnostic with its picture, for whoever reads `stream` in the working directory. */
export function pictureOf(
  diagnostic: Diagnostic,
  { sources, projectDir }: Pick<Compiled, 'sources' | 'projectDir'>,
  stream: { isTTY?: boolean } = {},
): string {
  const source = sources.find(({ path }) => path === diagnostic.file);
  const file = source === undefined ? diagnostic.file : shownPath(join(projectDir, source.path));
  const picture = printDiagnostic(
    { ...diagnostic, file },
    source === undefined ? '' : textOf(source),
  );
  const paint = painterFor(stream, processEnvironment);
  return paintPicture(paint, picture, diagnostic.severity === 'error');
}

export const textOf = ({ text }: Source): string =>
  typeof text === 'string' ? text : new TextDecoder().decode(text);

export function countErrors(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
}
