// From a project's files to a program: reading, compiling, and the printing of diagnostics for people.
import {
  type Diagnostic,
  type Program,
  type SourceText,
  compile,
  printDiagnostic,
} from '../engine/index.js';
import { type Source, readSources } from './project.js';

export interface Compiled {
  /** Absent when a diagnostic is an error. */
  program: Program | undefined;
  diagnostics: Diagnostic[];
  sources: Source[];
}

export interface ProgramOptions {
  projectDir: string;
  queriesDir: string;
  compat: boolean;
}

/** Reads and compiles. Fails SOURCE_INVALID when a file cannot be read; faults inside files are diagnostics. */
export function loadProgram({ projectDir, queriesDir, compat }: ProgramOptions): Compiled {
  const sources = readSources(projectDir, queriesDir);
  const texts: SourceText[] = sources.map(({ path, content }) => ({ path, content }));
  const { program, diagnostics } = compile(texts, { compat });
  return { program, diagnostics, sources };
}

/** One diagnostic with its picture. */
export function pictureOf(diagnostic: Diagnostic, sources: readonly Source[]): string {
  const source = sources.find(({ path }) => path === diagnostic.file);
  const text = source === undefined ? '' : new TextDecoder().decode(source.content);
  return printDiagnostic(diagnostic, text);
}

export function countErrors(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
}
