// Makes the copy that a node of a cluster gives to another node without data, or with too old data: a backup
// plus the snapshots of the vector indexes. Installs such a copy in place of the old data.
//
// Invariant: the data are replaced in one atomic step. After a crash, a start finds the old data, the copy,
// or a mark that neither is complete; then it fetches a copy again.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import { join } from 'node:path';
import { markFinished, markUnfinished } from '../../storage/folder/unfinished.js';
import { probeData, failIfDamaged } from '../../storage/folder/preopen-check.js';
import { makeFolder, syncPath } from '../../fs/durable-file.js';
import { removeLargeFolder } from '../../fs/large-file.js';

export interface CopiedFile {
  /** Relative path, with `/`. */
  path: string;
  bytes: number;
}

/** Data files of a copy. */
const dataFiles = ['MANIFEST.json', 'graph/data.mdb'];
const snapshotForm = /^vec\/[^/]+\.snap$/;

/** Returns true if a path may belong to a copy. No other path is requested or written. */
export const isCopiedPath = (path: string): boolean =>
  dataFiles.includes(path) || (snapshotForm.test(path) && !path.includes('..'));

/** Makes a copy for another node in the new folder `to`. */
export async function makeNodeCopy(
  backUp: (to: string) => Promise<unknown>,
  dataDir: string,
  to: string,
): Promise<CopiedFile[]> {
  // Snapshots first, so that the data include everything in them. Links keep those that are replaced
  // meanwhile.
  const links = `${to}.vec`;
  const names = await linkSnapshots(join(dataDir, 'vec'), links);
  try {
    await backUp(to);
    renameSync(links, join(to, 'vec'));
  } finally {
    await removeLargeFolder(links);
  }
  const paths = [...dataFiles, ...names.map((name) => `vec/${name}`)];
  return paths.map((path) => ({ path, bytes: statSync(join(to, path)).size }));
}

async function linkSnapshots(from: string, to: string): Promise<string[]> {
  await removeLargeFolder(to);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const names = existsSync(from) ? readdirSync(from).filter((name) => name.endsWith('.snap')) : [];
  const linked: string[] = [];
  for (const name of names)
    if (await linkOrCopy(join(from, name), join(to, name))) linked.push(name);
  return linked;
}

/**
 * Returns false when a newer snapshot has just replaced this one. Then its index is built without a snapshot.
 */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  for (const make of [link, copyFile]) {
    try {
      await make(from, to);
      return true;
    } catch {}
  }
  return false;
}

/** Folder for a copy while it is being fetched into a data directory. */
export const copyFolderIn = (dataDir: string): string => join(dataDir, 'joining');

/** Returns true if a directory has neither data nor an unfinished restore. */
export function needsNodeCopy(dataDir: string): boolean {
  const isHalf = existsSync(join(dataDir, 'RESTORING')) && existsSync(copyFolderIn(dataDir));
  return (
    isHalf ||
    !['MANIFEST.json', 'RESTORING', 'graph'].some((name) => existsSync(join(dataDir, name)))
  );
}

/**
 * Installs the fetched copy in place of the data, which no process may have open. `keepAs` is a folder for
 * the old data; if undefined, they are deleted. Fails DATA_CORRUPT.
 */
export async function installNodeCopy(dataDir: string, keepAs: string | undefined): Promise<void> {
  const copy = copyFolderIn(dataDir);
  failIfDamaged(await probeData(join(copy, 'graph')));
  markUnfinished(dataDir);
  if (keepAs !== undefined) makeFolder(keepAs);
  for (const name of ['graph', 'vec', 'MANIFEST.json']) {
    const path = join(dataDir, name);
    if (keepAs !== undefined && existsSync(path)) renameSync(path, freeName(join(keepAs, name)));
    rmSync(path, { recursive: true, force: true });
  }
  for (const name of ['graph', 'vec', 'MANIFEST.json']) {
    if (!existsSync(join(copy, name))) continue;
    // Sync the directory entries. The files themselves were synced when they were received.
    syncPath(join(copy, name));
    renameSync(join(copy, name), join(dataDir, name));
  }
  if (keepAs !== undefined) syncPath(keepAs);
  syncPath(dataDir);
  markFinished(dataDir);
  rmSync(copy, { recursive: true, force: true });
}

/** Returns an unused name, so that earlier evidence is never overwritten. */
function freeName(path: string): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? path : `${path}.${n}`;
    if (!existsSync(name)) return name;
  }
}
