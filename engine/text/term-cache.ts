// What searches of one state of the data know of a term: the bounds of its blocks, and postings with
// the score that each gives its document. Totals are part of the state, so scores hold as long as it
// does; a search that meets a term again neither reads nor decodes nor divides. 100,000 documents, two
// terms: 122 us of CPU for a call, 740 without. Any commit ends it all.
//
// Invariant: all terms of a cache belong to one count of commits of one view.
import { checkIntegrity } from '../base/integrity.js';
import type { ReadView } from '../storage/table/view-types.js';
import { type CollectionStats, idf, termScore } from './bm25.js';
import { type BlockBounds, maxScores } from './impacts.js';
import { type Block, decodeBlock, newBlock } from './posting.js';
import { decodeRecord, newRecord } from './term-record.js';
import { blockKey, directoryKey, termKey } from './text-key.js';

/** Postings [start, end) of arrays that many blocks share. */
export interface ScoredBlock {
  ids: Uint32Array;
  scores: Float64Array;
  start: number;
  end: number;
}

type Score = (frequency: number, length: number) => number;

/** Postings per pair of shared arrays, and kept in all: 12 bytes each. */
const slabPostings = 1 << 14;
const keptPostings = 1_400_000;

/** Terms kept, those of no document included. */
const keptTerms = 50_000;

const noBlocks: BlockBounds = { count: 0, uppers: new Uint32Array(0), bounds: new Float64Array(0) };

// Scratch: blocks are decoded one at a time.
const record = newRecord();
const decoded = newBlock();

class Slab {
  #ids = new Uint32Array(0);
  #scores = new Float64Array(0);
  #used = 0;
  /** Postings taken so far. */
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

export class ScoredTerm {
  /** Blocks but the tail, which comes after them. */
  readonly sealedBlocks: BlockBounds;
  readonly tailMaxScore: number;
  /** The newest document, 0 when the tail is empty. */
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
    const weight = idf(df, totals);
    const averageLength = totals.length / totals.documents;
    this.#score = (frequency, length) => termScore(weight, frequency, length, averageLength);
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

  /** An older block, or the tail. */
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
  #terms = new Map<string, ScoredTerm | undefined>();
  #slab = new Slab();
  #view: ReadView | undefined;
  #commits = -1;

  /** Call before a search: forgets what does not hold for its view, and all when it is too much. */
  begin(view: ReadView): void {
    const commits = view.commits?.() ?? -1;
    const holds = commits >= 0 && commits === this.#commits && view === this.#view;
    if (holds && this.#terms.size < keptTerms && this.#slab.taken < keptPostings) return;
    this.#terms = new Map();
    this.#slab = new Slab();
    this.#view = view;
    this.#commits = commits;
  }

  /** The term as it stands in keys; undefined when no document of the label holds it. */
  get(label: number, term: Uint8Array, totals: CollectionStats): ScoredTerm | undefined {
    const view = this.#view!;
    const name = `${label} ${Buffer.from(term.buffer, term.byteOffset, term.length).toString()}`;
    const known = this.#terms.get(name);
    if (known !== undefined || this.#terms.has(name)) return known;
    const stored = view.getDerived(termKey(label, term));
    const found = stored && new ScoredTerm(this.#slab, view, label, term, stored, totals);
    this.#terms.set(name, found);
    return found;
  }
}
