// What one node of a cluster gives another that has no data, or too old ones: a backup with the snapshots of
// the vector indexes beside it, and how it takes the place of what was there.
//
// Invariant: the data change hands in one step that a crash does not halve: what a start finds is the old data, the
// copy, or a mark that says that there is neither, upon which a copy is fetched again.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';
import { join } from 'node:path';
import { markFinished, markUnfinished } from '../../storage/folder/unfinished.js';
import { probeData, failIfDamaged } from '../../storage/folder/preopen-check.js';
import { makeFolder, syncPath } from '../../fs/durable-file.js';
import { removeLargeFolder } from '../../fs/large-file.js';

export interface CopiedFile {
  /** Relative, with `/`. */
  path: string;
  bytes: number;
}

/** What a copy consists of. */
const dataFiles = ['MANIFEST.json', 'graph/data.mdb'];
const snapshotForm = /^vec\/[^/]+\.snap$/;

/** Whether a path may be one of a copy: nothing else is asked for, or written. */
export const isCopiedPath = (path: string): boolean =>
  dataFiles.includes(path) || (snapshotForm.test(path) && !path.includes('..'));

/** Makes a copy for another node in the new folder `to`. */
export async function makeNodeCopy(
  backUp: (to: string) => Promise<unknown>,
  dataDir: string,
  to: string,
): Promise<CopiedFile[]> {
  // Snapshots first: what they hold is then in the data. Those that are replaced meanwhile stay, by the link.
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

/** False: it has just been replaced by a newer one, and its index is built without it. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  for (const make of [link, copyFile]) {
    try {
      await make(from, to);
      return true;
    } catch {}
  }
  return false;
}

/** Where a copy lies while it is fetched into a data directory. */
export const copyPlaceIn = (dataDir: string): string => join(dataDir, 'joining');

/** Whether a start finds neither data nor a restore that somebody else has begun. */
export function needsNodeCopy(dataDir: string): boolean {
  const isHalf = existsSync(join(dataDir, 'RESTORING')) && existsSync(copyPlaceIn(dataDir));
  return (
    isHalf ||
    !['MANIFEST.json', 'RESTORING', 'graph'].some((name) => existsSync(join(dataDir, name)))
  );
}

/**
 * Puts the copy that was fetched into the place of the data, which nobody has open. `keepAs`: a folder for
 * the data of before; they are removed when it is undefined. Fails DATA_CORRUPT.
 */
export async function installNodeCopy(dataDir: string, keepAs: string | undefined): Promise<void> {
  const copy = copyPlaceIn(dataDir);
  failIfDamaged(await probeData(join(copy, 'graph')));
  markUnfinished(dataDir);
  if (keepAs !== undefined) makeFolder(keepAs);
  for (const name of ['graph', 'vec', 'MANIFEST.json']) {
    const place = join(dataDir, name);
    if (keepAs !== undefined && existsSync(place)) renameSync(place, freeName(join(keepAs, name)));
    rmSync(place, { recursive: true, force: true });
  }
  for (const name of ['graph', 'vec', 'MANIFEST.json']) {
    if (!existsSync(join(copy, name))) continue;
    // The names in it: the files themselves were synchronised when they came.
    syncPath(join(copy, name));
    renameSync(join(copy, name), join(dataDir, name));
  }
  if (keepAs !== undefined) syncPath(keepAs);
  syncPath(dataDir);
  markFinished(dataDir);
  rmSync(copy, { recursive: true, force: true });
}

/** A name that nothing has: evidence is never overwritten. */
function freeName(path: string): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? path : `${path}.${n}`;
    if (!existsSync(name)) return name;
  }
}
