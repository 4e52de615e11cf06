// The generated TypeScript of a project as a file: what `trellis types` writes, and `trellis dev` after
// every reload. Invariant: a file that is as it should be is not touched.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail, type Program, printTypeScript } from '../../engine/index.js';
import type { Config } from '../config/config.js';

export interface TypesFile {
  path: string;
  text: string;
  isCurrent: boolean;
}

/** `int64` and `dates` of the configuration; `files`: how many sources there are. */
export function typesText(
  program: Program,
  files: number,
  types: Pick<Config['types'], 'int64' | 'dates'>,
  version: string,
): string {
  const { int64, dates } = types;
  return printTypeScript(program, { version, files, int64, dates });
}

/** Beside the project unless `out` says otherwise. */
export function typesFile({ projectDir }: Pick<Config, 'projectDir'>, out: string, text: string) {
  const path = out === '' ? join(projectDir, 'trellis.gen.ts') : resolve(projectDir, out);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
  return { path, text, isCurrent };
}

/** Fails CONFIG_INVALID. */
export function writeTypesFile({ path, text, isCurrent }: TypesFile): void {
  if (isCurrent) return;
  try {
    writeFileSync(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    fail('CONFIG_INVALID', { what: `The types cannot be written to ${path}: ${code}.` });
  }
}
