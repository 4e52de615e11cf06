// Opens a data directory (operations.md 3, 4): checks it, locks it and describes it in MANIFEST.json before
// anything in it is opened.
//
// The manifest is replaced atomically. `lmdb` is null until the environment exists, which distinguishes an
// interrupted first start from missing data.
// Invariant: the process that holds a DataDirectory is the only one that may open its data.
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { TrellisError, fail, throwShortage } from '../../base/errors.js';
import { asDiskError, isFullDisk } from '../lock/disk-error.js';
import { checkDataFile, dataFormat } from './data-file.js';
import { makeFolder, NotFolderError, replaceFile, syncPath } from '../../fs/durable-file.js';
import { openEnv } from '../table/env.js';
import { findShortage } from '../../base/os/shortage.js';
import {
  clearUnfinished,
  giveUpUnfinished,
  isUnfinished,
  markFinished,
  markUnfinished,
} from './unfinished.js';
import { type LockToken, isHeld } from '../lock/lock-file.js';
import { takeLock } from '../lock/lock.js';
import { metaKey } from '../table/meta.js';
import { splitState } from '../table/vector-log-trim.js';
import {
  type PageSums,
  type SumsNote,
  isWrittenSince,
  readSums,
  writeSums,
} from '../page/page-checksums.js';

export interface DataDirectory {
  readonly dbUuid: string;
  /** Changes with every restore from a backup. */
  readonly restoreEpoch: string;
  /** Whether the last server stopped cleanly. */
  readonly wasClean: boolean;
  /** A writing thread checks it before every commit (write-fence.ts). */
  readonly lock: LockToken;
  /**
   * Returns the checksums of the pages of data.mdb if nothing was written since they were noted, else
   * undefined. Only the first call returns them, because they take much memory for a large file.
   */
  takeSums(): PageSums | undefined;
  /** Writes the port into the LOCK file. */
  setPort(port: number): void;
  /** Calls back once, when another process has taken the directory. */
  onLost(listener: () => void): void;
  /**
   * Releases the lock. `clean`: the data were closed cleanly. On a full disk that cannot be noted, and `log`
   * is called with the reason: the data are complete, and the next start verifies them once more.
   */
  close(options: { clean: boolean; log?: (message: string, reason: string) => void }): void;
}

interface Manifest {
  format: { major: number; minor: number };
  created_by: string;
  db_uuid: string;
  restore_epoch: string;
  lmdb: { version: string; page_size: number; data_format: number } | null;
  clean: boolean;
  /** Size of data.mdb at the last clean stop, in bytes. */
  data_bytes?: number;
  /** Page checksums (page-checksums.ts) of that stop. They are valid until the next write. */
  data_sums?: SumsNote;
}

/**
 * Older minor formats are read; newer minor and other major formats are refused. Format 2: checksums cover
 * the key of a value and the name of its table. Format 2.1: the state of this node is separate from the state
 * that all nodes of a cluster share (meta.ts). Format 2.2: properties of the type `Json`. Older files are
 * upgraded when they are opened for writing.
 */
export const storageFormat = { major: 2, minor: 2 };

/** Longest time, in milliseconds, that a stop spends on page checksums: enough for about 6 GiB in memory. */
const sumsMs = 2000;

/** Disk space for LOCK and the manifest, in bytes. */
const noteBytes = 64 * 1024;

/** Network file systems, on which locks and memory maps do not work (statfs types of Linux). */
const remoteTypes = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
]);

export interface OpenOptions {
  readOnly?: boolean;
  /**
   * A new directory that counts as unfinished until it is closed cleanly. A marker file is written first
   * (unfinished.ts). If it is closed otherwise, only the marker stays.
   */
  unfinished?: boolean;
}

/**
 * Checks and locks a data directory, and creates it if it is missing. Fails DATA_DIR_BAD, DATA_LOCKED,
 * DATA_CORRUPT, FORMAT_TOO_NEW.
 */
export function openDataDirectory(path: string, options: OpenOptions = {}): DataDirectory {
  return withDiskErrors(path, () => openLocked(path, options));
}

/** Converts errors of the disk into errors of the catalogue. */
function withDiskErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asDiskError(error, { path, name: 'the data directory', bytes: noteBytes });
  }
}

