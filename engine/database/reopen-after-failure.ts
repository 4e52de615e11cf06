// Reading goes on after LMDB has given up. When a meta page could not be written, LMDB refuses every
// later read of the process as well, until nobody in it has the file open. What was committed before
// is whole. So the writer, which may write no more, all who read and this thread let go of the file, and
// all but the writer open it again. Invariant: none opens it before all have let go.
import { TrellisError } from '../base/errors.js';
import type { Storage } from '../storage/open-storage.js';
import type { AttachHost } from './attach/attach-host.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { WriterClient } from './lane/writer-client.js';

/** Whether this process can no longer read, though the data may be sound. */
export function hasGivenUp(storage: Storage): boolean {
  try {
    storage.env.refresh();
    storage.committedSeq();
    return false;
  } catch (error) {
    return error instanceof TrellisError && error.code === 'NOT_READY';
  }
}

/** Whether this thread and all readers have the file open again. */
export async function reopen(
  storage: Storage,
  writer: WriterClient,
  dispatcher: Dispatcher,
  attached: AttachHost,
): Promise<boolean> {
  try {
    const released = [writer.order({ kind: 'release' }), dispatcher.release(), attached.release()];
    await Promise.all([...released, storage.close()]);
    storage.reopen();
    dispatcher.reopen();
    attached.reopen();
    return true;
  } catch {
    return false;
  }
}
