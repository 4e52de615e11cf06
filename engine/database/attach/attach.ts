// `attach`: the calls of a database on a thread that did not open it.
import { MessagePort } from 'node:worker_threads';
import { excerpt, fail } from '../../base/errors.js';
import { AttachedReader } from './attached-reader.js';
import type { Attachment } from './attachment.js';
import { type AnyQueries, type Calls, callsOf } from './query-caller.js';

export type AttachedDatabase<Q = AnyQueries> = Calls<Q> & {
  /** Lets go of the database, which goes on for all others. */
  close(): Promise<void>;
};

/**
 * Opens on this thread what another thread of the process has open, and gave by `attachment()`: reads run
 * here, everything else where the database was opened. Fails PARAM_TYPE for anything else.
 */
export async function attach<Q = AnyQueries>(attachment: Attachment): Promise<AttachedDatabase<Q>> {
  const given: Partial<Attachment> | undefined = attachment ?? undefined;
  if (!(given?.port instanceof MessagePort) || !(given.gate instanceof SharedArrayBuffer)) {
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
  const database: AttachedDatabase = { ...calls, close: () => attached.close() };
  // As with `open`, the types are what the caller says they are.
  return database as AttachedDatabase<Q>;
}
