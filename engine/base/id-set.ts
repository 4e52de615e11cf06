// A growing set of dense ids. Up to 40 ids lie in a hash table of 64 words. More have one bit each, in pages
// of 64 Ki ids that are allocated when needed: a page takes 8 KiB, and few ids may lie in many pages.
import { newIds } from './u32-array.js';

const pageBits = 16;
const pageWords = 1 << (pageBits - 5);

const tableBits = 6;
const tableMask = (1 << tableBits) - 1;
const tableMax = 40;

export class IdSet {
  /** Ids plus one, by hash with open addressing; 0: free. */
  readonly #table = newIds(1 << tableBits);
  readonly #pages: (Uint32Array | undefined)[] = [];
  /** Whether the ids are in the pages. */
  #isPaged = false;
  size = 0;

  /** Adds an id. Returns false if the set already contained it. */
  add(id: number): boolean {
    if (this.#isPaged) return this.#addToPage(id);
    const at = this.#find(id);
    if (this.#table[at] !== 0) return false;
    if (this.size === tableMax) {
      this.#page();
      return this.#addToPage(id);
    }
    this.#table[at] = id + 1;
    this.size++;
    return true;
  }

  /** Returns the position of an id, or of the free word that it would get. */
  #find(id: number): number {
    const table = this.#table;
    let at = Math.imul(id, 0x9e3779b1) >>> (32 - tableBits);
    while (table[at] !== 0 && table[at] !== id + 1) at = (at + 1) & tableMask;
    return at;
  }

  #page(): void {
    this.#isPaged = true;
    this.size = 0;
    for (const found of this.#table) if (found !== 0) this.#addToPage(found - 1);
  }

  #addToPage(id: number): boolean {
    const page = (this.#pages[id >>> pageBits] ??= new Uint32Array(pageWords));
    const word = (id >>> 5) & (pageWords - 1);
    const bit = 1 << (id & 31);
    if ((page[word]! & bit) !== 0) return false;
    page[word]! |= bit;
    this.size++;
    return true;
  }

  clear(): void {
    this.#table.fill(0);
    if (this.#isPaged) for (const page of this.#pages) page?.fill(0);
    this.#isPaged = false;
    this.size = 0;
  }

  has(id: number): boolean {
    if (!this.#isPaged) return this.#table[this.#find(id)] !== 0;
    const page = this.#pages[id >>> pageBits];
    return page !== undefined && (page[(id >>> 5) & (pageWords - 1)]! & (1 << (id & 31))) !== 0;
  }
}
