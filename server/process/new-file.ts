// A file that a command makes for whoever asked for it: there whole and by its name after a power cut, or not at all.
// Invariant: what is there only in part is not left behind, and nothing is written over.
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { LargeFile, syncPath } from '../../engine/index.js';

export type WriteBlock = (block: Uint8Array) => void;

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
      file.write(block, length);
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
