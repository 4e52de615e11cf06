// Threads, and what keeps one from beginning. Invariant: a thread that cannot begin is an error that whoever
// wanted it hears, by a throw or by the event; it never ends the process.
import { closeSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { TrellisError, shortageDataOf } from '../base/errors.js';
import { keepWorkingDirectory } from './working-directory.js';

/** Throws if the system cannot start a thread. */
export function startThread(entry: URL | string, options: WorkerOptions): Worker {
  keepWorkingDirectory();
  return new Worker(entry, options);
}

/**
 * Why a thread did not begin, for whoever wanted it: RESOURCE_EXHAUSTED where the system lacks something.
 * A thread that cannot open its modules says many things: whether files can be opened at all tells.
 */
export function startFailure(error: Error): Error {
  const data = shortageDataOf(error) ?? shortageDataOf(openFailure());
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
