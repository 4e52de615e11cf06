// The postings of several terms that stand for one word of a query: spellings in several languages, or all
// words that begin with a prefix. A document has the group as often as the form that it has most often, and
// the group is as rare as its documents are.
//
// Invariant: postings ascend by id, each document once.
import { checkIntegrity } from '../base/integrity.js';
import type { ReadView } from '../storage/table/view-types.js';
import { type CollectionStats, averageLength, idf, termScore } from './bm25.js';
import { type BlockBounds, entriesIn } from './impacts.js';
import { BLOCK_MAX, type Block, decodeBlock, newBlock } from './posting.js';
import type { Form } from './query/query-types.js';
import type { ScoredBlock, ScoredPostings } from './term-cursor.js';
import { decodeRecord, newRecord } from './term-record.js';
import { blockKey, directoryKey, termBytes, termKey, termRange } from './text-key.js';

/** Terms of a prefix that are read. A longer list is cut in key order. */
const prefixTermsMax = 10_000;

// Scratch memory: blocks are decoded one at a time.
const record = newRecord();
const decoded = newBlock();

/** Postings in the order in which they were read. */
class Postings {
  count = 0;
  ids = new Uint32Array(256);
  frequencies = new Uint32Array(256);
  lengths = new Uint32Array(256);

  add({ count, ids, frequencies, lengths }: Block): void {
    while (this.count + count > this.ids.length) this.#grow();
    this.ids.set(ids.subarray(0, count), this.count);
    this.frequencies.set(frequencies.subarray(0, count), this.count);
    this.lengths.set(lengths.subarray(0, count), this.count);
    this.count += count;
  }

  #grow(): void {
    const size = 2 * this.ids.length;
    for (const name of ['ids', 'frequencies', 'lengths'] as const) {
      const longer = new Uint32Array(size);
      longer.set(this[name]);
      this[name] = longer;
    }
  }
}

/** Numbers of postings in one `sort`: ids above, positions below, within the 53 bits of a double. */
const positions = 2 ** 21;

/** Returns the positions of the postings by ascending id. */
function byId({ count, ids }: Postings): Uint32Array {
  const order = new Uint32Array(count);
  if (count >= positions) {
    for (let i = 0; i < count; i++) order[i] = i;
    return order.sort((a, b) => ids[a]! - ids[b]!);
  }
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = ids[i]! * positions + i;
  keys.sort();
  for (let i = 0; i < count; i++) order[i] = keys[i]! % positions;
  return order;
}

/** Reads all postings of a term whose record is `stored`. */
function readTerm(
  view: ReadView,
  label: number,
  term: Uint8Array,
  stored: Uint8Array,
  to: Postings,
): void {
  decodeRecord(stored, record);
  to.add(record.tail);
  if (record.df === record.tail.count) return;
  const directory = view.getDerived(directoryKey(label, term));
  checkIntegrity(directory !== undefined, 'the directory of a term is missing');
  for (const { upper } of entriesIn(directory)) {
    const bytes = view.getDerived(blockKey(label, term, upper));
    checkIntegrity(bytes !== undefined, 'a block of postings is missing');
    decodeBlock(bytes, decoded);
    to.add(decoded);
  }
}

export class TermGroup implements ScoredPostings {
  /** Number of documents. */
  readonly df: number;
  readonly sealedBlocks: BlockBounds;
  readonly tailMaxScore: number;
  readonly tailEnd: number;
  readonly #ids: Uint32Array;
  readonly #scores: Float64Array;

  private constructor(postings: Postings, totals: CollectionStats) {
    const { frequencies, lengths } = postings;
    const ids = new Uint32Array(postings.count);
    const best = new Uint32Array(postings.count);
    const length = new Uint32Array(postings.count);
    let count = 0;
    for (const at of byId(postings)) {
      const id = postings.ids[at]!;
      if (count === 0 || ids[count - 1] !== id) {
        ids[count] = id;
        best[count] = frequencies[at]!;
        length[count++] = lengths[at]!;
      } else best[count - 1] = Math.max(best[count - 1]!, frequencies[at]!);
    }
    const weight = idf(count, totals);
    const average = averageLength(totals);
    const scores = new Float64Array(count);
    for (let i = 0; i < count; i++) scores[i] = termScore(weight, best[i]!, length[i]!, average);
    this.df = count;
    this.#ids = ids.subarray(0, count);
    this.#scores = scores;
    const blocks = Math.max(0, Math.ceil(count / BLOCK_MAX) - 1);
    const uppers = new Uint32Array(blocks);
    const bounds = new Float64Array(blocks);
    for (let block = 0; block < blocks; block++) {
      uppers[block] = ids[(block + 1) * BLOCK_MAX - 1]!;
      bounds[block] = this.#bound(block);
    }
    this.sealedBlocks = { count: blocks, uppers, bounds };
    this.tailMaxScore = this.#bound(blocks);
    this.tailEnd = ids[count - 1]!;
  }

  /** Returns the group of some forms, or undefined if no document has any of them. */
  static read(
    view: ReadView,
    label: number,
    forms: readonly Form[],
    totals: CollectionStats,
  ): TermGroup | undefined {
    const postings = new Postings();
    for (const { term, isPrefix } of forms) {
      const bytes = termBytes(term);
      if (!isPrefix) {
        const stored = view.getDerived(termKey(label, bytes));
        if (stored) readTerm(view, label, bytes, stored, postings);
        continue;
      }
      let terms = 0;
      for (const { key, value } of view.scanDerived(...termRange(label, bytes))) {
        readTerm(view, label, key.slice(4), value, postings);
        if (++terms === prefixTermsMax) break;
      }
    }
    return postings.count === 0 ? undefined : new TermGroup(postings, totals);
  }

  #bound(block: number): number {
    let bound = 0;
    const end = Math.min(this.df, (block + 1) * BLOCK_MAX);
    for (let i = block * BLOCK_MAX; i < end; i++) bound = Math.max(bound, this.#scores[i]!);
    return bound;
  }

  block(_: ReadView, number: number): ScoredBlock {
    const start = number * BLOCK_MAX;
    const end = Math.min(this.df, start + BLOCK_MAX);
    return { ids: this.#ids, scores: this.#scores, start, end };
  }
}
