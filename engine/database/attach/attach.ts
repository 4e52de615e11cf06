// Implements `attach`: calls of a database from a thread that did not open it.
import { MessagePort } from 'node:worker_threads';
import { excerpt, fail } from '../../base/errors.js';
import { throwAtCaller } from './throw-at-caller.js';
import { AttachedReader } from './attached-reader.js';
import type { Attachment } from './attachment.js';
import { type AnyQueries, type Calls, callsOf } from './query-caller.js';

/**
 * A database that another thread of the process has open, as `attach` returns it. It has `call` and
 * `callBytes` as on that thread.
 *
 * @example
 * const db: AttachedDatabase = await attach(workerData);
 * await db.close(); // the database stays open for other threads
 */
export type AttachedDatabase<Q = AnyQueries> = Calls<Q> & {
  /** Detaches this thread. The database stays open for all others. */
  close(): Promise<void>;
};

/**
 * Opens a database on this thread that another thread of the process has open. That thread creates the
 * argument with `attachment()`. Reads run on this thread; all other calls run on the opening thread. Fails
 * PARAM_TYPE for any other argument.
 *
 * @example
 * import { parentPort, workerData } from 'node:worker_threads';
 * const db = await attach(workerData);
 * parentPort.postMessage(await db.call('hello', { name: 'Ada' }));
 */
export async function attach<Q = AnyQueries>(attachment: Attachment): Promise<AttachedDatabase<Q>> {
  try {
    // The caller chooses the types, as with `open`. Nothing checks them here.
    return (await attachTo(attachment)) as AttachedDatabase<Q>;
  } catch (error) {
    return throwAtCaller(error, attach);
  }
}

async function attachTo(attachment: Attachment): Promise<AttachedDatabase> {
  const input: Partial<Attachment> | undefined = attachment ?? undefined;
  if (!(input?.port instanceof MessagePort) || !(input.control instanceof SharedArrayBuffer)) {
    const got = excerpt(String(attachment));
    fail('PARAM_TYPE', { param: 'attachment', type: 'what `attachment()` gives', got });
  }
  const attached = new AttachedReader(attachment);
  await attached.ready;
  const calls = callsOf({
    send: (name, body) => attached.call(name, body),
    replyOf: (name) => attached.replyOf(name),
    program: () => attached.program,
  });
  return { ...calls, close: () => attached.close() };
}
