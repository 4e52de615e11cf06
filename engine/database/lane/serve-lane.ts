// What a pool thread does: the setup says which lane it serves.
import { type Backup, makeBackup } from '../care/backup.js';
import { type ErrorData, errorDataOf } from '../../base/errors.js';
import { hashSnapshot } from '../replica/held-snapshot.js';
import type { TableHashes } from '../replica/table-check.js';
import { hasLoaded } from './exit-hold.js';
import { type LoaderSetup, serveLoad } from '../load/loader.js';
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { type WriterSetup, serveWrites } from './writer-lane.js';

hasLoaded();

/** Asks for nothing: done as soon as the thread has loaded this module. */
interface WarmUp {
  role: 'warm';
}

/** Reads all tables, at a snapshot that the writer takes. */
export interface HashTask {
  role: 'hash';
  graphPath: string;
  words: SharedArrayBuffer;
}

export type HashReply = { tables: TableHashes | undefined } | { error: ErrorData; stack?: string };

/** One backup, while whoever asked keeps a state of the data. */
export interface BackupTask {
  role: 'backup';
  dataDir: string;
  to: string;
}

export type BackupReply = Backup | { error: ErrorData; stack?: string };

export default function serveLane(
  setup: ReaderSetup | WriterSetup | LoaderSetup | BackupTask | HashTask | WarmUp,
): Promise<unknown> {
  switch (setup.role) {
    case 'warm':
      return Promise.resolve();
    case 'reader':
      return serveReads(setup);
    case 'writer':
      return serveWrites(setup);
    case 'loader':
      return serveLoad(setup);
    case 'backup':
      return makeBackup(setup.dataDir, setup.to).catch(errorDataOf);
    case 'hash':
      return hashed(setup).catch(errorDataOf);
  }
}

async function hashed({ graphPath, words }: HashTask): Promise<HashReply> {
  return { tables: hashSnapshot(graphPath, words) };
}
