// Starts threads and explains failures to start.
// Invariant: a thread that cannot start is reported to the caller, by a throw or by the error
// event; it never ends the process.
import { closeSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { TrellisError, toShortageData } from '../base/errors.js';
import { keepWorkingDirectory } from './working-directory.js';

/** Throws if the system cannot start a thread. */
export function startThread(entry: URL | string, options: WorkerOptions): Worker {
  keepWorkingDirectory();
  return new Worker(entry, options);
}

/**
 * Returns the error that explains why a thread did not start: RESOURCE_EXHAUSTED if the system
 * lacks a resource. A thread that cannot open its modules reports various errors, so this function
 * tries to open a file.
 */
export function startFailure(error: Error): Error {
  const data = toShortageData(error) ?? toShortageData(openFailure());
  return data === undefined ? error : new TrellisError(data);
}

function openFailure(): unknown {
  try {
    closeSync(openSync(execPath, 'r'));
    return undefined;
  } catch (error) {
    return error;
  }
}