const unnoted = 'the stop could not be noted: the next start reads the data once more';

/** Runs `work`. Returns the error if the disk is full and `isSpared` says that the work may be skipped. */
function unlessDiskFull(
  path: string,
  isSpared: boolean,
  work: () => void,
): TrellisError | undefined {
  try {
    withDiskErrors(path, work);
  } catch (error) {
    const isFull = error instanceof TrellisError && error.code === 'INSUFFICIENT_STORAGE';
    if (isFull && isSpared) return error;
    throw error;
  }
}

function openLocked(path: string, options: OpenOptions): DataDirectory {
  prepareFolder(path, options);
  const dataFile = join(path, 'graph', 'data.mdb');
  const lock = takeLock(path);
  try {
    if (options.unfinished) clearUnfinished(path);
    const manifest = readManifest(path) ?? freshManifest(path, options);
    if (manifest.lmdb === null) createData(path, manifest, options);
    else {
      const minBytes = manifest.clean ? manifest.data_bytes : undefined;
      checkDataFile(dataFile, { minBytes, dbUuid: manifest.db_uuid });
    }
    const wasClean = manifest.clean && !isWrittenSince(dataFile, manifest.data_sums);
    if (manifest.format.minor < storageFormat.minor && !options.readOnly) upgrade(path, manifest);
    let sums = readSums(dataFile, manifest.data_sums);
    const mark = (clean: boolean): void => {
      if (options.readOnly) return;
      const { data_bytes: _, ...rest } = manifest;
      writeManifest(path, { ...rest, clean, ...(clean && factsOf(dataFile)) });
    };
    // On a full disk the manifest may stay as it is: the transaction number of the data file shows later
    // writes.
    const isDetectable = !manifest.clean || manifest.data_sums !== undefined;
    unlessDiskFull(path, isDetectable, () => mark(false));
    return {
      dbUuid: manifest.db_uuid,
      restoreEpoch: manifest.restore_epoch,
      wasClean,
      lock: lock.token,
      takeSums() {
        const taken = sums;
        sums = undefined;
        return taken;
      },
      setPort: (port) => withDiskErrors(path, () => lock.setPort(port)),
      onLost: (listener) => lock.onLost(listener),
      close({ clean, log }) {
        withDiskErrors(path, () => {
          try {
            const isOurs = clean && isHeld(lock.token);
            const trouble = isOurs ? unlessDiskFull(path, true, () => markClean(mark)) : undefined;
            if (trouble) log?.(unnoted, trouble.message);
            if (options.unfinished) (clean ? markFinished : giveUpUnfinished)(path);
          } finally {
            lock.release();
          }
        });
      },
    };
  } catch (error) {
    if (options.unfinished) giveUpUnfinished(path);
    lock.release();
    throw error;
  }
}

/** Skips the mark if the system lacks resources: the next start then checks the data as after a crash. */
function markClean(mark: (clean: boolean) => void): void {
  try {
    mark(true);
  } catch (error) {
    if (findShortage(error) === undefined) throw error;
  }
}

function prepareFolder(path: string, { unfinished = false }: OpenOptions): void {
  try {
    if (unfinished) markUnfinished(path);
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throwShortage(error);
    if (isFullDisk(error)) throw error;
    if (error instanceof NotFolderError) {
      fail('DATA_DIR_BAD', { what: `${error.path} is a file, not a folder` });
    }
    fail('DATA_DIR_BAD', { what: `${path}: ${(error as Error).message}` });
  }
  const remote = remoteTypes.get(statfsSync(path).type);
  if (remote !== undefined)
    fail('DATA_DIR_BAD', { what: `${path} is on ${remote}, not a local disk` });
  if (!unfinished && isUnfinished(path))
    fail('DATA_DIR_BAD', { what: 'a restore did not finish' }, { hint: restoreHint });
}

const restoreHint = 'Restore or load into it again, which begins anew, or remove it.';

function refuseEmpty(path: string): never {
  return fail('DATA_DIR_BAD', { what: `${path} holds no data, and nothing may be written` });
}

