// Makes and restores backups. A backup is a folder with the layout of a data directory, without keys and
// vector snapshots, plus BACKUP.json with a checksum per file. A restored database builds its vector indexes
// at the first start.
//
// Invariant: a backup gets its name only after it was read back completely. An unfinished restore leaves the
// mark RESTORING; no server starts on such a directory, and the next restore begins again.
import {
  createReadStream,
  existsSync,
  readFileSync,
  copyFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { fail } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import { copyGraph } from '../../storage/folder/copy-data.js';
import { asDiskError, requireSpace } from '../../storage/lock/disk-error.js';
import type { Env } from '../../storage/table/env.js';
import { makeFolder, replaceFile, syncPath } from '../../fs/durable-file.js';
import { removeLargeFolder } from '../../fs/large-file.js';
import { copyManifest } from '../../storage/folder/manifest.js';
import {
  clearUnfinished,
  giveUpUnfinished,
  markFinished,
  markUnfinished,
  mayBeFilled,
} from '../../storage/folder/unfinished.js';
import { takeLock } from '../../storage/lock/lock.js';
import { probeData } from '../../storage/folder/preopen-check.js';

interface BackupNote {
  files: { path: string; bytes: number; crc32: string }[];
}

const noteName = 'BACKUP.json';
const dataFile = join('graph', 'data.mdb');
/** Files of a backup, besides its note. */
const copied = ['MANIFEST.json', dataFile] as const;

export interface Backup {
  bytes: number;
}

/**
 * Copies the newest commit to the new folder `to`, with `make`. A thread that must stay responsive passes a
 * `make` that uses another thread. Fails DATA_DIR_BAD, INSUFFICIENT_STORAGE, DATA_CORRUPT.
 */
export async function backUp(
  env: Pick<Env, 'keep'>,
  dataDir: string,
  to: string,
  make: (dataDir: string, to: string) => Promise<Backup> = makeBackup,
): Promise<Backup> {
  const release = env.keep();
  try {
    return await make(dataDir, to);
  } finally {
    release();
  }
}

/** Makes the backup while the caller keeps a snapshot of the data. Takes time in proportion to the data. */
export async function makeBackup(dataDir: string, to: string): Promise<Backup> {
  if (existsSync(to)) fail('DATA_DIR_BAD', { what: `${to} exists already` });
  const unfinished = `${to}.tmp`;
  const { size: bytes } = statSync(join(dataDir, dataFile));
  const target = { path: to, name: 'the folder of backups', bytes };
  requireSpace(target);
  try {
    await removeLargeFolder(unfinished);
    makeFolder(unfinished);
    return await copyInto(unfinished, dataDir, to);
  } catch (error) {
    await discard(unfinished);
    throw asDiskError(error, target);
  }
}

/** If the disk refuses even the deletion, the leftover does not have the name of a backup. */
async function discard(unfinished: string): Promise<void> {
  try {
    await removeLargeFolder(unfinished);
  } catch {
    // Report the earlier error, not this one.
  }
}

async function copyInto(unfinished: string, dataDir: string, to: string): Promise<Backup> {
  await copyGraph(join(dataDir, 'graph'), join(unfinished, 'graph'));
  copyManifest(dataDir, unfinished, { newEpoch: false });
  const files = await Promise.all(
    copied.map(async (path) => ({
      path,
      bytes: statSync(join(unfinished, path)).size,
      crc32: await checksumOf(join(unfinished, path)),
    })),
  );
  replaceFile(join(unfinished, noteName), `${JSON.stringify({ files } satisfies BackupNote)}\n`);
  renameSync(unfinished, to);
  syncPath(dirname(to));
  return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * Creates a data directory from a backup. Without `newEpoch`, it continues as a node of the cluster of the
 * backup. Fails DATA_DIR_BAD, DATA_CORRUPT.
 */
export async function restore(
  from: string,
  dataDir: string,
  { newEpoch = true } = {},
): Promise<void> {
  const { bytes } = await checkBackup(from);
  if (!mayBeFilled(dataDir)) fail('DATA_DIR_BAD', { what: `${dataDir} is not empty` });
  const target = { path: dataDir, name: 'the data directory', bytes };
  requireSpace(target);
  try {
    markUnfinished(dataDir);
    const lock = takeLock(dataDir);
    try {
      fillFrom(from, dataDir, newEpoch);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw asDiskError(error, target);
  }
}

/** Requires that the directory is marked and this process holds its lock. */
function fillFrom(from: string, dataDir: string, newEpoch: boolean): void {
  try {
    clearUnfinished(dataDir);
    makeFolder(join(dataDir, 'graph'));
    const unfinished = join(dataDir, `${dataFile}.tmp`);
    copyFileSync(join(from, dataFile), unfinished);
    syncPath(unfinished);
    failpoint('midRestoreRename');
    renameSync(unfinished, join(dataDir, dataFile));
    syncPath(join(dataDir, 'graph'));
    copyManifest(from, dataDir, { newEpoch });
    markFinished(dataDir);
  } catch (error) {
    giveUpUnfinished(dataDir);
    throw error;
  }
}

/** Reads a whole backup and checks it. */
async function checkBackup(from: string): Promise<Backup> {
  const noted = join(from, noteName);
  if (!existsSync(noted)) fail('DATA_DIR_BAD', { what: `${from} is no backup` });
  const files = filesIn(readFileSync(noted));
  if (files === undefined) fail('DATA_CORRUPT', { what: `${noteName} of the backup` });
  for (const { path, bytes, crc32: stored } of files) {
    const full = join(from, path);
    const size = statSync(full, { throwIfNoEntry: false })?.size;
    if (size !== bytes || (await checksumOf(full)) !== stored) {
      fail('DATA_CORRUPT', { what: `${path} of the backup` });
    }
  }
  const { rows, broken } = await probeData(join(from, 'graph'));
  const [error] = [...broken, ...rows];
  if (error !== undefined) fail('DATA_CORRUPT', { what: `the backup: ${error}` });
  return { bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

/** Returns the files of a backup as listed in its note, or undefined when the note is damaged. */
function filesIn(note: Uint8Array): BackupNote['files'] | undefined {
  let content: Partial<BackupNote> | null;
  try {
    content = JSON.parse(Buffer.from(note).toString()) as typeof content;
  } catch {
    return undefined;
  }
  const listed: unknown = content?.files;
  const files = Array.isArray(listed) ? (listed as (BackupNote['files'][number] | null)[]) : [];
  const own = copied.map((path) => files.find((file) => file?.path === path));
  return own.some((file) => file === undefined) ? undefined : (own as BackupNote['files']);
}

async function checksumOf(path: string): Promise<string> {
  let sum = 0;
  for await (const block of createReadStream(path, { highWaterMark: 1 << 20 })) {
    sum = crc32(block as Uint8Array, sum);
  }
  return sum.toString(16).padStart(8, '0');
}
