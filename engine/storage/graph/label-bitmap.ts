// Which elements a label has: bitmaps of 2,048 consecutive ids, so that a scan of a million
// elements reads 489 values, and adding or removing one rewrites 256 bytes under an exact key.
//
//   key (label, id >>> 11)   bit (id & 7) of byte ((id & 2047) >>> 3)
//
// Invariant: a block with no bit set is not stored.
import { checkIntegrity } from '../../base/integrity.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import { getWord } from '../table/little-endian.js';

const blockBits = 11;
export const blockIds = 1 << blockBits;
export const blockBytes = blockIds >>> 3;

/** Blocks that are remembered, a mebibyte. */
const blocksKept = 4096;

/** Blocks read at a time: few at first, so that whoever stops early has read little. */
const firstBlocks = 2;
const lastBlocks = 64;

/** Ids handed out at a time unless a block alone has more. */
const batchIds = 1024;

/**
 * Adds ids, ascending; each block is written once. Notes in `log`, where there is one, what undoes it.
 */
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

/** Removes ids, ascending; each block is written once. */
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
 * All ids of a label, ascending, but for the first `skip`. No cursor is open while the caller works, so
 * that it may write meanwhile. `expected`: how many there must be, where nobody writes; a page that is
 * lost shows as fewer. `from`: a block that is known to hold the first wanted, or to stand before it, and
 * how many ids are before that block.
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
  let given = from.before;
  let left = skip - from.before;
  let limit = left > blockIds ? lastBlocks : firstBlocks;
  for (let start = { label, block: from.block }; ; ) {
    const entries = table.entries({ start, end, limit });
    for (const { key, value } of entries) {
      const listed = left > 0 ? listedIn(value) : 0;
      if (left > 0 && listed <= left) {
        left -= listed;
        given += listed;
        continue;
      }
      count = unpack(value, key.block * blockIds, ids, count);
      if (left > 0) {
        ids.copyWithin(0, left, count);
        count -= left;
        given += left;
        left = 0;
      }
      if (count < batchIds) continue;
      given += count;
      yield ids.subarray(0, count);
      ids = new Uint32Array(batchIds + blockIds);
      count = 0;
    }
    if (entries.length < limit) break;
    limit = Math.min(limit * 4, lastBlocks);
    start = { label, block: entries[entries.length - 1]!.key.block + 1 };
  }
  given += count;
  checkIntegrity(
    expected === undefined || given === expected,
    'the list of a type has lost elements',
  );
  if (count > 0) yield ids.subarray(0, count);
}

const noBits = new Uint8Array(blockBytes);

/** Which elements have a label, for whoever asks of many: each block is read once, and stays as it was. */
export class ListedElements {
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
    if (this.#count++ === blocksKept) this.forget();
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

/** Ids in the bitmap of a block. */
export function listedIn(bits: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at += 4) {
    // The bits of a word in pairs, in fours, in bytes, and all bytes together.
    let word = getWord(bits, at);
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** The ids in the bitmap of a block. */
export function idsIn(block: number, bits: Uint8Array): Uint32Array {
  const ids = new Uint32Array(blockIds);
  return ids.subarray(0, unpack(bits, block * blockIds, ids, 0));
}

/** Writes the ids of a block behind the first `count`; returns the new count. */
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
