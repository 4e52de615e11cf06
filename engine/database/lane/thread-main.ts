// Runs the task of a pool thread; the setup says which lane it serves. An error that kept a lane from opening
// is the result of the task: a thrown error would lose its code on the way.
import { type Backup, makeBackup } from '../maintenance/backup.js';
import { type ErrorData, toErrorData } from '../../base/errors.js';
import { hashSnapshot } from '../replication/pinned-snapshot.js';
import type { TableHashes } from '../replication/table-check.js';
import { type LoaderSetup, serveLoad } from '../load/row-reader-thread.js';
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { serveWrites } from './writer-lane.js';
import type { WriterSetup } from './message.js';

/** Reads all tables at a snapshot that the writer takes. */
export interface HashTask {
  role: 'hash';
  graphPath: string;
  words: SharedArrayBuffer;
}

export type HashReply = { tables: TableHashes | undefined } | { error: ErrorData; stack?: string };

/** Makes one backup, while the main thread keeps a snapshot of the data. */
export interface BackupTask {
  role: 'backup';
  dataDir: string;
  to: string;
}

export type BackupReply = Backup | { error: ErrorData; stack?: string };

export default function serveLane(
  setup: ReaderSetup | WriterSetup | LoaderSetup | BackupTask | HashTask,
): Promise<unknown> {
  switch (setup.role) {
    case 'reader':
      return serveReads(setup).catch(toErrorData);
    case 'writer':
      return serveWrites(setup);
    case 'loader':
      return serveLoad(setup).catch(toErrorData);
    case 'backup':
      return makeBackup(setup.dataDir, setup.to).catch(toErrorData);
    case 'hash':
      return hashed(setup).catch(toErrorData);
  }
}

async function hashed({ graphPath, words }: HashTask): Promise<HashReply> {
  return { tables: hashSnapshot(graphPath, words) };
}
