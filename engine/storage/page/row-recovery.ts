// Finds the rows of a possibly damaged data file without LMDB. These are rows that the trees still lead to,
// and rows in leaf pages that are orphaned by a damaged page above them. The layouts are drawn in page.ts. A
// page that is neither free nor in a tree was in use below the damage. Free pages contain rows of earlier
// snapshots and are skipped. Invariant: every returned row has passed its checksum, which covers table and
// key; no row is returned twice.
import { checkIntegrity } from '../../base/integrity.js';
import { sumOfName } from '../table/checksum.js';
import { tablesOf } from './file-check.js';
import type { PageEntry } from './page-entry.js';
import { PageFile, pageSize, wideAt } from './page.js';
import { type Meta, type Tree, newestOf, metasOf } from './page-meta.js';
import { PageWalk, type Visitor, byTransaction } from './btree-walk.js';
import type { TableName } from '../table/table-name.js';

/** An orphaned page: its position in the file, and the number in its head. */
interface LoosePage {
  position: number;
  number: number;
}

const headerLost = 'one of two headers is lost, maybe with the last commit';

export class RowRecovery {
  /** Damage messages in the order of the walk. */
  readonly damages: string[] = [];
  /** False if the rows may be those before the last commit. */
  readonly isNewest: boolean;
  readonly #damaged = new Set<number>();
  readonly #file: PageFile;
  readonly #meta: Meta;
  readonly #tables: Map<string, Tree>;
  readonly #loose: readonly LoosePage[];

  /** Fails DATA_CORRUPT if not even one meta page can be read. */
  constructor(path: string) {
    this.#file = new PageFile(path);
    const metas = metasOf(this.#file, { evenOne: true });
    checkIntegrity(metas.length > 0, 'data.mdb has no valid header');
    this.isNewest = metas.length === 2;
    if (!this.isNewest) this.damages.push(headerLost);
    this.#meta = newestOf(metas);
    const { transaction, lastPage, free } = this.#meta;
    const walk = new PageWalk(this.#file, lastPage);
    this.#tables = tablesOf(this.#meta, walk, this.#recordDamage('tables'));
    for (const [name, tree] of this.#tables) {
      walk.tree(tree, transaction, { damage: this.#recordDamage(name), entry() {} });
    }
    const unused = new Set<number>();
    const visitor = { damage: this.#recordDamage('free pages'), entry: freeInto(unused) };
    const before = this.damages.length;
    walk.tree(free, transaction, visitor, byTransaction);
    // Without the list of free pages, an orphaned page may belong to any earlier snapshot.
    this.#loose = this.damages.length > before ? [] : this.#pagesOutside(walk, unused);
  }

  /** Returns how many entries a table must have, or undefined if its root is lost. */
  entriesOf(table: TableName): number | undefined {
    return this.#tables.get(table)?.entries;
  }

  /** Reads the bytes of a value that `each` found at an offset. */
  bytes(at: number, size: number): Uint8Array | undefined {
    return this.#file.bytes(at, size);
  }

  close(): void {
    this.#file.close();
  }

  #recordDamage(table: string): Visitor['damage'] {
    return (page, what) => {
      this.#damaged.add(page);
      this.damages.push(`${table}: page ${page} ${what}`);
    };
  }

  /** Returns pages in use that no tree leads to, and pages at the position of another one. */
  #pagesOutside(walk: PageWalk, unused: ReadonlySet<number>): LoosePage[] {
    const pages: LoosePage[] = [];
    const page = Buffer.alloc(pageSize);
    const last = Math.min(this.#meta.lastPage, this.#file.pages - 1);
    for (let position = 2; position <= last; position++) {
      const isLoose = !walk.hasSeen(position) && !unused.has(position);
      if ((!isLoose && !this.#damaged.has(position)) || !this.#file.read(position, 1, page))
        continue;
      const number = wideAt(page, 0);
      const isMoved = number !== position && this.#damaged.has(number) && !unused.has(number);
      if (isMoved || (isLoose && number === position)) pages.push({ position, number });
    }
    return pages;
  }

  /** Calls `take` for each sound entry of a table: first those in its tree, then those in orphaned pages. */
  each(table: TableName, take: (key: Buffer, content: Buffer, at: number) => void): void {
    const nameSum = sumOfName(table);
    const entry = (found: PageEntry): void => {
      if (found.isSound(nameSum)) take(found.key, found.content, found.at);
    };
    const { transaction, lastPage } = this.#meta;
    const walk = new PageWalk(this.#file, lastPage);
    const tree = this.#tables.get(table);
    // Its damage was reported by the first walk.
    if (tree !== undefined) walk.tree(tree, transaction, { damage() {}, entry });
    for (const { position, number } of this.#loose) walk.leaf(position, number, transaction, entry);
  }
}

/**
 * Parses a list of free pages: number of words u64, then words. A word is a page, or a negative count
 * followed by the first of that many pages; 0 is unused.
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
