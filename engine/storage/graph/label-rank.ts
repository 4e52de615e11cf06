// A rank structure over the label bitmaps: finds the block that contains the n-th element of a label. Each
// block is read and counted once, so a page deep in a type costs as much as the first one.
//
// Elements get ascending ids. A block below the next id gains no element, and until an element leaves a type
// (`removalCount` of meta.ts) it loses none. So for a list that only grows, only new blocks are counted.
//
// Invariant: a result belongs to the snapshot whose state was passed.
import { doubled } from '../../base/u32-array.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import type { LabelState } from './label-state.js';
import { blockIds, countIds } from './label-bitmap.js';

/** Keys per read. */
const keysPerRead = 256;

/** The counted blocks of a list, from its first one. */
interface CountedBlocks {
  blocks: Uint32Array<ArrayBuffer>;
  /** Number of ids before each block. */
  before: Uint32Array<ArrayBuffer>;
  count: number;
  /** Number of ids in all counted blocks. */
  total: number;
}

/** A block, and the number of ids of its list before it. */
interface BlockPosition {
  block: number;
  before: number;
}

export class LabelRank {
  readonly #lists = new Map<number, CountedBlocks>();
  #commits = -1;
  #removalCount = 0;

  constructor(private readonly table: Table<BlockKey>) {}

  /** Returns a block at or before the id at a position of a list, as near as the counts allow. */
  find(
    label: number,
    position: number,
    { nextId, commits, removalCount: departures }: LabelState,
  ): BlockPosition {
    const isCounted = departures !== 0 && departures === this.#removalCount;
    if (!isCounted && commits !== this.#commits) this.#lists.clear();
    this.#removalCount = departures;
    this.#commits = commits;
    let list = this.#lists.get(label);
    if (list === undefined) this.#lists.set(label, (list = noneCounted()));
    if (list.total <= position) this.#count(label, list, position, Math.floor(nextId / blockIds));
    const at = lastUpTo(list, position);
    if (at < 0) return { block: 0, before: 0 };
    return { block: list.blocks[at]!, before: list.before[at]! };
  }

  /** Counts blocks below `settled` until a position is among them. */
  #count(label: number, list: CountedBlocks, position: number, settled: number): void {
    const end = { label, block: settled };
    while (list.total <= position) {
      const block = list.count === 0 ? 0 : list.blocks[list.count - 1]! + 1;
      if (block >= settled) return;
      const keys = this.table.keys({ start: { label, block }, end, limit: keysPerRead });
      for (const key of keys) {
        add(list, key.block, countIds(this.table.peek(key)!));
        if (list.total > position) return;
      }
      if (keys.length < keysPerRead) return;
    }
  }
}

const noneCounted = (): CountedBlocks => {
  return { blocks: new Uint32Array(16), before: new Uint32Array(16), count: 0, total: 0 };
};

function add(list: CountedBlocks, block: number, ids: number): void {
  const at = list.count++;
  if (at === list.blocks.length) {
    list.blocks = doubled(list.blocks);
    list.before = doubled(list.before);
  }
  list.blocks[at] = block;
  list.before[at] = list.total;
  list.total += ids;
}

/** Returns the last block with at most `position` ids before it; -1 if none is counted. */
function lastUpTo({ before, count }: CountedBlocks, position: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
