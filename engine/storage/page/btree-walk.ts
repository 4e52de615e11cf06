// Walks the B-trees of a data file page by page, and verifies all that one page states about another. These
// are number, kind and age, order and bounds of the keys, depth and number of entries. No page may occur
// twice. The layouts are drawn in page.ts.
//
// Invariant: never throws because of the file's content. The walk reports damage to the visitor and continues
// with all that is still readable. The visitor verifies the checksums of values, which cover their keys.
import { PageEntry } from './page-entry.js';
import { type PageFile, halfAt, pageHead, pageKinds, pageSize, wideAt } from './page.js';
import type { Tree } from './page-meta.js';
import { getWord } from '../table/little-endian.js';

/** Receives what a walk finds. */
export interface Visitor {
  entry(entry: PageEntry): void;
  /** A page, or the tree below it, cannot be walked. */
  damage(page: number, what: string): void;
  /** Called for pages in use, before their entries. */
  page?(first: number, count: number): void;
}

export type Order = (a: Buffer, b: Buffer) => number;

/** Order of the tree of free pages: its keys are transaction numbers, u64. Other keys have no order. */
export const byTransaction: Order = (a, b) => transactionOf(a) - transactionOf(b);

const transactionOf = (key: Buffer): number => (key.length === 8 ? wideAt(key, 0) : Number.NaN);

interface Bounds {
  /** Inclusive lower bound, or undefined for none. */
  low: Buffer | undefined;
  /** Exclusive upper bound, or undefined for none. */
  high: Buffer | undefined;
}

/** One of several walks that share a tree. The subtrees are dealt out in rotation. */
export interface Share {
  /** The walk with index 0 also takes the pages above the dealt subtrees. */
  index: number;
  of: number;
}

export const whole: Share = { index: 0, of: 1 };

/** Number of pages and entries found in a tree. */
type TreeCounts = {
  -readonly [K in 'branchPages' | 'leafPages' | 'overflowPages' | 'entries']: number;
};

export interface WalkResult {
  counts: TreeCounts;
  /** Number of damages reported. If it is not 0, the counts are incomplete. */
  damaged: number;
}

