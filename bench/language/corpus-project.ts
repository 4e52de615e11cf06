// Outside projects on disk: where one begins, and what the compiler says about it under the configuration it
// brings along.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  type Diagnostic,
  type ParameterType,
  TrellisError,
  errorMessage,
} from '../../engine/internal.js';
import { type Config, loadConfig } from '../../server/config/config.js';
import { type Compiled, loadProgram, programOptions } from '../../server/project/program.js';

export interface CorpusProject {
  name: string;
  /** Absent when the configuration itself is refused. */
  config?: Config;
  compiled?: Compiled;
  /** Why it does not compile. */
  errors: string[];
  /** Queries written in its sources. */
  queries: number;
}

export type { ParameterType };

const configFiles = ['trellis.toml', 'helix.toml', 'config.hx.json'];
const hidden = /^(\.|node_modules$|dist$)/;

/** Folders with sources or with a configuration above them, each project once, by path. */
export function findProjects(root: string): string[] {
  const found = new Set<string>();
  const visit = (folder: string, owner: string | undefined): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    const isOwner = configFiles.some((name) => existsSync(join(folder, name)));
    const home = isOwner ? folder : owner;
    if (entries.some((entry) => entry.isFile() && entry.name.endsWith('.hx')))
      found.add(home ?? folder);
    for (const entry of entries)
      if (entry.isDirectory() && !hidden.test(entry.name)) visit(join(folder, entry.name), home);
  };
  visit(root, undefined);
  return [...found].sort();
}

/** Reads, configures and compiles one project. `dataDir` is where its data would go. */
export function readProject(folder: string, root: string, dataDir: string): CorpusProject {
  const name = relative(dirname(root), folder);
  try {
    const config = loadConfig({
      projectDir: folder,
      flags: new Map([['storage.data_dir', dataDir]]),
      environment: {},
    });
    const compiled = loadProgram(programOptions(config));
    const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error').map(line);
    if (compiled.sources.length === 0) errors.push('no sources where its configuration looks');
    return { name, config, compiled, errors, queries: countQueries(compiled) };
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return { name, errors: [errorMessage(error.data)], queries: 0 };
  }
}

function line({ code, file, line: row, column, message }: Diagnostic): string {
  return `${code} ${file}:${row}:${column} ${message}`;
}

/** An invalid project has no compiled queries, so count the headers without comments. */
function countQueries({ program, sources }: Compiled): number {
  if (program !== undefined) return program.queries.length;
  const texts = sources.map(({ text }) => Buffer.from(text as Uint8Array).toString());
  return texts.reduce((sum, text) => sum + (text.match(/^\s*QUERY\b/gm)?.length ?? 0), 0);
}
