// Looks at data.mdb with plain file calls before LMDB maps it: a damaged file would end the process by a signal (operations.md
// L15), and an empty one would silently become a new database.
//
//   meta pages 0 and 1, each:  24 magic u32 · 28 format u32 · 48 page size u32 · 144 last page u64 · 152 transaction u64
//
// Little-endian. lock.mdb is never opened here: closing it would drop LMDB's own locks (L17).
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { fail } from '../base/errors.js';

const magic = 0xbeefc0de;

/** What this version writes and reads. */
export const dataFormat = { version: 'lmdb-js 3.5.6', page_size: 4096, data_format: 2 } as const;

interface MetaPage {
  lastPage: bigint;
  transaction: bigint;
}

function metaPage(head: Buffer, page: number): MetaPage | undefined {
  const at = page * dataFormat.page_size;
  if (head.readUInt32LE(at + 24) !== magic) return undefined;
  if (head.readUInt32LE(at + 28) !== dataFormat.data_format) return undefined;
  if (head.readUInt32LE(at + 48) !== dataFormat.page_size) return undefined;
  return { lastPage: head.readBigUInt64LE(at + 144), transaction: head.readBigUInt64LE(at + 152) };
}

/** Fails DATA_CORRUPT when the file cannot be opened safely. */
export function checkDataFile(path: string): void {
  const refuse = (what: string): never => fail('DATA_CORRUPT', { what: `data.mdb ${what}` });
  if (!existsSync(path)) refuse('is missing');
  const { size } = statSync(path);
  const head = Buffer.alloc(2 * dataFormat.page_size);
  if (size < head.length) refuse(`has ${size} bytes`);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  const pages = [metaPage(head, 0), metaPage(head, 1)].filter((page) => page !== undefined);
  // LMDB itself begins with page 0 and dies of a bad one, whatever page 1 says.
  if (metaPage(head, 0) === undefined) refuse('has no valid header');
  const newest = pages.reduce((a, b) => (b.transaction > a.transaction ? b : a));
  if (newest.lastPage * BigInt(dataFormat.page_size) > BigInt(size)) {
    refuse(`was cut: ${size} bytes, last page ${newest.lastPage}`);
  }
}
