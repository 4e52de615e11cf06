// A file that a command makes for whoever asked for it: there whole and by its name after a power cut, or not at all.
// And a file of the user's that is changed. Invariant: what is there only in part is not left behind, and a new file
// writes over nothing.
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskTrouble, LargeFile, syncPath } from '../../../engine/index.js';
import { shownPath } from '../../terminal/format.js';

export type WriteBlock = (block: Uint8Array) => void;

function writeBlock(file: LargeFile, block: Uint8Array, at: number, path: string): void {
  try {
    file.write(block, at);
  } catch (error) {
    throw diskTrouble(error, { path, name: shownPath(path), bytes: block.length });
  }
}

/** What `fill` gives, once everything it wrote is on the disk. Fails with EEXIST where there is such a file. */
export async function writeNewFile<T>(
  path: string,
  fill: (write: WriteBlock) => T | Promise<T>,
): Promise<T> {
  const file = new LargeFile(path, 'wx');
  let length = 0;
  let isWhole = false;
  try {
    const result = await fill((block) => {
      writeBlock(file, block, length, path);
      length += block.length;
    });
    file.sync();
    syncPath(dirname(path));
    isWhole = true;
    return result;
  } finally {
    file.close();
    if (!isWhole) rmSync(path);
  }
}

/**
 * Puts a text in the place of a file of the user's, with its rights: a full disk leaves the old one. A link stays one,
 * to the new file.
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
