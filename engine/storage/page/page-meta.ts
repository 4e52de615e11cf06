// Reads the two meta pages of data.mdb and the root descriptors in them. page.ts draws the layouts.
import { type PageFile, pageKinds, pageSize, wideAt } from './page.js';

const magic = 0xbeefc0de;
const dataFormat = 2;

/** Root descriptor of a B-tree, as its parent stores it. */
export interface Tree {
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  /** Page number of the root; -1 for an empty tree. */
  root: number;
}

export interface Meta {
  /** Tree of free pages. */
  free: Tree;
  /** Tree of trees, by table name. */
  main: Tree;
  lastPage: number;
  transaction: number;
}

export const treeBytes = 48;
const emptyRoot = 2n ** 64n - 1n;

/** Returns a root descriptor, or undefined if the tree is of a kind that this store does not create. */
export function treeAt(page: Buffer, at: number): Tree | undefined {
  const isPlain = page.readUInt32LE(at) === 0 && page.readUInt16LE(at + 4) === 0;
  return isPlain ? bareTreeAt(page, at) : undefined;
}

function bareTreeAt(page: Buffer, at: number): Tree {
  return {
    depth: page.readUInt16LE(at + 6),
    branchPages: wideAt(page, at + 8),
    leafPages: wideAt(page, at + 16),
    overflowPages: wideAt(page, at + 24),
    entries: wideAt(page, at + 32),
    root: page.readBigUInt64LE(at + 40) === emptyRoot ? -1 : wideAt(page, at + 40),
  };
}

/** Returns the content of a meta page, or undefined if it is none. */
function metaAt(page: Buffer): Meta | undefined {
  if (page.readUInt16LE(18) !== pageKinds.meta || page.readUInt32LE(24) !== magic) return undefined;
  if (page.readUInt32LE(28) !== dataFormat || page.readUInt32LE(48) !== pageSize) return undefined;
  const main = treeAt(page, 96);
  return (
    main && {
      free: bareTreeAt(page, 48),
      main,
      lastPage: wideAt(page, 144),
      transaction: wideAt(page, 152),
    }
  );
}

export const metaPages = 2;

/** Returns the meta pages of a file, as `metasIn` does. */
export function metasOf(file: PageFile, { evenOne = false } = {}): Meta[] {
  const head = Buffer.alloc(metaPages * pageSize);
  return file.read(0, metaPages, head) ? metasIn(head, { evenOne }) : [];
}

/**
 * Returns the two meta pages, or none if one is invalid: LMDB would crash on it, or read wrong pages. Except
 * in a compacted copy, the numbers of their transactions differ by at most 1. With `evenOne`, one valid page
 * is enough.
 */
export function metasIn(head: Buffer, { evenOne = false } = {}): Meta[] {
  const [even, odd] = [metaAt(head), metaAt(head.subarray(pageSize))];
  if (evenOne) return [even, odd].filter((meta) => meta !== undefined);
  if (even === undefined || odd === undefined) return [];
  if (head.readUInt16LE(52) !== head.readUInt16LE(pageSize + 52)) return [];
  const ages = [even.transaction, odd.transaction];
  const isNext = Math.abs(ages[0]! - ages[1]!) <= 1 || Math.min(...ages) === 0;
  return isNext ? [even, odd] : [];
}

/** Returns the meta page of the newest transaction. */
export const newestOf = (metas: readonly Meta[]): Meta =>
  metas.reduce((a, b) => (b.transaction > a.transaction ? b : a));
