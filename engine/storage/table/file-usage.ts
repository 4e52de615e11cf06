// What the data file holds, in pages. Owns the reading of LMDB's figures.
import type { RootDatabase } from 'lmdb';

export interface Usage {
  mapBytes: number;
  /** Of the file, up to its last page; what lies behind it is only kept ready. */
  fileBytes: number;
  pageBytes: number;
  /** Pages that the next transactions may use again. */
  freePages: number;
  /** Threads that have a place in LMDB's table of readers. */
  readers: number;
  /** Of the table with the keyword postings. */
  derivedBytes: number;
}

export interface TreeStats {
  entryCount: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

interface RootStats extends TreeStats {
  root: TreeStats;
  free: TreeStats;
  pageSize: number;
  mapSize: number;
  lastPageNumber: number;
  numReaders: number;
}

export const pagesOf = (tree: TreeStats): number =>
  tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;

/** Pages 0 and 1 of the file. */
const metaPages = 2;

/** How far LMDB has used the file. */
export function endOf(root: RootDatabase): number {
  const { lastPageNumber, pageSize } = root.getStats() as RootStats;
  return (lastPageNumber + 1) * pageSize;
}

export function usageOf(
  root: RootDatabase,
  tables: Record<string, { readonly pages: number }>,
): Usage {
  const stats = root.getStats() as RootStats;
  let pages = metaPages + pagesOf(stats.root) + pagesOf(stats.free);
  for (const table of Object.values(tables)) pages += table.pages;
  return {
    mapBytes: stats.mapSize,
    fileBytes: (stats.lastPageNumber + 1) * stats.pageSize,
    pageBytes: stats.pageSize,
    freePages: Math.max(0, stats.lastPageNumber + 1 - pages),
    readers: stats.numReaders,
    derivedBytes: tables.derived!.pages * stats.pageSize,
  };
}
