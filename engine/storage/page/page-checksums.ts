// The checksums of the pages of data.mdb as a clean stop left them, in graph/pages.sum: what the next
// start compares. They see what nothing inside the pages can: a page that was put back from an earlier
// state. They hold until the next commit, however often a start fails before it, and for this very
// file: a copy that was put in its place is read whole instead.
//
//   "TRELSUM1" 8 · pages u32 · CRC32 of each page u32, 0 when it was not read · CRC32 of all before it
//
// Little-endian. Reading takes 0.3 ms of CPU per MiB, so a stop gives it some time and leaves out the
// rest of a file that is larger. Free pages are summed too: whether a page matters is the reader's to
// know. Invariant: the file is written whole or not at all.
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

/** What the manifest says of the sums: which they are, and what they are of. */
export interface SumsNote {
  stamp: string;
  inode: number;
  transaction: number;
}

/** Sums of pages by number. */
export type PageSums = Uint32Array;

const sumFile = (dataFile: string): string => join(dirname(dataFile), 'pages.sum');

/** A sum that is never 0. */
const sumOf = (page: Buffer): number => crc32(page) || 1;

/** Reads the pages of a file piece by piece, until `until`; tells the number of each. */
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

/** What names one state of the sums. */
const stampOf = (content: Buffer): string => content.toString('hex', content.length - 4);

function stateOf(dataFile: string): { inode: number; transaction: number } {
  const file = new PageFile(dataFile);
  const metas = metasOf(file);
  file.close();
  const transaction = metas.length === 0 ? 0 : newestOf(metas).transaction;
  return { inode: statSync(dataFile).ino, transaction };
}

/** Whether the file holds a newer transaction than a note says. */
export function isWrittenSince(dataFile: string, note: SumsNote | undefined): boolean {
  if (note === undefined || !existsSync(dataFile)) return false;
  return stateOf(dataFile).transaction > note.transaction;
}

/** Writes the sums of a file that nobody writes. After `budgetMs` the rest is left out. */
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
 * The sums that were noted, undefined when they do not hold. Fails DATA_CORRUPT when the file has gone
 * back behind them.
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

/** Pages that are not as they were summed. */
export function changedPages(dataFile: string, sums: PageSums): Set<number> {
  const changed = new Set<number>();
  for (const { number, page } of readPages(dataFile, Number.POSITIVE_INFINITY)) {
    const sum = sums[number] ?? 0;
    if (sum !== 0 && sumOf(page) !== sum) changed.add(number);
  }
  return changed;
}
