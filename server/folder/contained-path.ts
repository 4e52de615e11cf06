// Checks whether a path is inside a folder, by real paths. Invariant: a link counts as its target. A link
// without a target is outside, because a file that is created through it would be.
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** Returns whether a path is inside a folder. Both paths are real. */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/**
 * Returns the real path of the file at `path`, or of the file that would be created there. Returns
 * undefined after a link without a target.
 */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const above = dirname(path);
  const real = exists(path) || above === path ? undefined : realPath(above);
  return real === undefined ? undefined : join(real, basename(path));
}

/** Checks the link itself, not its target. */
export function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/**
 * Returns whether `path`, which need not exist, is inside the folder. Loops of links are outside.
 */
export function liesInside(folder: string, path: string): boolean {
  try {
    const [real, outer] = [realPath(path), realPath(folder)];
    return real !== undefined && outer !== undefined && isWithin(outer, real);
  } catch {
    return false;
  }
}

/** Nothing exists at the path, or a file is in the place of a folder. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
