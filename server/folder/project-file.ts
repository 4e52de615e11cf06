// Reads files of a project.
//
// Invariant: only files inside the real project folder are read. A link inside the folder is followed, as in
// a mounted ConfigMap, whose files are links to `..data`. A link that leads out is refused.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { fail, throwShortage } from '../../engine/internal.js';
import { isMissing, isWithin } from './contained-path.js';

/**
 * Returns the real path of a file of the project, undefined if there is none, or `outside` for a link
 * that leads out of the folder. Other problems, such as a loop of links, fail with the error of the
 * system.
 */
export function realFile(folder: string, path: string): string | 'outside' | undefined {
  try {
    const real = realpathSync(path);
    return isWithin(realpathSync(folder), real) ? real : 'outside';
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether a path can be read without blocking: reading a pipe would wait for a writer. */
const isReadable = (path: string): boolean => {
  const status = statSync(path);
  return status.isFile() || status.isDirectory();
};

/** Part of an error message for a file that is a link out of the project. */
export const leadsOut = 'is a link that leads out of the project';

/**
 * Returns the text of a file by its name in the project, or undefined if there is none. Fails
 * CONFIG_INVALID if the file cannot be read, or leads out of the folder.
 */
export function readProjectFile(folder: string, path: string, name: string): string | undefined {
  let what = `${name} ${leadsOut}.`;
  try {
    const real = realFile(folder, path);
    if (real === undefined) return undefined;
    if (real !== 'outside' && isReadable(real)) return readFileSync(real, 'utf8');
    if (real !== 'outside') what = `${name} is no file.`;
  } catch (error) {
    throwShortage(error);
    const { code } = error as NodeJS.ErrnoException;
    return fail('CONFIG_INVALID', { what: `${name} cannot be read: ${code}.` });
  }
  const hint = 'Files of a project are read inside its folder only: put the file itself there.';
  return fail('CONFIG_INVALID', { what }, { hint });
}
