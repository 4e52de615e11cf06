// Large files that are written and removed while others wait for the disk. Whoever makes a file durable also waits for
// what was written to others just before, and for what the file system has begun: measured on ext4, a commit of five
// pages waits half a second behind 300 MB that are synchronised at their end, and .2 s behind their removal.
// Invariant: little of a large file is under way at a time.
import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that others may have to wait for; without others the fewest calls are the quickest. */
export const unsyncedMax = { besideOthers: 2 * 2 ** 20, alone: Number.POSITIVE_INFINITY } as const;
const removedAtOnce = 8 * 2 ** 20;

export class LargeFile {
  readonly #file: number;
  #unsynced = 0;

  /** `wx`: fails with EEXIST where there is such a file. */
  constructor(
    path: string,
    flags: 'w' | 'wx',
    private readonly most: number = unsyncedMax.besideOthers,
  ) {
    this.#file = openSync(path, flags, 0o600);
  }

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, position + done);
    }
    this.#unsynced += bytes.length;
    if (this.#unsynced < this.most) return;
    this.#unsynced = 0;
    fdatasyncSync(this.#file);
  }

  /** What was written is there after a power cut; its name is another matter (durable-file.ts). */
  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** What a file is called that is being removed ends with this. */
export const goneMark = '.gone';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Removes a file, if it is there. Its name has gone when this returns its promise; whoever reads it until then finds it
 * cut short. A crash leaves it under its name and `.gone`, by which it is removed as well.
 */
export async function removeLargeFile(path: string): Promise<void> {
  const unnamed = path.endsWith(goneMark) ? path : `${path}${goneMark}`;
  try {
    if (unnamed !== path) renameSync(path, unnamed);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await emptyFile(unnamed);
  await rm(unnamed);
}

/** Removes a folder, if it is there, with all that is in it; a crash leaves it with part of that. */
export async function removeLargeFolder(path: string): Promise<void> {
  try {
    const entries = await readdir(path, { withFileTypes: true, recursive: true });
    for (const entry of entries)
      if (entry.isFile()) await emptyFile(join(entry.parentPath, entry.name));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  await rm(path, { recursive: true, force: true });
}

/** What is to be removed becomes small. What has another name stays as it is. */
async function emptyFile(path: string): Promise<void> {
  const file: FileHandle = await open(path, 'r+');
  try {
    const { size, nlink } = await file.stat();
    if (nlink > 1) return;
    for (let rest = size - removedAtOnce; rest > 0; rest -= removedAtOnce)
      await file.truncate(rest);
  } finally {
    await file.close();
  }
}
