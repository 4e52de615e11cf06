// Keeps the working directory of the process valid. Every Node thread reads its name at the start
// and cannot start if the directory was deleted. The process then changes to a directory that
// always exists. All paths of the engine are absolute before that, so the change does not affect
// them.
import { execPath } from 'node:process';
import { parse } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/**
 * Node caches the name until the directory changes, so change to the same directory to refresh it.
 */
function isThere(): boolean {
  try {
    process.chdir('.');
  } catch {
    // The directory may belong to another account; its name may still be readable.
  }
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/**
 * Ensures that threads can start. Only the main thread of a process may change the directory. It
 * calls this function once a second for the threads that start other threads.
 */
export function keepWorkingDirectory(): void {
  if (isMainThread && !isThere()) process.chdir(parse(execPath).root);
}
