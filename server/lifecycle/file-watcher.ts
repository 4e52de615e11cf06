// Watches a project's sources and says when a change of them has settled (operations.md 4, reload).
// Editors save in different ways: in place, by emptying the file first, or by renaming another one
// over it; several files may be saved at once. So a change counts once nothing has moved for a
// moment, and a source that has vanished or become empty gets longer to come back. Notification
// may be missing or late on some file systems, so a look every few seconds stands behind it.
import { type FSWatcher, type Stats, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { toErrorData } from '../../engine/internal.js';

/** A save is one change; editors write all of it within a few milliseconds. */
const quietMs = 20;
/** For a source that is gone or empty, as it is between the steps of a save. */
const returnMs = 200;
const pollIntervalMs = 2_000;
const depthMax = 32;

export interface ProjectWatch {
  close(): void;
}

/** Of one source: size, time and identity. */
type Mark = { size: number; text: string };

/** What is there now: sources by path, and the folders that may hold more. */
interface Look {
  sources: Map<string, Mark>;
  folders: Set<string>;
}

/**
 * Calls `onChange` when a source has changed that lies in the first folder or anywhere below the
 * others. `ending`: of the names of sources.
 */
export function watchSources(
  folders: readonly string[],
  onChange: () => void,
  ending = '.hx',
): ProjectWatch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let seen = look(folders, ending) ?? { sources: new Map(), folders: new Set() };
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
    const now = look(folders, ending) ?? seen;
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
    timer = setTimeout(settle, quietMs, true);
  }
  watchAll(seen.folders);
  const interval = setInterval(() => {
    if (!isSame(seen, look(folders, ending) ?? seen)) touch();
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

/** Other files come and go without a word; a name without a dot may be a folder. */
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

function isSame(a: Look, b: Look): boolean {
  if (a.sources.size !== b.sources.size) return false;
  return [...a.sources].every(([path, mark]) => b.sources.get(path)?.text === mark.text);
}

/** A source with content that is gone or empty now may be in the middle of a save. */
function isUnfinished(before: Look, now: Look): boolean {
  return [...before.sources].some(
    ([path, { size }]) => size > 0 && (now.sources.get(path)?.size ?? 0) === 0,
  );
}

/** Undefined where the system lacks what a look takes: nothing has gone because of that. */
function look([project, ...deep]: readonly string[], ending: string): Look | undefined {
  const found: Look = { sources: new Map(), folders: new Set() };
  try {
    if (project !== undefined) visit(project, 0, ending, found);
    for (const folder of deep) visit(folder, depthMax, ending, found);
    return found;
  } catch {
    return undefined;
  }
}

function visit(folder: string, depth: number, ending: string, found: Look): void {
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

/** Undefined when it went between the list and the look: the next look sees that. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
