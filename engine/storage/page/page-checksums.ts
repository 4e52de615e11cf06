// Checksums of the pages of data.mdb at a clean stop, in graph/pages.sum; the next start compares them. They
// detect what no check inside the pages can: a page from an earlier snapshot. They are valid until the next
// commit, even after failed starts, and only for this very file: a copy in its place is read whole instead.
//
//   "TRELSUM1" 8 · pages u32 · CRC32 of each page u32, 0 when it was not read · CRC32 of all before it
//
// All numbers are little-endian. Reading takes 0.3 ms of CPU per MiB, so a stop has a time budget and skips
// the rest of a larger file. Free pages have checksums too; the reader decides whether a page matters.
// Invariant: the file is written completely or not at all.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PageFile, pageSize } from './page.js';
import { metasOf, newestOf } from './page-meta.js';
import { fail } from '../../base/errors.js';
import { replaceFile } from '../../fs/durable-file.js';

const mark = 'TRELSUM1';
const headBytes = 12;
const pagesPerRead = 256;

/** Manifest entry of a checksum file: its stamp, and the inode and transaction of the data file it covers. */
export interface SumsNote {
  stamp: string;
  inode: number;
  transaction: number;
}

/** Checksums by page number; 0 for a page without one. */
export type PageSums = Uint32Array;

const sumFile = (dataFile: string): string => join(dirname(dataFile), 'pages.sum');

/** Returns the checksum of a page, which is never 0. */
const sumOf = (page: Buffer): number => crc32(page) || 1;

/** Yields the pages of a file until the time `until`. */
function* readPages(dataFile: string, until: number): Generator<{ number: number; page: Buffer }> {
  const file = new PageFile(dataFile);
  try {
    const bytes = Buffer.alloc(pagesPerRead * pageSize);
    for (let first = 0; first < file.pages && performance.now() < until; first += pagesPerRead) {
      const count = Math.min(pagesPerRead, file.pages - first);
      if (!file.read(first, count, bytes)) return;
      for (let i = 0; i < count; i++) {
        yield { number: first + i, page: bytes.subarray(i * pageSize, (i + 1) * pageSize) };
      }
    }
  } finally {
    file.close();
  }
}

/** Identifies the content of a checksum file. */
const stampOf = (content: Buffer): string => content.toString('hex', content.length - 4);

function stateOf(dataFile: string): { inode: number; transaction: number } {
  const file = new PageFile(dataFile);
  const metas = metasOf(file);
  file.close();
  const transaction = metas.length === 0 ? 0 : newestOf(metas).transaction;
  return { inode: statSync(dataFile).ino, transaction };
}

/** Whether the file contains a newer transaction than a note states. */
export function isWrittenSince(dataFile: string, note: SumsNote | undefined): boolean {
  if (note === undefined || !existsSync(dataFile)) return false;
  return stateOf(dataFile).transaction > note.transaction;
}

/**
 * Writes the checksums of a file that no process writes. After `budgetMs` milliseconds the remaining pages
 * are skipped.
 */
export function writeSums(dataFile: string, budgetMs: number): SumsNote {
  const pages = Math.floor(statSync(dataFile).size / pageSize);
  const content = Buffer.alloc(headBytes + 4 * pages + 4);
  content.write(mark, 'latin1');
  content.writeUInt32LE(pages, 8);
  for (const { number, page } of readPages(dataFile, performance.now() + budgetMs)) {
    if (number < pages) content.writeUInt32LE(sumOf(page), headBytes + 4 * number);
  }
  content.writeUInt32LE(crc32(content.subarray(0, -4)), content.length - 4);
  replaceFile(sumFile(dataFile), content);
  return { stamp: stampOf(content), ...stateOf(dataFile) };
}

/**
 * Returns the noted checksums, or undefined if they are not valid. Fails DATA_CORRUPT if the file contains an
 * older transaction than the note.
 */
export function readSums(dataFile: string, note: SumsNote | undefined): PageSums | undefined {
  const path = sumFile(dataFile);
  if (note === undefined || !existsSync(path)) return undefined;
  const { inode, transaction } = stateOf(dataFile);
  if (inode !== note.inode || transaction > note.transaction) return undefined;
  const what = `data.mdb holds transaction ${transaction}, it has held ${note.transaction}`;
  if (transaction < note.transaction) fail('DATA_CORRUPT', { what });
  const content = readFileSync(path);
  const size = content.length;
  if (size < headBytes + 4 || content.toString('latin1', 0, 8) !== mark) return undefined;
  if (stampOf(content) !== note.stamp) return undefined;
  const sums = new Uint32Array(content.readUInt32LE(8));
  if (size !== headBytes + 4 * sums.length + 4) return undefined;
  for (let page = 0; page < sums.length; page++) {
    sums[page] = content.readUInt32LE(headBytes + 4 * page);
  }
  return sums;
}

/** Returns the pages that differ from their checksums. */
export function changedPages(dataFile: string, sums: PageSums): Set<number> {
  const changed = new Set<number>();
  for (const { number, page } of readPages(dataFile, Number.POSITIVE_INFINITY)) {
    const sum = sums[number] ?? 0;
    if (sum !== 0 && sumOf(page) !== sum) changed.add(number);
  }
  return changed;
}
