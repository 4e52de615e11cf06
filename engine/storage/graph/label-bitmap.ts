// The elements of each label, as bitmaps of 2,048 consecutive ids. A scan of a million elements reads 489
// values, and adding or removing an element rewrites 256 bytes under an exact key.
//
//   key (label, id >>> 11)   bit (id & 7) of byte ((id & 2047) >>> 3)
//
// Invariant: a block without a set bit is not stored.
import { checkIntegrity } from '../../base/integrity.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import { getWord } from '../table/little-endian.js';

const blockBits = 11;
export const blockIds = 1 << blockBits;
export const blockBytes = blockIds >>> 3;

/** Number of cached blocks: 1 MiB. */
const cachedBlocksMax = 4096;

/** Blocks per read. The first read is small, for callers that stop early. */
const firstBlocks = 2;
const lastBlocks = 64;

/** Ids per batch, unless one block has more. */
const batchIds = 1024;

/** Adds ids, which ascend; writes each block once. Records the undo steps in `log`, if given. */
export function addAllToList(
  table: Table<BlockKey>,
  label: number,
  ids: readonly number[],
  log?: UndoLog,
): void {
  for (let at = 0; at < ids.length; ) {
    const block = ids[at]! >>> blockBits;
    const former = table.get({ label, block });
    const bits = former?.slice() ?? new Uint8Array(blockBytes);
    for (; at < ids.length && ids[at]! >>> blockBits === block; at++) {
      const inBlock = ids[at]! & (blockIds - 1);
      bits[inBlock >>> 3]! |= 1 << (inBlock & 7);
    }
    if (log === undefined) table.put({ label, block }, bits);
    else log.replace(table, { label, block }, former, bits);
  }
}

/** Removes ids, which ascend; writes each block once. Fails DATA_CORRUPT if one is missing. */
export function removeFromList(
  log: UndoLog,
  table: Table<BlockKey>,
  label: number,
  ids: Uint32Array,
): void {
  for (let at = 0; at < ids.length; ) {
    const key = { label, block: ids[at]! >>> blockBits };
    const former = table.get(key);
    checkIntegrity(former, 'an element is missing in its label list');
    const bits = former.slice();
    for (; at < ids.length && ids[at]! >>> blockBits === key.block; at++) {
      const inBlock = ids[at]! & (blockIds - 1);
      const mask = 1 << (inBlock & 7);
      checkIntegrity(
        (bits[inBlock >>> 3]! & mask) !== 0,
        'an element is missing in its label list',
      );
      bits[inBlock >>> 3]! &= ~mask;
    }
    if (bits.every((byte) => byte === 0)) log.remove(table, key);
    else log.replace(table, key, former, bits);
  }
}

const listStart = { block: 0, before: 0 };

/**
 * Yields the ids of a label, ascending, without the first `skip`. No cursor is open between batches, so the
 * caller may write. `expected`: total number of ids, if there are no concurrent writes; a lost page makes the
 * total smaller and fails DATA_CORRUPT. `from`: a block at or before the first wanted id, with the number of
 * ids before that block.
 */
export function* scanList(
  table: Table<BlockKey>,
  label: number,
  expected?: number,
  skip = 0,
  from = listStart,
): Generator<Uint32Array> {
  const end = { label, block: 0xffffffff };
  let ids = new Uint32Array(batchIds + blockIds);
  let count = 0;
  let listedBefore = from.before;
  let left = skip - from.before;
  let limit = left > blockIds ? lastBlocks : firstBlocks;
  for (let start = { label, block: from.block }; ; ) {
    const entries = table.entries({ start, end, limit });
    for (const { key, value } of entries) {
      const listed = left > 0 ? countIds(value) : 0;
      if (left > 0 && listed <= left) {
        left -= listed;
        listedBefore += listed;
        continue;
      }
      count = unpack(value, key.block * blockIds, ids, count);
      if (left > 0) {
        ids.copyWithin(0, left, count);
        count -= left;
        listedBefore += left;
        left = 0;
      }
      if (count < batchIds) continue;
      listedBefore += count;
      yield ids.subarray(0, count);
      ids = new Uint32Array(batchIds + blockIds);
      count = 0;
    }
    if (entries.length < limit) break;
    limit = Math.min(limit * 4, lastBlocks);
    start = { label, block: entries[entries.length - 1]!.key.block + 1 };
  }
  listedBefore += count;
  checkIntegrity(
    expected === undefined || listedBefore === expected,
    'the list of a type has lost elements',
  );
  if (count > 0) yield ids.subarray(0, count);
}

const noBits = new Uint8Array(blockBytes);

/** Tests many elements for a label: reads each block once. Later writes are not seen. */
export class LabelMembers {
  readonly #blocks = new Map<number, Map<number, Uint8Array>>();
  #count = 0;

  constructor(private readonly table: Table<BlockKey>) {}

  has(label: number, id: number): boolean {
    const block = id >>> blockBits;
    const inBlock = id & (blockIds - 1);
    const bits = this.#blocks.get(label)?.get(block) ?? this.#read(label, block);
    return (bits[inBlock >>> 3]! & (1 << (inBlock & 7))) !== 0;
  }

  #read(label: number, block: number): Uint8Array {
    if (this.#count++ === cachedBlocksMax) this.forget();
    const bits = this.table.get({ label, block }) ?? noBits;
    const blocks = this.#blocks.get(label);
    if (blocks) blocks.set(block, bits);
    else this.#blocks.set(label, new Map([[block, bits]]));
    return bits;
  }

  forget(): void {
    this.#blocks.clear();
    this.#count = 0;
  }
}

/** Returns the number of ids in the bitmap of a block. */
export function countIds(bits: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at += 4) {
    // Count the bits of a word in pairs, fours and bytes, then add the bytes.
    let word = getWord(bits, at);
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** Returns the ids in the bitmap of a block. */
export function idsIn(block: number, bits: Uint8Array): Uint32Array {
  const ids = new Uint32Array(blockIds);
  return ids.subarray(0, unpack(bits, block * blockIds, ids, 0));
}

/** Writes the ids of a block after the first `count` ids; returns the new count. */
function unpack(bits: Uint8Array, first: number, ids: Uint32Array, count: number): number {
  for (let at = 0; at < blockBytes; at += 4) {
    let word = getWord(bits, at);
    while (word !== 0) {
      const lowest = word & -word;
      ids[count++] = first + at * 8 + (31 - Math.clz32(lowest));
      word ^= lowest;
    }
  }
  return count;
}
