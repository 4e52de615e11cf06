// Writes and removes large files while other threads wait for the disk. A sync also waits for data
// that was written to other files shortly before, and for work that the file system has begun.
// Measured on ext4: a commit of five pages waits 0.5 s after 300 MB that are synced at their end,
// and 0.2 s after their removal.
// Invariant: at most `unsyncedMax` bytes of a large file are unsynced at any time.
import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Bytes that a concurrent commit may have to wait for. Without concurrent commits the fewest system
 * calls are the fastest.
 */
export const unsyncedMax = { besideOthers: 2 * 2 ** 20, alone: Number.POSITIVE_INFINITY } as const;
const removedBatchBytes = 8 * 2 ** 20;

export class LargeFile {
  readonly #file: number;
  #unsynced = 0;

  /** `wx` fails with EEXIST if the file exists. */
  constructor(
    path: string,
    flags: 'w' | 'wx',
    private readonly unsyncedBytesMax: number = unsyncedMax.besideOthers,
  ) {
    this.#file = openSync(path, flags, 0o600);
  }

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, position + done);
    }
    this.#unsynced += bytes.length;
    if (this.#unsynced < this.unsyncedBytesMax) return;
    this.#unsynced = 0;
    fdatasyncSync(this.#file);
  }

  /** Makes the content durable. The name of the file is not: see durable-file.ts. */
  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Suffix of the name of a file that is being removed. */
export const removedSuffix = '.gone';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Removes a file; does nothing if it is missing. The file has lost its name when this function
 * returns the promise. Readers that have it open may see a truncated file. After a crash the file
 * may remain under its name with `.gone` appended, from which this function removes it too.
 */
export async function removeLargeFile(path: string): Promise<void> {
  const unnamed = path.endsWith(removedSuffix) ? path : `${path}${removedSuffix}`;
  try {
    if (unnamed !== path) renameSync(path, unnamed);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await emptyFile(unnamed);
  await rm(unnamed);
}

/**
 * Removes a folder with its content; does nothing if it is missing. After a crash a part of the
 * content may remain.
 */
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

/** Truncates a file in steps before its removal. A file with another hard link is unchanged. */
async function emptyFile(path: string): Promise<void> {
  const file: FileHandle = await open(path, 'r+');
  try {
    const { size, nlink } = await file.stat();
    if (nlink > 1) return;
    for (let rest = size - removedBatchBytes; rest > 0; rest -= removedBatchBytes)
      await file.truncate(rest);
  } finally {
    await file.close();
  }
}
