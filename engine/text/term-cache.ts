// Caches what searches have read of a term: the score bounds of its blocks, and its postings with the score
// of each. The statistics of the label are part of the same commit, so cached scores hold until the next
// commit. A search that meets a cached term neither reads nor decodes nor divides. For 100,000 documents and
// two terms, a call takes 122 us of CPU, against 740 without the cache.
//
// Invariant: all terms of a cache belong to one commit number of one view.
import { checkIntegrity } from '../base/integrity.js';
import type { ReadView } from '../storage/table/view-types.js';
import { type CollectionStats, averageLength, idf, termScore } from './bm25.js';
import { type BlockBounds, maxScores } from './impacts.js';
import { type Block, decodeBlock, newBlock } from './posting.js';
import type { Form } from './query/query-types.js';
import type { ScoredBlock, ScoredPostings } from './term-cursor.js';
import { TermGroup } from './term-group.js';
import { decodeRecord, newRecord } from './term-record.js';
import { blockKey, directoryKey, termBytes, termKey } from './text-key.js';

type Score = (frequency: number, length: number) => number;

/** Postings per pair of shared arrays, and the largest number that is cached; 12 bytes each. */
const slabPostings = 1 << 14;
const cachedPostingsMax = 1_400_000;

/** Largest number of cached terms, those without documents included. */
const cachedTermsMax = 50_000;

const noBlocks: BlockBounds = { count: 0, uppers: new Uint32Array(0), bounds: new Float64Array(0) };

// Scratch memory: blocks are decoded one at a time.
const record = newRecord();
const decoded = newBlock();

class Slab {
  #ids = new Uint32Array(0);
  #scores = new Float64Array(0);
  #used = 0;
  /** Number of postings taken so far. */
  taken = 0;

  take({ count, ids, frequencies, lengths }: Block, score: Score): ScoredBlock {
    if (this.#used + count > this.#ids.length) {
      this.#ids = new Uint32Array(slabPostings);
      this.#scores = new Float64Array(slabPostings);
      this.#used = 0;
    }
    const start = this.#used;
    for (let i = 0; i < count; i++) {
      this.#ids[start + i] = ids[i]!;
      this.#scores[start + i] = score(frequencies[i]!, lengths[i]!);
    }
    this.#used += count;
    this.taken += count;
    return { ids: this.#ids, scores: this.#scores, start, end: start + count };
  }
}

class ScoredTerm implements ScoredPostings {
  readonly df: number;
  readonly sealedBlocks: BlockBounds;
  readonly tailMaxScore: number;
  readonly tailEnd: number;
  readonly #blocks: (ScoredBlock | undefined)[] = [];
  readonly #score: Score;

  constructor(
    private readonly slab: Slab,
    view: ReadView,
    private readonly label: number,
    private readonly term: Uint8Array,
    stored: Uint8Array,
    totals: CollectionStats,
  ) {
    decodeRecord(stored, record);
    const { df, tail } = record;
    this.df = df;
    const weight = idf(df, totals);
    const average = averageLength(totals);
    this.#score = (frequency, length) => termScore(weight, frequency, length, average);
    this.sealedBlocks = df > tail.count ? this.#readDirectory(view) : noBlocks;
    const block = this.slab.take(tail, this.#score);
    this.#blocks[this.sealedBlocks.count] = block;
    let bound = 0;
    for (let at = block.start; at < block.end; at++) bound = Math.max(bound, block.scores[at]!);
    this.tailMaxScore = bound;
    this.tailEnd = tail.count === 0 ? 0 : tail.ids[tail.count - 1]!;
  }

  #readDirectory(view: ReadView): BlockBounds {
    const bytes = view.getDerived(directoryKey(this.label, this.term));
    checkIntegrity(bytes !== undefined, 'the directory of a term is missing');
    return maxScores(bytes, this.#score);
  }

  block(view: ReadView, number: number): ScoredBlock {
    return (this.#blocks[number] ??= this.#read(view, number));
  }

  #read(view: ReadView, number: number): ScoredBlock {
    const key = blockKey(this.label, this.term, this.sealedBlocks.uppers[number]!);
    const bytes = view.getDerived(key);
    checkIntegrity(bytes !== undefined, 'a block of postings is missing');
    decodeBlock(bytes, decoded);
    return this.slab.take(decoded, this.#score);
  }
}

export class TermCache {
  #terms = new Map<string, ScoredPostings | undefined>();
  #slab = new Slab();
  #view: ReadView | undefined;
  #commits = -1;

  /**
   * Drops cached terms of other commits or views, and all terms when there are too many. Call it before each
   * search.
   */
  begin(view: ReadView): void {
    const commits = view.committed?.commits() ?? -1;
    const holds = commits >= 0 && commits === this.#commits && view === this.#view;
    if (holds && this.#terms.size < cachedTermsMax && this.#slab.taken < cachedPostingsMax) return;
    this.#terms = new Map();
    this.#slab = new Slab();
    this.#view = view;
    this.#commits = commits;
  }

  /**
   * Returns the postings of a term of a query, or undefined when no document of the label has any form of it.
   */
  get(label: number, forms: readonly Form[], totals: CollectionStats): ScoredPostings | undefined {
    const view = this.#view!;
    const isOne = forms.length === 1 && !forms[0]!.isPrefix;
    const name = isOne ? `${label} ${forms[0]!.term}` : `${label}\n${nameOf(forms)}`;
    const known = this.#terms.get(name);
    if (known !== undefined || this.#terms.has(name)) return known;
    const found = isOne
      ? this.#read(view, label, termBytes(forms[0]!.term), totals)
      : TermGroup.read(view, label, forms, totals);
    if (!isOne) this.#slab.taken += found?.df ?? 0;
    this.#terms.set(name, found);
    return found;
  }

  #read(
    view: ReadView,
    label: number,
    term: Uint8Array,
    totals: CollectionStats,
  ): ScoredPostings | undefined {
    const stored = view.getDerived(termKey(label, term));
    return stored && new ScoredTerm(this.#slab, view, label, term, stored, totals);
  }
}

const nameOf = (forms: readonly Form[]): string =>
  forms.map(({ term, isPrefix }) => (isPrefix ? `${term}*` : term)).join('\n');
