// Whether a place lies inside a folder, by real paths. Invariant: a link counts as what it leads to, and one that
// leads nowhere lies outside, because what is created through it would.
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** Both paths are real. */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** The real path of what is at `path`, or of what would be created there; undefined behind a link to nothing. */
export function realPlace(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const above = dirname(path);
  const real = isThere(path) || above === path ? undefined : realPlace(above);
  return real === undefined ? undefined : join(real, basename(path));
}

/** The link itself is looked at. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Whether `path`, which need not exist yet, lies inside the folder. Loops of links and the like lie outside. */
export function liesInside(folder: string, path: string): boolean {
  try {
    const [real, outer] = [realPlace(path), realPlace(folder)];
    return real !== undefined && outer !== undefined && isWithin(outer, real);
  } catch {
    return false;
  }
}

/** There is nothing, or a file stands where a folder would have to. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
