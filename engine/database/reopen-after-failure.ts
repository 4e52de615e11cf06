// Restores reads after LMDB has failed. When a meta page could not be written, LMDB also refuses every later
// read of the process, until no thread of the process has the file open. Everything committed before is
// intact. Therefore all threads release the file: the writer, the readers and the main thread. Then all
// except the writer open it again.
// Invariant: no thread opens the file before all threads have released it.
import { TrellisError } from '../base/errors.js';
import type { Storage } from '../storage/open-storage.js';
import type { AttachHost } from './attach/attach-host.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { WriterClient } from './lane/writer-client.js';

/** Returns true if this process can no longer read, although the data may be intact. */
export function hasFailed(storage: Storage): boolean {
  try {
    storage.env.refresh();
    storage.committedSeq();
    return false;
  } catch (error) {
    return error instanceof TrellisError && error.code === 'NOT_READY';
  }
}

/** Returns true if this thread and all readers have the file open again. */
export async function reopen(
  storage: Storage,
  writer: WriterClient,
  dispatcher: Dispatcher,
  attached: AttachHost,
): Promise<boolean> {
  try {
    const released = [
      writer.execute({ kind: 'release' }),
      dispatcher.release(),
      attached.release(),
    ];
    await Promise.all([...released, storage.close()]);
    storage.reopen();
    dispatcher.reopen();
    attached.reopen();
    return true;
  } catch {
    return false;
  }
}
