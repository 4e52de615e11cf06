// The folder that this process works in. Every thread of Node asks for its name as it begins, and cannot
// begin where that folder was deleted: it is left then for one that always exists. All paths of ours are
// absolute before that, so that nothing is looked for in another place.
import { execPath } from 'node:process';
import { parse } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** Node keeps the name until somebody changes the folder: so it is changed, to where it is. */
function isThere(): boolean {
  try {
    process.chdir('.');
  } catch {
    // Of another account, perhaps: its name may be known all the same.
  }
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes sure that threads can begin. Only the main thread of a process may do so; those that start others
 * rely on its doing so once a second.
 */
export function keepWorkingDirectory(): void {
  if (isMainThread && !isThere()) process.chdir(parse(execPath).root);
}
