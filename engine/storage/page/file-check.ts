// Reads all of a data file at rest without LMDB, and says what is wrong with it: pages that are not
// what leads to them says (btree-walk.ts), values that fail their checksums, rows, lists and edges
// whose numbers do not match each other or the totals, and pages in use that are not as the last
// clean stop left them (page-checksums.ts).
//
// Invariant: what this passes answers every read rightly or with DATA_CORRUPT. Without sums of pages
// one thing is beyond it: a page that was put back from an earlier state of the very same keys.
//
// What is read may be shared by several threads (`checkPart`): each counts its part, and what the parts have
// found is compared as one (`joinParts`).
import { sumOfName } from '../table/checksum.js';
import { tableNames } from '../table/table-name.js';
import { DataTally, type TallyPart } from './cross-check.js';
import type { PageEntry } from './page-entry.js';
import { PageFile, pageSize } from './page.js';
import { type Meta, type Tree, metasOf, newestOf, treeAt, treeBytes } from './page-meta.js';
import { changedPages, type PageSums } from './page-checksums.js';
import {
  PageWalk,
  type Share,
  type Visitor,
  type Walked,
  byTransaction,
  tellCounts,
  whole,
} from './btree-walk.js';

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

/** What one thread has found. */
export interface CheckPart {
  faults: DataFaults;
  tally: TallyPart;
  /** By the names of the tables, of those that are there. */
  trees: [name: string, tree: Tree, walked: Walked][];
  seen: Uint8Array;
  /** Pages in use that have changed, and whose change shows in no row. */
  unexplained: number[];
}

/** Lines of either kind; more say no more. */
const listedMax = 100;

/** Tables whose entries others name: one that is damaged cannot be missed silently. */
const named: ReadonlySet<string> = new Set(['records', 'vectors']);

export function checkData(path: string, { sums, meta }: CheckOptions = {}): DataFaults {
  const changed = sums === undefined ? undefined : changedPages(path, sums);
  if (changed?.size === 0) return { entries: 0, rows: [], broken: [] };
  return joinParts([checkPart(path, whole, { meta, changed })]);
}

/** Reads a share of a file. `changed`: pages that are not as they were summed. */
export function checkPart(
  path: string,
  share: Share,
  { meta, changed }: { meta?: Meta | undefined; changed?: ReadonlySet<number> | undefined } = {},
): CheckPart {
  const file = new PageFile(path);
  try {
    const metas = metasOf(file);
    const check = new DataCheck(file, share, changed ?? new Set());
    if (metas.length === 0) return check.part('data.mdb has no valid header');
    check.run(meta ?? newestOf(metas));
    const isHeaderChanged = meta === undefined && (changed?.has(0) || changed?.has(1));
    return check.part(isHeaderChanged ? 'the header is not as the last stop left it' : undefined);
  } finally {
    file.close();
  }
}

/** What all shares of a file have found together. */
export function joinParts(parts: readonly CheckPart[]): DataFaults {
  const [first, ...others] = parts;
  const { faults } = first!;
  const tally = new DataTally();
  for (const part of parts) tally.join(part.tally);
  for (const part of others) {
    faults.entries += part.faults.entries;
    for (const kind of ['rows', 'broken'] as const) {
      for (const what of part.faults[kind]) note(faults, kind, what);
    }
  }
  first!.trees.forEach(([name, tree, walked], i) => {
    const all: Walked = { counts: { ...walked.counts }, damaged: walked.damaged };
    for (const { trees } of others) {
      const [, , part] = trees[i]!;
      all.damaged += part.damaged;
      for (const what of Object.keys(all.counts) as (keyof Walked['counts'])[]) {
        all.counts[what] += part.counts[what];
      }
    }
    tellCounts(tree, all, (page, what) => note(faults, 'broken', `${name}: page ${page} ${what}`));
  });
  for (const page of inTwoParts(parts)) note(faults, 'broken', `page ${page} is in two places`);
  if (first!.trees.length > 0) for (const what of tally.faults()) note(faults, 'broken', what);
  for (const { unexplained } of parts) {
    for (const page of unexplained) {
      note(faults, 'broken', `page ${page} is not as the last stop left it`);
    }
  }
  return faults;
}

