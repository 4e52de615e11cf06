// The rows of a data file that need not be sound, found without LMDB: those that the trees still lead
// to, and those in leaf pages that nothing leads to any more because a page above them is damaged.
// Layouts are drawn in page.ts.
//
// A page that is not free and that no tree leads to was in use below the damage; what stands in free
// pages is of earlier states and is left alone. Invariant: every row given has passed its checksum,
// which names its table and key; none is given twice.
import { checkIntegrity } from '../../base/integrity.js';
import { sumOfName } from '../table/checksum.js';
import { tablesOf } from './file-check.js';
import type { PageEntry } from './page-entry.js';
import { PageFile, pageSize, wideAt } from './page.js';
import { type Meta, type Tree, newestOf, metasOf } from './page-meta.js';
import { PageWalk, type Visitor, byTransaction } from './btree-walk.js';
import type { TableName } from '../table/table-name.js';

/** A place in the file, and the number that its page says it has. */
interface LoosePage {
  place: number;
  number: number;
}

const headerLost = 'one of two headers is lost, maybe with the last commit';

export class PageRows {
  /** What is wrong with pages, in the order of meeting it. */
  readonly damages: string[] = [];
  /** False: the rows may be those before the last commit. */
  readonly isNewest: boolean;
  readonly #damaged = new Set<number>();
  readonly #file: PageFile;
  readonly #meta: Meta;
  readonly #tables: Map<string, Tree>;
  readonly #loose: readonly LoosePage[];

  /** Fails DATA_CORRUPT when not even the header can be read. */
  constructor(path: string) {
    this.#file = new PageFile(path);
    const metas = metasOf(this.#file, { evenOne: true });
    checkIntegrity(metas.length > 0, 'data.mdb has no valid header');
    this.isNewest = metas.length === 2;
    if (!this.isNewest) this.damages.push(headerLost);
    this.#meta = newestOf(metas);
    const { transaction, lastPage, free } = this.#meta;
    const walk = new PageWalk(this.#file, lastPage);
    this.#tables = tablesOf(this.#meta, walk, this.#hear('tables'));
    for (const [name, tree] of this.#tables) {
      walk.tree(tree, transaction, { damage: this.#hear(name), entry() {} });
    }
    const unused = new Set<number>();
    const hear = { damage: this.#hear('free pages'), entry: freeInto(unused) };
    const before = this.damages.length;
    walk.tree(free, transaction, hear, byTransaction);
    // Without a list of free pages, what nothing leads to may be of any earlier state.
    this.#loose = this.damages.length > before ? [] : this.#pagesOutside(walk, unused);
  }

  /** How many entries a table must have; undefined when its tree is lost. */
  entriesOf(table: TableName): number | undefined {
    return this.#tables.get(table)?.entries;
  }

  /** What `each` has found at a place. */
  bytes(at: number, size: number): Uint8Array | undefined {
    return this.#file.bytes(at, size);
  }

  close(): void {
    this.#file.close();
  }

  #hear(table: string): Visitor['damage'] {
    return (page, what) => {
      this.#damaged.add(page);
      this.damages.push(`${table}: page ${page} ${what}`);
    };
  }

  /** Pages in use that no tree leads to, and pages that stand in the place of another. */
  #pagesOutside(walk: PageWalk, unused: ReadonlySet<number>): LoosePage[] {
    const pages: LoosePage[] = [];
    const page = Buffer.alloc(pageSize);
    const last = Math.min(this.#meta.lastPage, this.#file.pages - 1);
    for (let place = 2; place <= last; place++) {
      const isLoose = !walk.hasSeen(place) && !unused.has(place);
      if ((!isLoose && !this.#damaged.has(place)) || !this.#file.read(place, 1, page)) continue;
      const number = wideAt(page, 0);
      const isMoved = number !== place && this.#damaged.has(number) && !unused.has(number);
      if (isMoved || (isLoose && number === place)) pages.push({ place, number });
    }
    return pages;
  }

  /** Calls back for each sound entry of a table, those that its tree leads to first. */
  each(table: TableName, take: (key: Buffer, content: Buffer, at: number) => void): void {
    const nameSum = sumOfName(table);
    const entry = (found: PageEntry): void => {
      if (found.isSound(nameSum)) take(found.key, found.content, found.at);
    };
    const { transaction, lastPage } = this.#meta;
    const walk = new PageWalk(this.#file, lastPage);
    const tree = this.#tables.get(table);
    // What is wrong with it was told when it was walked first.
    if (tree !== undefined) walk.tree(tree, transaction, { damage() {}, entry });
    for (const { place, number } of this.#loose) walk.leaf(place, number, transaction, entry);
  }
}

/**
 * A list of free pages: how many words u64, then words: a page, or a count below zero followed by the
 * first of so many pages; 0 is nothing.
 */
function readFree(list: Buffer, free: Set<number>): void {
  const words = list.length < 8 ? 0 : Math.min(wideAt(list, 0), Math.floor(list.length / 8) - 1);
  for (let i = 1; i <= words; i++) {
    const word = list.readBigInt64LE(8 * i);
    if (word >= 0n) free.add(Number(word));
    else if (i < words) {
      const first = wideAt(list, 8 * ++i);
      for (let page = first; page < first - Number(word) && page - first < pageSize ** 2; page++) {
        free.add(page);
      }
    }
  }
}

const freeInto =
  (free: Set<number>): Visitor['entry'] =>
  ({ value }) =>
    readFree(value, free);
