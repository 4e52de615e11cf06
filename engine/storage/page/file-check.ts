// Verifies a whole data file at rest without LMDB. Compares pages with the pages that lead to them
// (btree-walk.ts), values with their checksums, and the counts of rows, lists and edges with each other
// (cross-check.ts). Pages in use are also compared with the checksums of the last clean stop
// (page-checksums.ts).
//
// Invariant: a file that passes answers every read correctly or with DATA_CORRUPT. One fault needs the page
// checksums to be detected: a page from an earlier snapshot with the very same keys.
//
// Several threads may share the work: each runs `checkPart`, and `joinParts` combines the parts.
import { sumOfName } from '../table/checksum.js';
import { tableNames } from '../table/table-name.js';
import { CrossCheck, type CrossCheckPart } from './cross-check.js';
import type { PageEntry } from './page-entry.js';
import { PageFile, pageSize } from './page.js';
import { type Meta, type Tree, metasOf, newestOf, treeAt, treeBytes } from './page-meta.js';
import { changedPages, type PageSums } from './page-checksums.js';
import {
  PageWalk,
  type Share,
  type Visitor,
  type WalkResult,
  byTransaction,
  compareCounts,
  whole,
} from './btree-walk.js';

export interface DataErrors {
  /** Number of sound entries; 0 if the page checksums made reading them unnecessary. */
  entries: number;
  /** Rows that fail their checksums. Reading one of them fails DATA_CORRUPT. */
  rows: string[];
  /** All other faults: reads could miss data. */
  broken: string[];
}

export interface CheckOptions {
  /** Page checksums of the last clean stop. If all pages match, nothing else is read. */
  sums?: PageSums | undefined;
  /** The snapshot to read in a file that is being written. The caller must hold a read transaction on it. */
  meta?: Meta | undefined;
}

/** Result of one thread. */
export interface CheckPart {
  errors: DataErrors;
  tally: CrossCheckPart;
  /** Root descriptor and counts of each table that exists. */
  trees: [name: string, tree: Tree, walked: WalkResult][];
  seen: Uint8Array;
  /** Pages in use that have changed, without a damaged row that explains the change. */
  unexplained: number[];
}

/** Largest number of messages of either kind. */
const listedMax = 100;

/** Tables whose entries are counted elsewhere, so that damage to one entry cannot be missed. */
const named: ReadonlySet<string> = new Set(['records', 'vectors']);

export function checkData(path: string, { sums, meta }: CheckOptions = {}): DataErrors {
  const changed = sums === undefined ? undefined : changedPages(path, sums);
  if (changed?.size === 0) return { entries: 0, rows: [], broken: [] };
  return joinParts([checkPart(path, whole, { meta, changed })]);
}

/** Checks a share of a file. `changed`: pages that differ from their checksums. */
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

/** Combines the results of all shares of a file. */
export function joinParts(parts: readonly CheckPart[]): DataErrors {
  const [first, ...others] = parts;
  const { errors } = first!;
  const tally = new CrossCheck();
  for (const part of parts) tally.join(part.tally);
  for (const part of others) {
    errors.entries += part.errors.entries;
    for (const kind of ['rows', 'broken'] as const) {
      for (const what of part.errors[kind]) note(errors, kind, what);
    }
  }
  first!.trees.forEach(([name, tree, walked], i) => {
    const all: WalkResult = { counts: { ...walked.counts }, damaged: walked.damaged };
    for (const { trees } of others) {
      const [, , part] = trees[i]!;
      all.damaged += part.damaged;
      for (const what of Object.keys(all.counts) as (keyof WalkResult['counts'])[]) {
        all.counts[what] += part.counts[what];
      }
    }
    compareCounts(tree, all, (page, what) =>
      note(errors, 'broken', `${name}: page ${page} ${what}`),
    );
  });
  for (const page of inTwoParts(parts)) note(errors, 'broken', `page ${page} is in two places`);
  if (first!.trees.length > 0) for (const what of tally.violations()) note(errors, 'broken', what);
  for (const { unexplained } of parts) {
    for (const page of unexplained) {
      note(errors, 'broken', `page ${page} is not as the last stop left it`);
    }
  }
  return errors;
}

/** Yields pages that two shares have both reached: the first one of each eight. */
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

function note(errors: DataErrors, kind: 'rows' | 'broken', what: string): void {
  const list = errors[kind];
  if (list.length < listedMax) list.push(what);
}

/** Returns the root descriptors of all tables by name, from the tree of trees. */
export function tablesOf(meta: Meta, walk: PageWalk, damage: Visitor['damage']): Map<string, Tree> {
  const tables = new Map<string, Tree>();
  walk.tree(meta.main, meta.transaction, {
    damage,
    entry({ key, value, isTree }) {
      // lmdb-js ends table names with a zero byte.
      const name = key.toString('latin1').replace('\0', '');
      const tree = isTree && value.length === treeBytes ? treeAt(value, 0) : undefined;
      if (tree !== undefined) tables.set(name, tree);
    },
  });
  return tables;
}

/** Reads a small table whole, by keys in hexadecimal. `refuse` is called for any damage. */
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
  readonly #errors: DataErrors = { entries: 0, rows: [], broken: [] };
  readonly #tally = new CrossCheck();
  readonly #trees: CheckPart['trees'] = [];
  #seen: Uint8Array = new Uint8Array(0);
  /** Pages in use that have changed, and those of them with a damaged row. */
  readonly #suspicious = new Set<number>();
  readonly #explained = new Set<number>();

  constructor(
    private readonly file: PageFile,
    private readonly share: Share,
    private readonly changed: ReadonlySet<number>,
  ) {}

  /** `known`: a fault of the whole file. */
  part(known: string | undefined): CheckPart {
    if (known !== undefined && this.share.index === 0) note(this.#errors, 'broken', known);
    const unexplained = [...this.#suspicious].filter((page) => !this.#explained.has(page));
    const { part: tally } = this.#tally;
    const [errors, trees, seen] = [this.#errors, this.#trees, this.#seen];
    return { errors, tally, trees, seen, unexplained };
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
      else if (isFirst) note(this.#errors, 'broken', `the table ${name} is missing`);
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
      damage: (page, what) => note(this.#errors, 'broken', `${table}: page ${page} ${what}`),
    };
  }

  #table(name: string, tree: Tree, meta: Meta, walk: PageWalk): void {
    const nameSum = sumOfName(name);
    const count = this.#tally.counter(name);
    const entry = (found: PageEntry): void => {
      if (found.isSound(nameSum)) {
        this.#errors.entries++;
        count(found);
        return;
      }
      this.#tally.lose(name);
      this.#explained.add(Math.floor(found.at / pageSize));
      const what = `${name} ${found.key.toString('hex', 0, 32)} fails its checksum`;
      note(this.#errors, named.has(name) ? 'rows' : 'broken', what);
    };
    const visitor = { ...this.#visitor(name), entry };
    const walked = walk.part(tree, meta.transaction, visitor, this.share);
    this.#trees.push([name, tree, walked]);
  }
}