/** The first page of each eight that two shares have both come to. */
function* inTwoParts(parts: readonly CheckPart[]): Generator<number> {
  const all = new Uint8Array(Math.max(...parts.map(({ seen }) => seen.length)));
  for (const { seen } of parts) {
    for (let at = 0; at < seen.length; at++) {
      const both = all[at]! & seen[at]!;
      if (both !== 0) yield 8 * at + 31 - Math.clz32(both & -both);
      all[at]! |= seen[at]!;
    }
  }
}

function note(faults: DataFaults, kind: 'rows' | 'broken', what: string): void {
  const list = faults[kind];
  if (list.length < listedMax) list.push(what);
}

/** The trees of all tables by name, as the tree of trees has them. */
export function tablesOf(meta: Meta, walk: PageWalk, damage: Visitor['damage']): Map<string, Tree> {
  const tables = new Map<string, Tree>();
  walk.tree(meta.main, meta.transaction, {
    damage,
    entry({ key, value, isTree }) {
      // lmdb-js ends names with a zero byte.
      const name = key.toString('latin1').replace('\0', '');
      const tree = isTree && value.length === treeBytes ? treeAt(value, 0) : undefined;
      if (tree !== undefined) tables.set(name, tree);
    },
  });
  return tables;
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
      entry(entry) {
        const hex = entry.key.toString('hex');
        if (!entry.isSound(nameSum)) refuse(`${name} ${hex} fails its checksum`);
        else found.set(hex, Buffer.from(entry.content));
      },
    });
  }
  return found;
}

class DataCheck {
  readonly #faults: DataFaults = { entries: 0, rows: [], broken: [] };
  readonly #tally = new DataTally();
  readonly #trees: CheckPart['trees'] = [];
  #seen: Uint8Array = new Uint8Array(0);
  /** Pages in use that have changed, and those of them whose change shows in a row. */
  readonly #suspicious = new Set<number>();
  readonly #explained = new Set<number>();

  constructor(
    private readonly file: PageFile,
    private readonly share: Share,
    private readonly changed: ReadonlySet<number>,
  ) {}

  /** `known`: what is wrong with all of the file. */
  part(known: string | undefined): CheckPart {
    if (known !== undefined && this.share.index === 0) note(this.#faults, 'broken', known);
    const unexplained = [...this.#suspicious].filter((page) => !this.#explained.has(page));
    const { part: tally } = this.#tally;
    const [faults, trees, seen] = [this.#faults, this.#trees, this.#seen];
    return { faults, tally, trees, seen, unexplained };
  }

  run(meta: Meta): void {
    const walk = new PageWalk(this.file, meta.lastPage);
    this.#seen = walk.seen;
    const isFirst = this.share.index === 0;
    if (isFirst) walk.tree(meta.free, meta.transaction, this.#visitor('free pages'), byTransaction);
    const tables = isFirst
      ? tablesOf(meta, walk, this.#visitor('tables').damage)
      : tablesOf(meta, new PageWalk(this.file, meta.lastPage), () => undefined);
    for (const name of tableNames) {
      const tree = tables.get(name);
      if (tree !== undefined) this.#table(name, tree, meta, walk);
      else if (isFirst) note(this.#faults, 'broken', `the table ${name} is missing`);
    }
  }

  #visitor(table: string): Omit<Visitor, 'entry'> & { entry: () => void } {
    return {
      entry() {},
      page: (first, count) => {
        for (let page = first; page < first + count; page++) {
          if (this.changed.has(page)) this.#suspicious.add(first);
        }
      },
      damage: (page, what) => note(this.#faults, 'broken', `${table}: page ${page} ${what}`),
    };
  }

  #table(name: string, tree: Tree, meta: Meta, walk: PageWalk): void {
    const nameSum = sumOfName(name);
    const count = this.#tally.counter(name);
    const entry = (found: PageEntry): void => {
      if (found.isSound(nameSum)) {
        this.#faults.entries++;
        count(found);
        return;
      }
      this.#tally.lose(name);
      this.#explained.add(Math.floor(found.at / pageSize));
      const what = `${name} ${found.key.toString('hex', 0, 32)} fails its checksum`;
      note(this.#faults, named.has(name) ? 'rows' : 'broken', what);
    };
    const visitor = { ...this.#visitor(name), entry };
    const walked = walk.part(tree, meta.transaction, visitor, this.share);
    this.#trees.push([name, tree, walked]);
  }
}
