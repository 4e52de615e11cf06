// Compiles the files of a project on another thread, while a server runs.
import { programCompiler } from '../../engine/internal.js';
import { rulesOf } from './compile-options.js';
import type { Compiled, ProgramOptions } from './program.js';
import { readSources } from './project.js';

/** Loads and compiles the program like `loadProgram`, on another thread. */
export async function compileInWorker(options: ProgramOptions): Promise<Compiled> {
  const { projectDir, queriesDir } = options;
  const sources = readSources(projectDir, queriesDir);
  return { ...(await programCompiler.compile(sources, rulesOf(options))), sources, projectDir };
}