function freshManifest(path: string, { readOnly }: { readOnly?: boolean }): Manifest {
  const holdsData = existsSync(join(path, 'graph')) || existsSync(join(path, 'vec'));
  if (holdsData) fail('DATA_DIR_BAD', { what: 'there is data but no MANIFEST.json' });
  if (readOnly) refuseEmpty(path);
  const manifest: Manifest = {
    format: storageFormat,
    created_by: 'trellisdb',
    db_uuid: randomUUID(),
    restore_epoch: randomUUID(),
    lmdb: null,
    clean: true,
  };
  writeManifest(path, manifest);
  return manifest;
}

/**
 * Creates the environment. Remains of an interrupted start are deleted: no client was promised anything in
 * them.
 */
function createData(path: string, manifest: Manifest, options: { readOnly?: boolean }): void {
  if (options.readOnly) refuseEmpty(path);
  const graph = join(path, 'graph');
  rmSync(graph, { recursive: true, force: true });
  // The manifest will name a file in this folder, so the folder must exist on disk first.
  makeFolder(graph);
  const env = openEnv(graph);
  env.transact(() => {
    env.meta.put(metaKey.databaseUuid, Buffer.from(manifest.db_uuid));
    return true;
  });
  env.close();
  syncPath(graph);
  manifest.lmdb = dataFormat;
  writeManifest(path, manifest);
}

/** Upgrades the data before the manifest: an interrupted upgrade runs again. */
function upgrade(path: string, manifest: Manifest): void {
  const env = openEnv(join(path, 'graph'));
  env.transact(() => {
    splitState(env.meta);
    return true;
  });
  env.close();
  manifest.format = storageFormat;
  writeManifest(path, manifest);
}

/**
 * Writes the manifest of a copy of the data directory `from` into `to`, which already contains the data file.
 * A restored copy gets a new epoch.
 */
export function copyManifest(from: string, to: string, options: { newEpoch: boolean }): void {
  const manifest = readManifest(from);
  if (manifest === undefined) fail('DATA_DIR_BAD', { what: `${from} holds no data` });
  writeManifest(to, {
    ...manifest,
    ...(options.newEpoch && { restore_epoch: randomUUID() }),
    clean: true,
    ...factsOf(join(to, 'graph', 'data.mdb')),
  });
}

/**
 * Returns what the next start compares the data file with. The file is synced first: LMDB has synced its
 * pages, but not the preallocated space after them (disk-space.ts), and the size includes both.
 */
function factsOf(dataFile: string): { data_bytes: number; data_sums: SumsNote } {
  syncPath(dataFile);
  return { data_bytes: statSync(dataFile).size, data_sums: writeSums(dataFile, sumsMs) };
}

const checksumOf = (manifest: Manifest): string =>
  crc32(JSON.stringify(manifest)).toString(16).padStart(8, '0');

function readManifest(path: string): Manifest | undefined {
  const file = join(path, 'MANIFEST.json');
  if (!existsSync(file)) return undefined;
  try {
    const { crc32: stored, ...manifest } = JSON.parse(readFileSync(file, 'utf8')) as Manifest & {
      crc32: string;
    };
    const { major, minor } = manifest.format;
    if (
      major > storageFormat.major ||
      (major === storageFormat.major && minor > storageFormat.minor)
    ) {
      const known = `${storageFormat.major}.${storageFormat.minor}`;
      fail('FORMAT_TOO_NEW', { found: `${major}.${minor}`, known });
    }
    if (stored === checksumOf(manifest)) {
      if (major < storageFormat.major) refuseOlder(`${major}.${minor}`);
      return manifest;
    }
  } catch (error) {
    if (error instanceof TrellisError) throw error;
  }
  fail('DATA_DIR_BAD', { what: 'MANIFEST.json is damaged' });
}

function refuseOlder(found: string): never {
  const known = `${storageFormat.major}.${storageFormat.minor}`;
  fail(
    'DATA_DIR_BAD',
    { what: `the data has format ${found}, this version reads ${known}` },
    {
      hint:
        'Write them to a file with `trellis dump` of the version that made them, and read that ' +
        'file into an empty directory with `trellis load` of this one.',
    },
  );
}

function writeManifest(path: string, manifest: Manifest): void {
  const content = JSON.stringify({ ...manifest, crc32: checksumOf(manifest) }, null, 2);
  replaceFile(join(path, 'MANIFEST.json'), `${content}\n`);
}
