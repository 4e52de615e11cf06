// A file that a command makes for whoever asked for it: there whole and by its name after a power cut, or not at all.
// Invariant: what is there only in part is not left behind, and nothing is written over.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPath } from '../../engine/index.js';

export type WriteBlock = (block: Uint8Array) => void;

/** What `fill` gives, once everything it wrote is on the disk. Fails with EEXIST where there is such a file. */
export async function writeNewFile<T>(
  path: string,
  fill: (write: WriteBlock) => T | Promise<T>,
): Promise<T> {
  const file = openSync(path, 'wx', 0o600);
  let isWhole = false;
  try {
    const result = await fill((block) => {
      for (let at = 0; at < block.length; ) at += writeSync(file, block, at);
    });
    fsyncSync(file);
    syncPath(dirname(path));
    isWhole = true;
    return result;
  } finally {
    closeSync(file);
    if (!isWhole) rmSync(path);
  }
}
