// Watches a project's folders and says when they have been quiet for a while after a change
// (operations.md 4, reload). Notification of a folder may be missing or late on some file systems,
// so a look every few seconds stands behind it.
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

export const quietMs = 200;
const lookMs = 2_000;

export interface ProjectWatch {
  close(): void;
}

/** Calls `onChange` 200 ms after the last change of a source in `folders` or below. */
export function watchSources(folders: readonly string[], onChange: () => void): ProjectWatch {
  let timer: NodeJS.Timeout | undefined;
  let seen = fingerprint(folders);
  const touch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      seen = fingerprint(folders);
      onChange();
    }, quietMs);
  };
  const watchers = folders.flatMap((folder) => watchFolder(folder, touch) ?? []);
  const look = setInterval(() => {
    const now = fingerprint(folders);
    if (now === seen) return;
    seen = now;
    touch();
  }, lookMs);
  look.unref();
  return {
    close: () => {
      clearTimeout(timer);
      clearInterval(look);
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watchFolder(folder: string, touch: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_, name) => {
      if (name === null || name.endsWith('.hx')) touch();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Names, sizes and times of all sources, in a folder and its folders. */
function fingerprint(folders: readonly string[]): string {
  const marks: string[] = [];
  const visit = (folder: string, depth: number): void => {
    let names: string[];
    try {
      names = readdirSync(folder);
    } catch {
      return;
    }
    for (const name of names.sort()) {
      const path = join(folder, name);
      try {
        const { size, mtimeMs, ino } = statSync(path);
        if (name.endsWith('.hx')) marks.push(`${path} ${size} ${mtimeMs} ${ino}`);
        else if (depth > 0 && statSync(path).isDirectory()) visit(path, depth - 1);
      } catch {
        // Gone between the list and the look: the next look sees it.
      }
    }
  };
  const [project, ...deep] = folders;
  if (project !== undefined) visit(project, 0);
  for (const folder of deep) visit(folder, 8);
  return marks.join('\n');
}
