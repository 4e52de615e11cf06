// Walks the trees of a data file page by page and compares every promise that one page makes about
// another: its number, kind and age, the order and the bounds of its keys, the depth of the tree, the
// number of its entries, and that no page is in two places. Layouts are drawn in page.ts.
//
// Invariant: never throws for what the file holds; what is wrong is told to the visitor, and the walk
// goes on with everything else that can be told apart: the checksums of values, which cover their keys,
// are for the visitor to compare.
import { type PageFile, pageHead, pageKinds, pageSize, wideAt } from './page.js';
import type { Tree } from './page-meta.js';

/** Hears of what a walk meets. Bytes are valid until it returns. */
export interface Visitor {
  /** `at` is the byte of the file where the value begins. */
  entry(key: Buffer, value: Buffer, at: number, isTree: boolean): void;
  /** A page, or what is below it, cannot be walked. */
  damage(page: number, what: string): void;
  /** Pages that are in use, before what is in them. */
  page?(first: number, count: number): void;
}

export type Order = (a: Buffer, b: Buffer) => number;

/** Of the tree of free pages: numbers of transactions, u64; other keys are in no order. */
export const byTransaction: Order = (a, b) => ageOf(a) - ageOf(b);

const ageOf = (key: Buffer): number => (key.length === 8 ? wideAt(key, 0) : Number.NaN);

interface Bounds {
  /** Inclusive; undefined: none. */
  low: Buffer | undefined;
  /** Exclusive. */
  high: Buffer | undefined;
}

const nodeHead = 8;
const keyMax = 2048;
/** What a compacting copy says of all its long values. */
const ageInCopies = 1;
const elsewhere = 1;
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

  /** Walks a tree that a page of `transaction` leads to. `compare`: how its keys are ordered. */
  tree(tree: Tree, transaction: number, visitor: Visitor, compare: Order = Buffer.compare): void {
    const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    let damaged = 0;
    const counting: Visitor = {
      entry: visitor.entry.bind(visitor),
      damage(page, what) {
        damaged++;
        visitor.damage(page, what);
      },
      ...(visitor.page && { page: visitor.page.bind(visitor) }),
    };
    if (tree.root >= 0) {
      const bounds = { low: undefined, high: undefined };
      const walk = new TreeWalk(this.file, this, counting, found, compare, transaction);
      walk.page(tree.root, tree.depth, transaction, bounds);
    }
    if (damaged > 0) return;
    for (const name of ['entries', 'branchPages', 'leafPages', 'overflowPages'] as const) {
      if (found[name] === tree[name]) continue;
      visitor.damage(tree.root, `the tree has ${found[name]} ${name}, not ${tree[name]}`);
    }
  }

  /** The entries of a leaf page that no tree leads to. `number`: what it says it is. */
  leaf(place: number, number: number, transaction: number, entry: Visitor['entry']): void {
    const visitor = { entry, damage() {} };
    const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    new TreeWalk(this.file, this, visitor, found, Buffer.compare, transaction).leaf(place, number);
  }

  /** Notes pages; what is wrong with them, if anything. */
  take(first: number, count: number): string | undefined {
    if (!(first >= 2 && first + count - 1 <= this.lastPage)) return 'is beyond the last page';
    if (first + count > this.file.pages) return 'is beyond the end of the file';
    for (let page = first; page < first + count; page++) {
      if (this.hasSeen(page)) return 'is in two places';
      this.#seen[page >>> 3]! |= 1 << (page & 7);
    }
    return undefined;
  }

  /** The bytes of a page at a depth, which the next page of that depth takes. */
  buffer(depth: number): Buffer {
    return (this.#levels[depth] ??= Buffer.alloc(pageSize));
  }
}

type Counts = {
  -readonly [K in 'branchPages' | 'leafPages' | 'overflowPages' | 'entries']: number;
};

class TreeWalk {
  #overflow = Buffer.alloc(4 * pageSize);

  constructor(
    private readonly file: PageFile,
    private readonly walk: PageWalk,
    private readonly visitor: Visitor,
    private readonly counts: Counts,
    private readonly compare: Order,
    /** Of the state that is walked. */
    private readonly transaction: number,
  ) {}

  page(number: number, depth: number, transaction: number, bounds: Bounds): void {
    const { visitor, counts } = this;
    const wrong = depth < 1 || depth > 32 ? 'is too deep' : this.walk.take(number, 1);
    if (wrong !== undefined) {
      visitor.damage(number, wrong);
      return;
    }
    const page = this.walk.buffer(depth);
    const isRead = this.file.read(number, 1, page);
    const fault = isRead ? faultOf(page, number, depth, transaction) : 'cannot be read';
    if (fault !== undefined) {
      visitor.damage(number, fault);
      return;
    }
    const nodes = this.#nodesOf(page);
    const own = wideAt(page, 8);
    visitor.page?.(number, 1);
    if (depth > 1) {
      counts.branchPages++;
      this.#branch(page, nodes, depth, own, bounds);
    } else {
      counts.leafPages++;
      this.#leaf(number, page, nodes, bounds);
    }
  }

