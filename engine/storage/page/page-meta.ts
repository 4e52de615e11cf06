// What the two meta pages of data.mdb say, and the trees that everything hangs on. Drawn in page.ts.
import { type PageFile, pageKinds, pageSize, wideAt } from './page.js';

const magic = 0xbeefc0de;
const dataFormat = 2;

/** A B-tree as what leads to it describes it. */
export interface Tree {
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  /** -1: the tree is empty. */
  root: number;
}

export interface Meta {
  /** Of free pages. */
  free: Tree;
  /** Of trees, by name. */
  main: Tree;
  lastPage: number;
  transaction: number;
}

export const treeBytes = 48;
const emptyRoot = 2n ** 64n - 1n;

/** The description of a tree; undefined when it is of a kind that we do not make. */
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

/** What a meta page says, undefined when it is none. */
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

/** Those of a file, as `metasIn` has them. */
export function metasOf(file: PageFile, { evenOne = false } = {}): Meta[] {
  const head = Buffer.alloc(metaPages * pageSize);
  return file.read(0, metaPages, head) ? metasIn(head, { evenOne }) : [];
}

/**
 * The two meta pages, none when they are not as LMDB leaves them: it would die of a bad one, or go by
 * what it happens to say. They are of transactions that follow each other, but in a compacted copy.
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

/** The meta page of the newest transaction. */
export const newestOf = (metas: readonly Meta[]): Meta =>
  metas.reduce((a, b) => (b.transaction > a.transaction ? b : a));
