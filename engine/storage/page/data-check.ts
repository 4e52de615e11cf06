// Reads all of a data file at rest without LMDB, and says what is wrong with it: pages that are not
// what leads to them says (page-walk.ts), values that fail their checksums, rows, lists and edges
// whose numbers do not match each other or the totals, and pages in use that are not as the last
// clean stop left them (page-sum.ts).
//
// Invariant: what this passes answers every read rightly or with DATA_CORRUPT. Without sums of pages
// one thing is beyond it: a page that was put back from an earlier state of the very same keys.
import { checksum, checksumSize, sumOfName } from '../table/checksum.js';
import { DataTally } from './data-tally.js';
import { PageFile, pageSize } from './page.js';
import { type Meta, type Tree, metasOf, newestOf, treeAt, treeBytes } from './page-meta.js';
import { changedPages, type PageSums } from './page-sum.js';
import { PageWalk, type Visitor, byTransaction } from './page-walk.js';
import { tableNames } from '../table/table-name.js';
import { getWord } from '../table/word.js';

export interface DataFaults {
  /** Sound entries; 0 when the sums of pages made reading them needless. */
  entries: number;
  /** Rows that fail their checksums: whoever reads one hears of it. */
  rows: string[];
  /** Everything else: reads could miss what is there. */
  broken: string[];
}

export interface CheckOptions {
  /** Of the last clean stop: when all pages are as they were, nothing else has to be read. */
  sums?: PageSums | undefined;
  /** The state to be read, of a file that is written meanwhile; its pages must be kept. */
  meta?: Meta | undefined;
}

/** Lines of either kind; more say no more. */
const listedMax = 100;

/** Tables whose entries others name: one that is damaged cannot be missed silently. */
const named: ReadonlySet<string> = new Set(['records', 'vectors']);

export function checkData(path: string, { sums, meta }: CheckOptions = {}): DataFaults {
  const changed = sums === undefined ? undefined : changedPages(path, sums);
  if (changed?.size === 0) return { entries: 0, rows: [], broken: [] };
  const file = new PageFile(path);
  try {
    const metas = metasOf(file);
    if (metas.length === 0)
      return { entries: 0, rows: [], broken: ['data.mdb has no valid header'] };
    const check = new DataCheck(file, meta ?? newestOf(metas), changed ?? new Set());
    const isHeaderChanged = meta === undefined && (changed?.has(0) || changed?.has(1));
    return check.run(isHeaderChanged ? ['the header is not as the last stop left it'] : []);
  } finally {
    file.close();
  }
}

/** The trees of all tables by name, as the tree of trees has them. */
export function tablesOf(meta: Meta, walk: PageWalk, damage: Visitor['damage']): Map<string, Tree> {
  const tables = new Map<string, Tree>();
  walk.tree(meta.main, meta.transaction, {
    damage,
    entry(key, value, _, isTree) {
      // lmdb-js ends names with a zero byte.
      const name = key.toString('latin1').replace('\0', '');
      const tree = isTree && value.length === treeBytes ? treeAt(value, 0) : undefined;
      if (tree !== undefined) tables.set(name, tree);
    },
  });
  return tables;
}

/** The value of an entry without its checksum; undefined when it fails. */
export function contentOf(nameSum: number, key: Buffer, value: Buffer): Buffer | undefined {
  const size = value.length - checksumSize;
  if (size < 0) return undefined;
  const sum = checksum(value, 0, size, checksum(key, 0, key.length, nameSum));
  return sum === getWord(value, size) ? value.subarray(0, size) : undefined;
}

/** A small table whole, by the keys in hexadecimal; `refuse` hears of any damage. */
export function readTable(
  file: PageFile,
  meta: Meta,
  name: string,
  refuse: (what: string) => void,
): Map<string, Buffer> {
  const walk = new PageWalk(file, meta.lastPage);
  const damage = (page: number, what: string): void => refuse(`page ${page} ${what}`);
  const tree = tablesOf(meta, walk, damage).get(name);
  const found = new Map<string, Buffer>();
  if (tree === undefined) refuse(`the table ${name} is missing`);
  else {
    const nameSum = sumOfName(name);
    walk.tree(tree, meta.transaction, {
      damage,
      entry(key, value) {
        const content = contentOf(nameSum, key, value);
        const hex = key.toString('hex');
        if (content === undefined) refuse(`${name} ${hex} fails its checksum`);
        else found.set(hex, Buffer.from(content));
      },
    });
  }
  return found;
}

class DataCheck {
  readonly #faults: DataFaults = { entries: 0, rows: [], broken: [] };
  readonly #walk: PageWalk;
  /** Pages in use that have changed, and those of them whose change shows in a row. */
  readonly #suspicious = new Set<number>();
  readonly #explained = new Set<number>();

  constructor(
    file: PageFile,
    private readonly meta: Meta,
    private readonly changed: ReadonlySet<number>,
  ) {
    this.#walk = new PageWalk(file, meta.lastPage);
  }

  run(known: readonly string[]): DataFaults {
    const { meta } = this;
    for (const what of known) this.#note('broken', what);
    this.#walk.tree(meta.free, meta.transaction, this.#visitor('free pages'), byTransaction);
    const tables = tablesOf(meta, this.#walk, this.#visitor('tables').damage);
    const tally = new DataTally();
    for (const name of tableNames) {
      const tree = tables.get(name);
      if (tree === undefined) this.#note('broken', `the table ${name} is missing`);
      else this.#table(name, tree, tally);
    }
    for (const what of tally.faults()) this.#note('broken', what);
    for (const page of this.#suspicious) {
      if (this.#explained.has(page)) continue;
      this.#note('broken', `page ${page} is not as the last stop left it`);
    }
    return this.#faults;
  }

  #visitor(table: string): Visitor {
    return {
      entry() {},
      page: (first, count) => {
        for (let page = first; page < first + count; page++) {
          if (this.changed.has(page)) this.#suspicious.add(first);
        }
      },
      damage: (page, what) => this.#note('broken', `${table}: page ${page} ${what}`),
    };
  }

  #table(name: string, tree: Tree, tally: DataTally): void {
    const nameSum = sumOfName(name);
    this.#walk.tree(tree, this.meta.transaction, {
      ...this.#visitor(name),
      entry: (key, value, at) => {
        const content = contentOf(nameSum, key, value);
        if (content !== undefined) {
          this.#faults.entries++;
          tally.add(name, key, content);
          return;
        }
        tally.lose(name);
        this.#explained.add(Math.floor(at / pageSize));
        const what = `${name} ${key.toString('hex', 0, 32)} fails its checksum`;
        this.#note(named.has(name) ? 'rows' : 'broken', what);
      },
    });
  }

  #note(kind: 'rows' | 'broken', what: string): void {
    const list = this.#faults[kind];
    if (list.length < listedMax) list.push(what);
  }
}
