// Changing the posting list of one term: the record under the term's key with the newest postings, and full blocks
// under block keys. Appending touches one record; an older id is put into the block it falls into.
import { assert } from '../base/assert.js';
import { ByteWriter } from '../base/bytes.js';
import type { WriteView } from '../storage/store.js';
import {
  BLOCK_MAX,
  type Block,
  clearRecord,
  decodeBlock,
  decodeRecord,
  encodeBlock,
  encodeRecord,
  newBlock,
  newRecord,
} from './posting.js';
import { blockKey, blockKeyEnd, termKey, upperOf } from './text-key.js';

// Scratch: lists are changed one at a time.
const record = newRecord();
const older = newBlock();
const writer = new ByteWriter(2048);

/** Adds the posting of document `id`, which the list does not hold yet. */
export function addPosting(
  view: WriteView,
  label: number,
  term: Uint8Array,
  id: number,
  frequency: number,
  length: number,
): void {
  const key = termKey(label, term);
  const bytes = view.getDerived(key);
  if (bytes !== undefined) decodeRecord(bytes, record);
  else clearRecord(record);
  const place = isInTail(id) ? undefined : findBlock(view, label, term, id);
  if (place === undefined) {
    insert(record.tail, id, frequency, length);
    if (record.tail.count > BLOCK_MAX) splitTail(view, label, term, id);
  } else {
    insert(older, id, frequency, length);
    putOlder(view, label, term, place);
  }
  record.df++;
  record.top = Math.max(record.top, frequency);
  record.shortest = Math.min(record.shortest, length);
  putRecord(view, key);
}

/** Removes the posting of document `id`, which the list holds. */
export function removePosting(view: WriteView, label: number, term: Uint8Array, id: number): void {
  const key = termKey(label, term);
  const bytes = view.getDerived(key);
  assert(bytes !== undefined, 'a removed document has postings');
  decodeRecord(bytes, record);
  const place = isInTail(id) ? undefined : findBlock(view, label, term, id);
  if (place === undefined) {
    extract(record.tail, id);
  } else {
    extract(older, id);
    if (older.count === 0) view.deleteDerived(place);
    else putOlder(view, label, term, place);
  }
  record.df--;
  if (record.df === 0) view.deleteDerived(key);
  else putRecord(view, key);
}

/** Whether the id belongs into the tail for sure; else a block has to be looked for. */
function isInTail(id: number): boolean {
  const { tail, df } = record;
  return tail.count === df || (tail.count > 0 && id >= tail.ids[0]!);
}

/** Decodes the block into which `id` falls into `older` and answers its key; undefined: the tail it is. */
function findBlock(
  view: WriteView,
  label: number,
  term: Uint8Array,
  id: number,
): Uint8Array | undefined {
  const blocks = view.scanDerived(blockKey(label, term, id), blockKeyEnd(label, term));
  for (const { key, value } of blocks) {
    decodeBlock(value, older);
    return key;
  }
  return undefined;
}

/** Stores `older` under its key, as two blocks when it is too long for one. */
function putOlder(view: WriteView, label: number, term: Uint8Array, key: Uint8Array): void {
  const half = older.count > BLOCK_MAX ? older.count >>> 1 : 0;
  if (half > 0) putBlock(view, blockKey(label, term, older.ids[half - 1]!), older, 0, half);
  assert(upperOf(key) >= older.ids[older.count - 1]!, 'a block holds no id above its key');
  putBlock(view, key, older, half, older.count);
}

/** Makes the first part of the tail an older block: all but the new posting when ids come in order, else half. */
function splitTail(view: WriteView, label: number, term: Uint8Array, id: number): void {
  const { tail } = record;
  const last = tail.count - 1;
  const half = tail.ids[last] === id ? last : tail.count >>> 1;
  putBlock(view, blockKey(label, term, tail.ids[half - 1]!), tail, 0, half);
  move(tail, half, 0);
  tail.count -= half;
}

function putBlock(view: WriteView, key: Uint8Array, block: Block, from: number, to: number): void {
  encodeBlock(writer, block, from, to);
  view.putDerived(key, writer.take());
}

function putRecord(view: WriteView, key: Uint8Array): void {
  encodeRecord(writer, record);
  view.putDerived(key, writer.take());
}

function insert(block: Block, id: number, frequency: number, length: number): void {
  const at = placeOf(block, id);
  assert(at === block.count || block.ids[at] !== id, 'a document is indexed once');
  move(block, at, at + 1);
  block.ids[at] = id;
  block.frequencies[at] = frequency;
  block.lengths[at] = length;
  block.count++;
}

function extract(block: Block, id: number): void {
  const at = placeOf(block, id);
  assert(at < block.count && block.ids[at] === id, 'a removed document has postings');
  move(block, at + 1, at);
  block.count--;
}

/** Moves the postings from `from` on so that they begin at `to`. */
function move(block: Block, from: number, to: number): void {
  block.ids.copyWithin(to, from, block.count);
  block.frequencies.copyWithin(to, from, block.count);
  block.lengths.copyWithin(to, from, block.count);
}

/** First position whose id is not below `id`. */
function placeOf(block: Block, id: number): number {
  let low = 0;
  let high = block.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (block.ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
