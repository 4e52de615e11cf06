// Where the blocks of the lists of types begin, counted in elements, for whoever wants those from some
// position on: a block is read to be counted once, and a page deep in a type costs what the first one does.
//
// Elements get rising ids. So a block below the next id gets none that are new, and until an element leaves
// a type (`departures` of meta.ts) it holds what it held: of a list that only grows, what is new is counted.
//
// Invariant: a place is that of the snapshot whose state was given.
import { doubled } from '../../base/u32-array.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import type { LabelState } from './label-state.js';
import { blockIds, listedIn } from './label-bitmap.js';

/** Keys read at a time. */
const keysPerRead = 256;

/** The blocks of a list from its first one on, as far as they were counted. */
interface Counted {
  blocks: Uint32Array<ArrayBuffer>;
  /** Ids before each of them. */
  before: Uint32Array<ArrayBuffer>;
  count: number;
  /** Ids in all of them. */
  total: number;
}

/** A block, and how many ids of its list stand before it. */
interface ListPlace {
  block: number;
  before: number;
}

export class LabelRank {
  readonly #lists = new Map<number, Counted>();
  #commits = -1;
  #removalCount = 0;

  constructor(private readonly table: Table<BlockKey>) {}

  /** A block at or before that of the id at a position of a list, as near as is known. */
  find(
    label: number,
    position: number,
    { nextId, commits, removalCount: departures }: LabelState,
  ): ListPlace {
    const isCounted = departures !== 0 && departures === this.#removalCount;
    if (!isCounted && commits !== this.#commits) this.#lists.clear();
    this.#removalCount = departures;
    this.#commits = commits;
    let list = this.#lists.get(label);
    if (list === undefined) this.#lists.set(label, (list = noneCounted()));
    if (list.total <= position) this.#count(label, list, position, Math.floor(nextId / blockIds));
    const at = lastAtMost(list, position);
    if (at < 0) return { block: 0, before: 0 };
    return { block: list.blocks[at]!, before: list.before[at]! };
  }

  /** Counts blocks below `settled` until a position is among them. */
  #count(label: number, list: Counted, position: number, settled: number): void {
    const end = { label, block: settled };
    while (list.total <= position) {
      const block = list.count === 0 ? 0 : list.blocks[list.count - 1]! + 1;
      if (block >= settled) return;
      const keys = this.table.keys({ start: { label, block }, end, limit: keysPerRead });
      for (const key of keys) {
        add(list, key.block, listedIn(this.table.peek(key)!));
        if (list.total > position) return;
      }
      if (keys.length < keysPerRead) return;
    }
  }
}

const noneCounted = (): Counted => {
  return { blocks: new Uint32Array(16), before: new Uint32Array(16), count: 0, total: 0 };
};

function add(list: Counted, block: number, ids: number): void {
  const at = list.count++;
  if (at === list.blocks.length) {
    list.blocks = doubled(list.blocks);
    list.before = doubled(list.before);
  }
  list.blocks[at] = block;
  list.before[at] = list.total;
  list.total += ids;
}

/** The last block before which no more than `position` ids stand; -1 when none is counted. */
function lastAtMost({ before, count }: Counted, position: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
