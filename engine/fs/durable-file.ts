// Writes files and folders that survive a power cut. Syncing a file makes its content durable. Its
// name is an entry of its folder, so the folder must be synced too, and so must every new folder
// above it.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LargeFile } from './large-file.js';

/**
 * Replaces a file atomically: after a power cut the path has either the old content or the new
 * content. If this fails, the old file is unchanged.
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.tmp`;
  try {
    writeWhole(unfinished, content);
    renameSync(unfinished, path);
  } catch (error) {
    discard(unfinished);
    throw error;
  }
  syncPath(dirname(path));
}

function writeWhole(path: string, content: string | Uint8Array): void {
  const file = new LargeFile(path, 'w');
  try {
    file.write(Buffer.from(content as Uint8Array), 0);
    file.sync();
  } finally {
    file.close();
  }
}

/**
 * Removes a temporary file. Errors are ignored, because the caller reports the error that led here.
 */
function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next replacement overwrites the file.
  }
}

/**
 * Creates a folder and the missing folders above it, and makes them durable. The recursive `mkdirSync` of
 * Node 20 never returns where the kernel creates no folder, as in /proc.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  let folder = resolve(path);
  for (; !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  if (!statSync(folder).isDirectory()) throw new NotFolderError(folder);
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!statSync(each).isDirectory()) throw new NotFolderError(each);
    }
    syncPath(dirname(each));
  }
}

/** A folder cannot be created because `path` is a file. */
export class NotFolderError extends Error {
  readonly code = 'ENOTDIR';

  constructor(readonly path: string) {
    super(`ENOTDIR: not a folder, mkdir '${path}'`);
  }
}

/** Makes the content of a file durable, or the entries of a folder. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
