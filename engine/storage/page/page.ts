// Reads the pages of data.mdb in LMDB's layout (data format 2) with plain file calls. This code detects a
// damaged page, where LMDB would end the process with a signal or return what the page happens to contain.
//
//   page      0  number u64        8  transaction u64     18  flags u16: 1 branch, 2 leaf, 4 overflow, 8 meta
//            20  end of offsets u16, 22  start of nodes u16 (both less 24); overflow: pages u32
//            24  offset of each node u16 (less 24), in the order of keys
//   node      0  size of the value u32, in branches: page u48    4  leaf: flags u16: 1 value elsewhere,
//             2  tree    6  size of the key u16    8  key · value
//   elsewhere    page u64 · transaction u64 · pages u64: the value begins 24 bytes into that page
//   tree      0  page size u32 · flags u16, of free pages, else zeros    6  depth u16
//             8  branch pages u64   16  leaf pages u64   24  overflow pages u64
//            32  entries u64   40  root u64, all ones when it is empty
//   meta     24  magic u32   28  format u32   48  page size u32 · tree of free pages
//            96  tree of trees    144  last page u64   152  transaction u64
//
// All numbers are little-endian. Pages 0 and 1 are meta pages; transaction n writes page n & 1. A page is
// older than, or as old as, the page that leads to it.
// Invariant: no number in a page is trusted.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { getWord } from '../table/little-endian.js';

export const pageSize = 4096;
export const pageHead = 24;

export const pageKinds = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;

/** Reads a u64 that fits a double. Larger ones come out above every allowed value. */
export const wideAt = (page: Uint8Array, at: number): number =>
  getWord(page, at) + getWord(page, at + 4) * 2 ** 32;

export const halfAt = (page: Uint8Array, at: number): number => page[at]! | (page[at + 1]! << 8);

/** A data file that no process writes, or of which only pages are read that no longer change. */
export class PageFile {
  readonly #file: number;
  /** Number of complete pages in the file. */
  readonly pages: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.pages = Math.floor(fstatSync(this.#file).size / pageSize);
  }

  /** Reads pages into the beginning of `target`; returns false if the file does not contain all of them. */
  read(first: number, count: number, target: Buffer): boolean {
    if (!(first >= 0 && first + count <= this.pages)) return false;
    const size = count * pageSize;
    return readSync(this.#file, target, 0, size, first * pageSize) === size;
  }

  /** Reads `size` bytes at `at`; returns undefined if the file does not contain all of them. */
  bytes(at: number, size: number): Uint8Array | undefined {
    const target = new Uint8Array(size);
    return readSync(this.#file, target, 0, size, at) === size ? target : undefined;
  }

  close(): void {
    closeSync(this.#file);
  }
}
