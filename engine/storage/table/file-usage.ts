// Reads the space usage of the data file from LMDB's statistics.
import type { RootDatabase } from 'lmdb';

export interface Usage {
  mapBytes: number;
  /** Bytes up to the last page; preallocated space after it does not count. */
  fileBytes: number;
  pageBytes: number;
  /** Pages that later transactions may reuse. */
  freePages: number;
  /** Threads that have a slot in LMDB's reader table. */
  readers: number;
  /** Bytes of the table with the keyword postings. */
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

/** Returns the number of bytes of the file that LMDB uses. */
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
