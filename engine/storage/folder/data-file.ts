// Checks data.mdb with plain file calls before LMDB maps it. LMDB would end the process with a signal for a
// damaged file (operations.md L15), and silently create a new database in an empty one. This check reads only
// a few pages: the header, the tree of tables and the identity of the database. file-check.ts reads the rest.
//
// The file size alone proves nothing: LMDB never writes pages that a transaction allocated and released, so a
// sound file may end before its last page (378 of 1,200 commits with undone requests did). Three checks find
// a truncated file: the size noted at a clean stop, root pages beyond the end, and else a full read.
//
// This file never opens lock.mdb: closing it would drop LMDB's own locks (L17).
import { existsSync, statSync } from 'node:fs';
import { fail } from '../../base/errors.js';
import { readTable } from '../page/file-check.js';
import { metaKey } from '../table/meta.js';
import { PageFile, pageSize } from '../page/page.js';
import { metasOf, newestOf } from '../page/page-meta.js';

/** The data format that this version writes and reads. */
export const dataFormat = {
  version: 'lmdb-js 3.5.6',
  page_size: pageSize,
  data_format: 2,
} as const;

export interface DataFileFacts {
  /** Size of the file at the last clean stop. */
  minBytes?: number | undefined;
  dbUuid?: string | undefined;
}

/** Fails DATA_CORRUPT if the file cannot be opened safely or belongs to another database. */
export function checkDataFile(path: string, { minBytes = 0, dbUuid }: DataFileFacts = {}): void {
  const refuse = (what: string): never => fail('DATA_CORRUPT', { what: `data.mdb ${what}` });
  if (!existsSync(path)) refuse('is missing');
  const { size } = statSync(path);
  if (size < 2 * pageSize) refuse(`has ${size} bytes`);
  if (size < minBytes) refuse(`was cut from ${minBytes} to ${size} bytes`);
  const file = new PageFile(path);
  try {
    const metas = metasOf(file);
    if (metas.length === 0) refuse('has no valid header');
    const newest = newestOf(metas);
    if (Math.max(newest.free.root, newest.main.root) >= file.pages) {
      refuse(`was cut: it has ${size} bytes`);
    }
    const found = readTable(file, newest, 'meta', (what) => refuse(`cannot be opened: ${what}`));
    const own = found.get(Buffer.from(metaKey.databaseUuid).toString('hex'))?.toString();
    if (dbUuid !== undefined && own !== dbUuid) {
      refuse(
        `is that of another database: ${own ?? 'it names none'}, MANIFEST.json names ${dbUuid}`,
      );
    }
  } finally {
    file.close();
  }
}
