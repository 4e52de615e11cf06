// The data directory (operations.md 3, 4): checked, locked and described by MANIFEST.json before
// anything opens it.
//
// The manifest is replaced atomically. `lmdb` is null until the environment exists, so that a start
// cut short in between is told from data that went missing. Invariant: whoever holds a
// DataDirectory is the only process that may open its data.
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
import { makeFolder, replaceFile, syncPath } from '../../fs/durable-file.js';
import { openEnv } from '../table/env.js';
import { shortageOf } from '../../base/os/shortage.js';
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
  /** Whether the last server stopped in order. */
  readonly wasClean: boolean;
  /** What a thread that writes looks for before it commits (write-fence.ts). */
  readonly lock: LockToken;
  /**
   * Checksums of the pages of data.mdb, when nothing was written since they were noted; the first caller
   * has them, others get none: of a large file they take memory.
   */
  takeSums(): PageSums | undefined;
  /** Notes the port in the LOCK file. */
  setPort(port: number): void;
  /** Calls back, once, when another process has taken the directory from this one. */
  onLost(listener: () => void): void;
  /**
   * Gives the lock back; `clean` when the data was closed in order. `tell` hears why that could not be noted, where the
   * disk is full: the data are whole, and the next start reads them once more than it would.
   */
  close(options: { clean: boolean; tell?: (message: string, reason: string) => void }): void;
}

interface Manifest {
  format: { major: number; minor: number };
  created_by: string;
  db_uuid: string;
  restore_epoch: string;
  lmdb: { version: string; page_size: number; data_format: number } | null;
  clean: boolean;
  /** Size of data.mdb at the last clean stop. */
  data_bytes?: number;
  /** The checksums of its pages (page-checksums.ts) at that stop; they hold until something is written. */
  data_sums?: SumsNote;
}

/**
 * Older minor formats are read, newer ones and other major ones are not: whoever made them knew what was to
 * be kept to. 2: checksums cover the key of a value, and
 * the name of its table. 2.1: what is this node's alone stands apart from what all nodes of a cluster
 * share (meta.ts); older files are brought to it when they are opened to be written.
 */
export const storageFormat = { major: 2, minor: 1 };

/** Time that a stop takes at most for the checksums of pages: enough for some 6 GiB in memory. */
const sumsMs = 2000;

/** What LOCK and the manifest take of a disk. */
const noteBytes = 64 * 1024;

/** File systems over a network: locks and memory maps do not hold there (statfs types of Linux). */
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
   * A new directory that nobody else opens before it was closed in order: the first thing in it is a
   * mark that says so (unfinished.ts). Closed otherwise it holds
   * nothing else.
   */
  unfinished?: boolean;
}

/**
 * Checks and locks a data directory, creating it when absent. Fails DATA_DIR_BAD, DATA_LOCKED,
 * DATA_CORRUPT, FORMAT_TOO_NEW.
 */
export function openDataDirectory(path: string, options: OpenOptions = {}): DataDirectory {
  return toldAsDisk(path, () => openLocked(path, options));
}

/** A disk that fails here is told as what it is. */
function toldAsDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asDiskError(error, { path, name: 'the data directory', bytes: noteBytes });
  }
}

const unnoted = 'the stop could not be noted: the next start reads the data once more';

/** Does what a full disk may keep from being done, where `isSpared`; gives that the disk is full. */
function ifRoom(path: string, isSpared: boolean, work: () => void): TrellisError | undefined {
  try {
    toldAsDisk(path, work);
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
      const least = manifest.clean ? manifest.data_bytes : undefined;
      checkDataFile(dataFile, { least, dbUuid: manifest.db_uuid });
    }
    const wasClean = manifest.clean && !isWrittenSince(dataFile, manifest.data_sums);
    if (manifest.format.minor < storageFormat.minor && !options.readOnly) upgrade(path, manifest);
    let sums = readSums(dataFile, manifest.data_sums);
    const mark = (clean: boolean): void => {
      if (options.readOnly) return;
      const { data_bytes: _, ...rest } = manifest;
      writeManifest(path, { ...rest, clean, ...(clean && factsOf(dataFile)) });
    };
    // On a full disk the manifest stays as it is: what the data file holds tells of what is written from now on.
    const isTold = !manifest.clean || manifest.data_sums !== undefined;
    ifRoom(path, isTold, () => mark(false));
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
      setPort: (port) => toldAsDisk(path, () => lock.setPort(port)),
      onLost: (listener) => lock.onLost(listener),
      close({ clean, tell }) {
        toldAsDisk(path, () => {
          try {
            const isOurs = clean && isHeld(lock.token);
            const trouble = isOurs ? ifRoom(path, true, () => markClean(mark)) : undefined;
            if (trouble) tell?.(unnoted, trouble.message);
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

/** Without the mark, nothing is lost: the next start looks at the data as it does after a crash. */
function markClean(mark: (clean: boolean) => void): void {
  try {
    mark(true);
  } catch (error) {
    if (shortageOf(error) === undefined) throw error;
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
 * Makes the environment. Whatever an interrupted start left of it was never promised to anybody.
 */
function createData(path: string, manifest: Manifest, options: { readOnly?: boolean }): void {
  if (options.readOnly) refuseEmpty(path);
  const graph = join(path, 'graph');
  rmSync(graph, { recursive: true, force: true });
  // The manifest promises a file in it: first the folder has its name.
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

/** The data first: what is cut short in between is done again. */
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
 * Writes the manifest of a copy of the data directory `from` into `to`, whose data file is there
 * already. A restored copy begins an epoch of its own.
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
 * What the next start compares the data file with. The file is synchronised first: LMDB has synchronised its pages, but
 * not the room that lies ready behind them (disk-space.ts), and the size counts both.
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
