// Writes files for the user: a new file, or a new version of an existing one.
//
// Invariant: after a power cut or an error the file is complete or absent, and the old version is intact. A
// new file overwrites nothing.
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskTrouble, LargeFile, syncPath } from '../../../engine/internal.js';
import { shownPath } from '../../terminal/format.js';

export type WriteBlock = (block: Uint8Array) => void;

function writeBlock(file: LargeFile, block: Uint8Array, at: number, path: string): void {
  try {
    file.write(block, at);
  } catch (error) {
    throw diskTrouble(error, { path, name: shownPath(path), bytes: block.length });
  }
}

/** Returns the result of `fill` once everything it wrote is on disk. Fails with EEXIST if the file exists. */
export async function writeNewFile<T>(
  path: string,
  fill: (write: WriteBlock) => T | Promise<T>,
): Promise<T> {
  const file = new LargeFile(path, 'wx');
  let length = 0;
  let isComplete = false;
  try {
    const result = await fill((block) => {
      writeBlock(file, block, length, path);
      length += block.length;
    });
    file.sync();
    syncPath(dirname(path));
    isComplete = true;
    return result;
  } finally {
    file.close();
    if (!isComplete) rmSync(path);
  }
}

/**
 * Replaces the text of a file and keeps its permissions. If the disk is full, the old text stays. A link
 * keeps pointing to the file.
 */
export function replaceUserFile(path: string, text: string): void {
  const target = realpathSync(path);
  const draft = `${target}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: statSync(target).mode });
    renameSync(draft, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(draft, { force: true });
    throw error;
  }
}
