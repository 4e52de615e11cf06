// Watches the sources of a project and reports a change when it has settled. Editors save in several ways:
// they write in place, empty the file first, or rename another file over it. They may also save several files
// together. A change therefore counts when nothing has moved for a short time. A source that vanished or
// became empty gets longer to return. Some file systems notify late or never, so the files are also polled
// every 2 seconds.
import { type FSWatcher, type Stats, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { toErrorData } from '../../engine/internal.js';

/**
 * Milliseconds without changes after which a save counts as complete. Editors write all of it within a few
 * milliseconds.
 */
const settleMs = 20;
/** Milliseconds that a missing or empty source gets, as between the steps of a save. */
const returnMs = 200;
const pollIntervalMs = 2_000;
const depthMax = 32;

export interface ProjectWatch {
  close(): void;
}

/** Size of one source, and a text of its size, time and inode. */
type Mark = { size: number; text: string };

/** Result of one scan: the sources by path, and the folders that may hold more. */
interface Listing {
  sources: Map<string, Mark>;
  folders: Set<string>;
}

/**
 * Calls `onChange` when a source has changed in the first folder itself or anywhere below the other folders.
 * `ending` is the file name suffix of sources.
 */
export function watchSources(
  folders: readonly string[],
  onChange: () => void,
  ending = '.hx',
): ProjectWatch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let seen = list(folders, ending) ?? { sources: new Map(), folders: new Set() };
  const watchAll = (wanted: ReadonlySet<string>): void => {
    for (const [folder, watcher] of watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of wanted) {
      const watcher = watchers.has(folder) ? undefined : watchFolder(folder, ending, touch);
      if (watcher) watchers.set(folder, watcher);
    }
  };
  const settle = (mayWait: boolean): void => {
    const now = list(folders, ending) ?? seen;
    watchAll(now.folders);
    if (isSame(seen, now)) return;
    if (mayWait && isUnfinished(seen, now)) {
      timer = setTimeout(settle, returnMs, false);
      return;
    }
    seen = now;
    onChange();
  };
  function touch(): void {
    clearTimeout(timer);
    timer = setTimeout(settle, settleMs, true);
  }
  watchAll(seen.folders);
  const interval = setInterval(() => {
    if (!isSame(seen, list(folders, ending) ?? seen)) touch();
  }, pollIntervalMs);
  interval.unref();
  return {
    close: () => {
      clearTimeout(timer);
      clearInterval(interval);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/**
 * Watches one folder and ignores other files. A name without a dot may be a folder. Returns undefined if the
 * folder cannot be watched.
 */
function watchFolder(folder: string, ending: string, touch: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_, name) => {
      if (name === null || name.endsWith(ending) || !name.includes('.')) touch();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

function isSame(a: Listing, b: Listing): boolean {
  if (a.sources.size !== b.sources.size) return false;
  return [...a.sources].every(([path, mark]) => b.sources.get(path)?.text === mark.text);
}

/** Returns true if a source that had content is missing or empty now: a save may be in progress. */
function isUnfinished(before: Listing, now: Listing): boolean {
  return [...before.sources].some(
    ([path, { size }]) => size > 0 && (now.sources.get(path)?.size ?? 0) === 0,
  );
}

/**
 * Scans the folders. Returns undefined if the system lacks the resources, because sources then only seem to
 * be missing.
 */
function list([project, ...deep]: readonly string[], ending: string): Listing | undefined {
  const found: Listing = { sources: new Map(), folders: new Set() };
  try {
    if (project !== undefined) visit(project, 0, ending, found);
    for (const folder of deep) visit(folder, depthMax, ending, found);
    return found;
  } catch {
    return undefined;
  }
}

function visit(folder: string, depth: number, ending: string, found: Listing): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (toErrorData(error).error.code === 'RESOURCE_EXHAUSTED') throw error;
    return;
  }
  found.folders.add(folder);
  for (const name of names) {
    const path = join(folder, name);
    const status = statusOf(path);
    if (status === undefined) continue;
    const { size, mtimeMs, ino } = status;
    if (name.endsWith(ending)) found.sources.set(path, { size, text: `${size} ${mtimeMs} ${ino}` });
    else if (depth > 0 && status.isDirectory()) visit(path, depth - 1, ending, found);
  }
}

/** Returns undefined if the file vanished after the folder was listed. The next scan finds that. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