  #branch(page: Buffer, nodes: number[], depth: number, transaction: number, bounds: Bounds): void {
    const number = wideAt(page, 0);
    // Copied: the walk below takes this buffer for pages of its own depth only, but keys outlive it.
    const children = nodes.map((at, i) => ({
      page: page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 2 ** 32,
      low: i === 0 ? bounds.low : Buffer.from(keyOf(page, at)),
    }));
    const isInOrder = children.every(({ low }, i) => {
      if (i === 0) return true;
      return this.#isWithin(low!, { low: children[i - 1]!.low, high: bounds.high }, i > 1);
    });
    if (!isInOrder) this.visitor.damage(number, 'has keys out of order');
    children.forEach(({ page: child, low }, i) => {
      const high = i + 1 < children.length ? children[i + 1]!.low : bounds.high;
      this.page(child, depth - 1, transaction, isInOrder ? { low, high } : bounds);
    });
  }

  #leaf(place: number, page: Buffer, nodes: number[], bounds: Bounds): void {
    let before: Buffer | undefined;
    let isInOrder = true;
    for (const at of nodes) {
      const key = keyOf(page, at);
      const isNext = before === undefined || this.compare(before, key) < 0;
      const isRight = key.length > 0 && isNext && this.#isWithin(key, bounds, false);
      if (isInOrder && !isRight) {
        isInOrder = false;
        this.visitor.damage(place, 'has keys out of order');
      }
      before = key;
      const flags = page.readUInt16LE(at + 4);
      const start = at + nodeHead + key.length;
      const size = page.readUInt32LE(at);
      this.counts.entries++;
      if ((flags & elsewhere) !== 0) this.#elsewhere(key, page, start, size);
      else {
        const value = page.subarray(start, start + size);
        this.visitor.entry(key, value, place * pageSize + start, (flags & isTreeFlag) !== 0);
      }
    }
  }

  /** The entries of the leaf page `number`, which stands at `place`. */
  leaf(place: number, number: number): void {
    const page = this.walk.buffer(1);
    if (!this.file.read(place, 1, page)) return;
    if (faultOf(page, number, 1, this.transaction) !== undefined) return;
    this.#leaf(place, page, this.#nodesOf(page), { low: undefined, high: undefined });
  }

  /** Where the nodes of a page are that lie within it. */
  #nodesOf(page: Buffer): number[] {
    const nodes = placesOf(page);
    const sound = nodes.filter((at) => isNode(page, at));
    if (sound.length < nodes.length) this.visitor.damage(wideAt(page, 0), 'has nodes out of place');
    return sound;
  }

  /** `above`: the key must not be the lower bound itself. */
  #isWithin(key: Buffer, { low, high }: Bounds, above: boolean): boolean {
    const order = low === undefined ? -1 : this.compare(low, key);
    if (order > 0 || (above && order === 0)) return false;
    return high === undefined || this.compare(key, high) < 0;
  }

  /** A value in pages of its own, whose age the node tells. */
  #elsewhere(key: Buffer, page: Buffer, at: number, size: number): void {
    const { visitor } = this;
    const [first, said, count] = [wideAt(page, at), wideAt(page, at + 8), wideAt(page, at + 16)];
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
      this.#overflow.readUInt32LE(20) === count &&
      own <= this.transaction &&
      (said === own || said === ageInCopies);
    if (!isRight) {
      visitor.damage(first, 'is not the page of a long value');
      return;
    }
    this.counts.overflowPages += count;
    visitor.page?.(first, count);
    const value = this.#overflow.subarray(pageHead, pageHead + size);
    visitor.entry(key, value, first * pageSize + pageHead, false);
  }
}

/** The higher flags say how LMDB was at work on the page. */
const kindOf = (page: Buffer): number => page.readUInt16LE(18) & 0x7f;

/** What is wrong with the head of a page. */
function faultOf(
  page: Buffer,
  number: number,
  depth: number,
  transaction: number,
): string | undefined {
  if (wideAt(page, 0) !== number) return `says that it is page ${wideAt(page, 0)}`;
  const kind = depth > 1 ? pageKinds.branch : pageKinds.leaf;
  if (kindOf(page) !== kind) return `is no ${depth > 1 ? 'branch' : 'leaf'} page`;
  if (wideAt(page, 8) > transaction) return 'is newer than the page that leads to it';
  const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
  const isSound = lower % 2 === 0 && lower <= upper && upper <= pageSize - pageHead;
  return isSound && lower >= (depth > 1 ? 4 : 2) ? undefined : 'has a free space out of place';
}

/** Where the nodes of a page are said to be. */
function placesOf(page: Buffer): number[] {
  const end = pageHead + page.readUInt16LE(20);
  const places: number[] = [];
  for (let at = pageHead; at < end; at += 2) places.push(page.readUInt16LE(at) + pageHead);
  return places;
}

function isNode(page: Buffer, node: number): boolean {
  if (node < page.readUInt16LE(22) + pageHead || node + nodeHead > pageSize) return false;
  const keySize = page.readUInt16LE(node + 6);
  const keyEnd = node + nodeHead + keySize;
  if (keySize > keyMax || keyEnd > pageSize) return false;
  if (kindOf(page) !== pageKinds.leaf) return true;
  const flags = page.readUInt16LE(node + 4);
  const size = (flags & elsewhere) !== 0 ? pageHead : page.readUInt32LE(node);
  return flags <= isTreeFlag && keyEnd + size <= pageSize;
}

const keyOf = (page: Buffer, at: number): Buffer =>
  page.subarray(at + nodeHead, at + nodeHead + page.readUInt16LE(at + 6));
