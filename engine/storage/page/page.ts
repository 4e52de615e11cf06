// The pages of data.mdb as LMDB lays them out (data format 2), read with plain file calls: a damaged
// page is found out here by looking at it, where LMDB would end the process by a signal, or answer
// with what the page happens to hold.
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
// Little-endian. Pages 0 and 1 are meta pages, transaction n writes page n & 1; a page is older than,
// or as old as, the one that leads to it. Invariant: nothing here trusts a number that a page holds.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { getWord } from '../table/little-endian.js';

export const pageSize = 4096;
export const pageHead = 24;

export const pageKinds = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;

/** A u64 that fits a double; others come out above everything that is allowed. */
export const wideAt = (page: Uint8Array, at: number): number =>
  getWord(page, at) + getWord(page, at + 4) * 2 ** 32;

export const halfAt = (page: Uint8Array, at: number): number => page[at]! | (page[at + 1]! << 8);

/** A data file that nobody writes, or of which only pages are read that are kept as they are. */
export class PageFile {
  readonly #file: number;
  /** Whole pages that the file has. */
  readonly pages: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.pages = Math.floor(fstatSync(this.#file).size / pageSize);
  }

  /** Reads pages into the beginning of `target`; false when the file does not have all of them. */
  read(first: number, count: number, target: Buffer): boolean {
    if (!(first >= 0 && first + count <= this.pages)) return false;
    const size = count * pageSize;
    return readSync(this.#file, target, 0, size, first * pageSize) === size;
  }

  /** Bytes of a value; undefined when the file does not have all of them. */
  bytes(at: number, size: number): Uint8Array | undefined {
    const target = new Uint8Array(size);
    return readSync(this.#file, target, 0, size, at) === size ? target : undefined;
  }

  close(): void {
    closeSync(this.#file);
  }
}
