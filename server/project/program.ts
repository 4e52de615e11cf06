// Reads the files of a project, compiles them to a program, and prints diagnostics for people.
import { join } from 'node:path';
import {
  type Diagnostic,
  type Limits,
  type Program,
  type Source,
  type SourceArchive,
  compile,
  printDiagnostic,
} from '../../engine/internal.js';
import { type Config, processEnvironment } from '../config/config.js';
import { colourCodeFrame, painterFor } from '../terminal/colour.js';
import { shownPath } from '../terminal/format.js';
import { rulesOf } from './compile-options.js';
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
  /** Vector types that are divided over several databases. */
  scattered?: ReadonlySet<string>;
  /** Shards only: the type whose vectors the database has. */
  shard?: string;
}

export function programOptions(config: Config): ProgramOptions {
  const { projectDir, queriesDir, compat, limits, scatter, shard, tenant } = config;
  const shared = { projectDir, queriesDir, compat: compat === 'helix-2', limits };
  // In the database of a tenant, no type is divided.
  if (scatter.size === 0 || (tenant !== '' && shard === undefined)) return shared;
  const scattered = new Set(scatter.keys());
  return { ...shared, scattered, ...(shard && { shard: shard.type }) };
}

/**
 * Reads and compiles a project. Fails SOURCE_INVALID if a file cannot be read; errors inside files are
 * diagnostics. With `slow`, avoidable full scans are diagnostics, too.
 */
export function loadProgram(options: ProgramOptions, slow = false): Compiled {
  const { projectDir, queriesDir } = options;
  const sources = readSources(projectDir, queriesDir);
  return { ...compile(sources, { ...rulesOf(options), slow }), sources, projectDir };
}

/** Returns the sources in the form in which the nodes of a cluster exchange them. */
export function archiveOf(
  { sources }: Pick<Compiled, 'sources'>,
  { compat, scattered, shard }: ProgramOptions,
): SourceArchive {
  const texts = sources.map(({ path, text }) => ({
    path,
    text: typeof text === 'string' ? text : Buffer.from(text).toString(),
  }));
  return {
    compat,
    ...(scattered && { scattered: [...scattered] }),
    ...(shard && { shard }),
    sources: texts,
  };
}

/** Returns one diagnostic with its code frame, colored if `stream` is a terminal. */
export function codeFrameOf(
  diagnostic: Diagnostic,
  { sources, projectDir }: Pick<Compiled, 'sources' | 'projectDir'>,
  stream: { isTTY?: boolean } = {},
): string {
  const source = sources.find(({ path }) => path === diagnostic.file);
  const file = source === undefined ? diagnostic.file : shownPath(join(projectDir, source.path));
  const codeFrame = printDiagnostic(
    { ...diagnostic, file },
    source === undefined ? '' : textOf(source),
  );
  const paint = painterFor(stream, processEnvironment);
  return colourCodeFrame(paint, codeFrame, diagnostic.severity === 'error');
}

export const textOf = ({ text }: Source): string =>
  typeof text === 'string' ? text : new TextDecoder().decode(text);

export function countErrors(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
}
