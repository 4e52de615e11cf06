// Files and folders that are there after a power cut (operations.md N14). What is written is in a file; what the file
// is called is in its folder, and is there only when that was synchronised too, and the folders above that are new.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LargeFile } from './large-file.js';

/** Replaces a file so that after a power cut it is the old one or the new one; a failure leaves the old one alone. */
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

/** The error that led here is the one to tell. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next one writes over it.
  }
}

/** Makes a folder, and those above it that are missing. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const above = resolve(first).length;
  for (let made = resolve(path); made.length >= above; made = dirname(made))
    syncPath(dirname(made));
}

/** What was written under a path is there after a power cut; of a folder what it names. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
