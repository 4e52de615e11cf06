// Keeps the reserve file `ballast` of a data directory. When the disk is full, an operator deletes it to free
// space immediately, and deletes use its space automatically (storage/lock/disk-space.ts). It is written some
// seconds after the start, while the database serves, and only if it leaves enough free space.
// Invariant: the file is never longer than the space that it occupies on the disk.
import { statSync } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { reserveName } from '../../storage/lock/disk-space.js';

/** A short-lived process does not write it. */
const delayMs = 10_000;
const blockBytes = 1024 * 1024;

/** Creates the file when it is missing. The returned function stops the creation. */
export function maintainBallast(
  dataDir: string,
  bytes: number,
  minFreeBytes: number,
): { stop(): void } {
  const path = join(dataDir, reserveName);
  let isStopped = false;
  const write = async (): Promise<void> => {
    const space = await statfs(dataDir);
    if (space.bavail * space.bsize < minFreeBytes + 2 * bytes) return;
    const unfinished = `${path}.tmp`;
    const file = await open(unfinished, 'w', 0o600);
    try {
      // Write real bytes, because a sparse file would reserve no space.
      const block = new Uint8Array(blockBytes).fill(0x5a);
      for (let at = 0; at < bytes && !isStopped; at += blockBytes) {
        await file.write(block, 0, Math.min(blockBytes, bytes - at));
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (isStopped) await rm(unfinished, { force: true });
    else await rename(unfinished, path);
  };
  const isNeeded = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes;
  // Without space there is no reserve. The limit for free space still holds.
  const begin = (): void => void write().catch(() => undefined);
  const timer = isNeeded ? setTimeout(begin, delayMs).unref() : undefined;
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