const noCounts = (): TreeCounts => {
  return { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
};

const nodeHead = 8;
const keyMax = 2048;
/** A compacting copy writes this age for all long values. */
const ageInCopies = 1;
const overflowFlag = 1;
const isTreeFlag = 2;

export class PageWalk {
  /** Pages seen so far, one bit each. */
  readonly #seen: Uint8Array;
  readonly #levels: Buffer[] = [];

  constructor(
    private readonly file: PageFile,
    private readonly lastPage: number,
  ) {
    this.#seen = new Uint8Array((Math.min(lastPage, file.pages) >>> 3) + 1);
  }

  hasSeen(page: number): boolean {
    return (this.#seen[page >>> 3]! & (1 << (page & 7))) !== 0;
  }

  /** Pages seen so far, one bit each. */
  get seen(): Uint8Array {
    return this.#seen;
  }

  /**
   * Walks a tree whose root descriptor stands in a page of `transaction`. `compare`: the order of its keys.
   */
  tree(tree: Tree, transaction: number, visitor: Visitor, compare: Order = Buffer.compare): void {
    compareCounts(tree, this.part(tree, transaction, visitor, whole, compare), visitor.damage);
  }

  /** Walks a share of a tree. `compareCounts` then checks what all shares have found together. */
  part(
    tree: Tree,
    transaction: number,
    visitor: Visitor,
    share: Share,
    compare: Order = Buffer.compare,
  ): WalkResult {
    const walked = { counts: noCounts(), damaged: 0 };
    const counting: Visitor = {
      entry: visitor.entry.bind(visitor),
      damage(page, what) {
        walked.damaged++;
        visitor.damage(page, what);
      },
      ...(visitor.page && { page: visitor.page.bind(visitor) }),
    };
    const unitDepth = unitDepthOf(tree, share);
    if (tree.root >= 0 && (unitDepth > 0 || share.index === 0)) {
      const context = { compare, transaction, share, unitDepth };
      const walk = new TreeWalk(this.file, this, counting, walked.counts, context);
      walk.page(tree.root, tree.depth, transaction, { low: undefined, high: undefined });
    }
    return walked;
  }

  /** Visits the entries of a leaf page that no tree leads to. `number`: the page number in its head. */
  leaf(page: number, number: number, transaction: number, entry: Visitor['entry']): void {
    const visitor = { entry, damage() {} };
    const how = { compare: Buffer.compare, transaction, share: whole, unitDepth: 0 };
    new TreeWalk(this.file, this, visitor, noCounts(), how).leaf(page, number);
  }

  /** Marks pages as seen. Returns what is wrong with them, or undefined. */
  take(first: number, count: number): string | undefined {
    if (!(first >= 2 && first + count - 1 <= this.lastPage)) return 'is beyond the last page';
    if (first + count > this.file.pages) return 'is beyond the end of the file';
    for (let page = first; page < first + count; page++) {
      if (this.hasSeen(page)) return 'is in two places';
      this.#seen[page >>> 3]! |= 1 << (page & 7);
    }
    return undefined;
  }

  /** Returns the buffer for pages at a depth, which the next page of that depth overwrites. */
  buffer(depth: number): Buffer {
    return (this.#levels[depth] ??= Buffer.alloc(pageSize));
  }
}

/** Compares the counts of a tree with its root descriptor. */
export function compareCounts(
  tree: Tree,
  { counts, damaged }: WalkResult,
  damage: Visitor['damage'],
): void {
  if (damaged > 0) return;
  for (const name of ['entries', 'branchPages', 'leafPages', 'overflowPages'] as const) {
    if (counts[name] === tree[name]) continue;
    damage(tree.root, `the tree has ${counts[name]} ${name}, not ${tree[name]}`);
  }
}

/**
 * Returns the depth of the dealt subtrees: one or two levels below the root, so that there are enough of
 * them; 0 if the tree is not shared.
 */
function unitDepthOf({ depth }: Tree, { of }: Share): number {
  if (of === 1 || depth < 2) return 0;
  return depth > 3 ? depth - 2 : depth - 1;
}

interface WalkContext {
  compare: Order;
  /** Transaction number of the walked snapshot. */
  transaction: number;
  share: Share;
  /** Depth of the dealt subtrees; 0 if the tree is not shared. */
  unitDepth: number;
}

class TreeWalk {
  #overflow = Buffer.alloc(4 * pageSize);
  readonly #entry = new PageEntry();
  #unit = 0;

  constructor(
    private readonly file: PageFile,
    private readonly walk: PageWalk,
    private readonly visitor: Visitor,
    private readonly counts: TreeCounts,
    private readonly context: WalkContext,
  ) {}

  page(number: number, depth: number, transaction: number, bounds: Bounds): void {
    const { visitor, counts } = this;
    const { share, unitDepth } = this.context;
    if (depth === unitDepth && this.#unit++ % share.of !== share.index) return;
    // All walks read the pages above the shares; the first one reports them.
    const isOwn = (unitDepth > 0 && depth <= unitDepth) || share.index === 0;
    const report = (what: string): void => {
      if (isOwn) visitor.damage(number, what);
    };
    const isDeep = depth < 1 || depth > 32;
    const wrong = isDeep ? 'is too deep' : isOwn ? this.walk.take(number, 1) : undefined;
    if (wrong !== undefined) return report(wrong);
    const page = this.walk.buffer(depth);
    const isRead = this.file.read(number, 1, page);
    const error = isRead ? headError(page, number, depth, transaction) : 'cannot be read';
    if (error !== undefined) return report(error);
    if (isOwn) {
      visitor.page?.(number, 1);
      counts[depth > 1 ? 'branchPages' : 'leafPages']++;
    }
    if (depth > 1) this.#branch(page, depth, bounds, report);
    else this.#leaf(number, page, bounds);
  }

  #branch(page: Buffer, depth: number, bounds: Bounds, report: (what: string) => void): void {
    const transaction = wideAt(page, 8);
    const all = nodeOffsets(page);
    const nodes = all.filter((at) => isNode(page, at, false));
    if (nodes.length < all.length) report('has nodes out of place');
    // Copied: the keys outlive this buffer, which the walk reuses for the next page of this depth.
    const children = nodes.map((at, i) => ({
      page: getWord(page, at) + halfAt(page, at + 4) * 2 ** 32,
      low: i === 0 ? bounds.low : Buffer.from(nodeKey(page, at)),
    }));
    const isInOrder = children.every(({ low }, i) => {
      if (i === 0) return true;
      return this.#isWithin(low!, { low: children[i - 1]!.low, high: bounds.high }, i > 1);
    });
    if (!isInOrder) report('has keys out of order');
    children.forEach(({ page: child, low }, i) => {
      const high = i + 1 < children.length ? children[i + 1]!.low : bounds.high;
      this.page(child, depth - 1, transaction, isInOrder ? { low, high } : bounds);
    });
  }

  #leaf(number: number, page: Buffer, bounds: Bounds): void {
    const { visitor, counts } = this;
    const entry = this.#entry;
    const last = pageHead + halfAt(page, 20);
    let [first, before, isInOrder, isSound] = [0, 0, true, true];
    for (let offset = pageHead; offset < last; offset += 2) {
      const at = halfAt(page, offset) + pageHead;
      if (!isNode(page, at, true)) {
        isSound = false;
        continue;
      }
      if (first === 0) first = at;
      else if (!this.#isAfter(page, before, at)) isInOrder = false;
      before = at;
      const flags = halfAt(page, at + 4);
      const keyAt = at + nodeHead;
      const keyEnd = keyAt + halfAt(page, at + 6);
      if (keyEnd === keyAt) isInOrder = false;
      const size = getWord(page, at);
      counts.entries++;
      entry.page = page;
      entry.keyAt = keyAt;
      entry.keyEnd = keyEnd;
      if ((flags & overflowFlag) !== 0) this.#overflowValue(page, keyEnd, size);
      else {
        entry.bytes = page;
        entry.valueAt = keyEnd;
        entry.valueEnd = keyEnd + size;
        entry.at = number * pageSize + keyEnd;
        entry.isTree = (flags & isTreeFlag) !== 0;
        visitor.entry(entry);
      }
    }
    if (!isSound) visitor.damage(wideAt(page, 0), 'has nodes out of place');
    // If the keys are in order and the first and last are within the bounds, all are.
    const isWithin = (at: number): boolean => this.#isWithin(nodeKey(page, at), bounds, false);
    if (first !== 0 && !(isInOrder && isWithin(first) && isWithin(before))) {
      visitor.damage(number, 'has keys out of order');
    }
  }

  /** Whether the key of one node comes after that of another node of the page. */
  #isAfter(page: Buffer, before: number, at: number): boolean {
    const { compare } = this.context;
    if (compare !== Buffer.compare) return compare(nodeKey(page, before), nodeKey(page, at)) < 0;
    const [a, b] = [before + nodeHead, at + nodeHead];
    const [sizeA, sizeB] = [halfAt(page, before + 6), halfAt(page, at + 6)];
    const shared = Math.min(sizeA, sizeB);
    for (let i = 0; i < shared; i++) {
      const difference = page[a + i]! - page[b + i]!;
      if (difference !== 0) return difference < 0;
    }
    return sizeA < sizeB;
  }

  /** Visits the entries of the leaf page `number`, which is at `position` of the file. */
  leaf(position: number, number: number): void {
    const page = this.walk.buffer(1);
    if (!this.file.read(position, 1, page)) return;
    if (headError(page, number, 1, this.context.transaction) !== undefined) return;
    this.#leaf(position, page, { low: undefined, high: undefined });
  }

  /** `above`: the key must differ from the lower bound. */
  #isWithin(key: Buffer, { low, high }: Bounds, above: boolean): boolean {
    const { compare } = this.context;
    const order = low === undefined ? -1 : compare(low, key);
    if (order > 0 || (above && order === 0)) return false;
    return high === undefined || compare(key, high) < 0;
  }

  /** Visits a value on overflow pages, whose age stands in the node. */
  #overflowValue(page: Buffer, at: number, size: number): void {
    const { visitor } = this;
    const [first, writtenBy, count] = [
      wideAt(page, at),
      wideAt(page, at + 8),
      wideAt(page, at + 16),
    ];
    const needed = Math.floor((pageHead - 1 + size) / pageSize) + 1;
    const wrong = count >= needed ? this.walk.take(first, count) : 'is too short for its value';
    if (wrong !== undefined) {
      visitor.damage(first, wrong);
      return;
    }
    if (needed * pageSize > this.#overflow.length) this.#overflow = Buffer.alloc(needed * pageSize);
    const isRead = this.file.read(first, needed, this.#overflow);
    const own = wideAt(this.#overflow, 8);
    const isRight =
      isRead &&
      wideAt(this.#overflow, 0) === first &&
      kindOf(this.#overflow) === pageKinds.overflow &&
      getWord(this.#overflow, 20) === count &&
      own <= this.context.transaction &&
      (writtenBy === own || writtenBy === ageInCopies);
    if (!isRight) {
      visitor.damage(first, 'is not the page of a long value');
      return;
    }
    this.counts.overflowPages += count;
    visitor.page?.(first, count);
    const entry = this.#entry;
    entry.bytes = this.#overflow;
    entry.valueAt = pageHead;
    entry.valueEnd = pageHead + size;
    entry.at = first * pageSize + pageHead;
    entry.isTree = false;
    visitor.entry(entry);
  }
}

/** The higher flags are LMDB's working state of the page. */
const kindOf = (page: Buffer): number => halfAt(page, 18) & 0x7f;

/** Returns what is wrong with the head of a page, or undefined. */
function headError(
  page: Buffer,
  number: number,
  depth: number,
  transaction: number,
): string | undefined {
  if (wideAt(page, 0) !== number) return `says that it is page ${wideAt(page, 0)}`;
  const kind = depth > 1 ? pageKinds.branch : pageKinds.leaf;
  if (kindOf(page) !== kind) return `is no ${depth > 1 ? 'branch' : 'leaf'} page`;
  if (wideAt(page, 8) > transaction) return 'is newer than the page that leads to it';
  const [lower, upper] = [halfAt(page, 20), halfAt(page, 22)];
  const isSound = lower % 2 === 0 && lower <= upper && upper <= pageSize - pageHead;
  return isSound && lower >= (depth > 1 ? 4 : 2) ? undefined : 'has a free space out of place';
}

/** Returns the offsets of the nodes as the page lists them. */
function nodeOffsets(page: Buffer): number[] {
  const end = pageHead + halfAt(page, 20);
  const offsets: number[] = [];
  for (let at = pageHead; at < end; at += 2) offsets.push(halfAt(page, at) + pageHead);
  return offsets;
}

function isNode(page: Buffer, node: number, isLeaf: boolean): boolean {
  if (node < halfAt(page, 22) + pageHead || node + nodeHead > pageSize) return false;
  const keySize = halfAt(page, node + 6);
  const keyEnd = node + nodeHead + keySize;
  if (keySize > keyMax || keyEnd > pageSize) return false;
  if (!isLeaf) return true;
  const flags = halfAt(page, node + 4);
  const size = (flags & overflowFlag) !== 0 ? pageHead : getWord(page, node);
  return flags <= isTreeFlag && keyEnd + size <= pageSize;
}

const nodeKey = (page: Buffer, at: number): Buffer =>
  page.subarray(at + nodeHead, at + nodeHead + halfAt(page, at + 6));
