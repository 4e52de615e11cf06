// Looks at data.mdb with plain file calls before LMDB maps it: a damaged file would end the process
// by a signal (operations.md L15), and an empty one would silently become a new database.
//
//   in each of the meta pages 0 and 1:
//    24  magic u32                    144  last page u64
//    28  format u32                   152  transaction u64
//    48  page size u32
//    88  root page u64 of the free list, 136 of the main tree; all ones: empty
//
// Little-endian. The last page is no measure of the file: pages that a transaction took and gave
// back are never written, so that a sound file may end before it (378 of 1,200 commits with undone
// requests did). A cut is therefore found by the size noted at a clean stop, by root pages beyond
// the end, and else by the reading child process (probe.ts). lock.mdb is never opened here: closing
// it would drop LMDB's own locks (L17).
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { fail } from '../base/errors.js';

const magic = 0xbeefc0de;

/** What this version writes and reads. */
export const dataFormat = { version: 'lmdb-js 3.5.6', page_size: 4096, data_format: 2 } as const;

interface MetaPage {
  roots: bigint[];
  transaction: bigint;
}

const emptyTree = 2n ** 64n - 1n;

function metaPage(head: Buffer, page: number): MetaPage | undefined {
  const at = page * dataFormat.page_size;
  if (head.readUInt32LE(at + 24) !== magic) return undefined;
  if (head.readUInt32LE(at + 28) !== dataFormat.data_format) return undefined;
  if (head.readUInt32LE(at + 48) !== dataFormat.page_size) return undefined;
  const roots = [head.readBigUInt64LE(at + 88), head.readBigUInt64LE(at + 136)];
  return {
    roots: roots.filter((root) => root !== emptyTree),
    transaction: head.readBigUInt64LE(at + 152),
  };
}

/**
 * Fails DATA_CORRUPT when the file cannot be opened safely. `least` is its size at the last clean
 * stop.
 */
export function checkDataFile(path: string, least = 0): void {
  const refuse = (what: string): never => fail('DATA_CORRUPT', { what: `data.mdb ${what}` });
  if (!existsSync(path)) refuse('is missing');
  const { size } = statSync(path);
  const head = Buffer.alloc(2 * dataFormat.page_size);
  if (size < head.length) refuse(`has ${size} bytes`);
  if (size < least) refuse(`was cut from ${least} to ${size} bytes`);
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
  const pageCount = BigInt(Math.floor(size / dataFormat.page_size));
  if (newest.roots.some((root) => root >= pageCount)) refuse(`was cut: it has ${size} bytes`);
}
