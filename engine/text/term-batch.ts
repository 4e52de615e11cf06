// Collects the keyword documents of a bulk load on the loader thread, grouped by term. The writer thread
// adds them to the index with `TextIndexWriter.addBatch`.
import { ByteWriter } from '../base/bytes.js';
import { doubled } from '../base/u32-array.js';
import { termBytes } from './text-key.js';

/**
 * Postings of all terms of a batch, by label and term. The arrays are flat: sending one object per term would
 * cost more than the term itself.
 */
export interface TermBatch {
  /** 3 numbers per term: label · end of its name · end of its postings. */
  heads: Uint32Array<ArrayBuffer>;
  /** Terms in key form, concatenated. */
  names: Uint8Array<ArrayBuffer>;
  /** [row, frequency, row, frequency, ...] of each term, by ascending row. */
  postings: Uint32Array<ArrayBuffer>;
}

export const termWords = 3;

/** Numbers per collected posting: term, row, frequency. */
const postingWords = 3;

export class TermCollector {
  /** Term numbers by label and term. */
  #labels = new Map<number, Map<string, number>>();
  /** Number of postings by term. */
  #counts: number[] = [];
  #postings = new Uint32Array(1024);
  #used = 0;
  readonly #names = new ByteWriter(1 << 14);

  add(label: number, row: number, frequencies: ReadonlyMap<string, number>): void {
    let terms = this.#labels.get(label);
    if (terms === undefined) this.#labels.set(label, (terms = new Map()));
    for (const [term, frequency] of frequencies) {
      let number = terms.get(term);
      if (number === undefined) {
        number = this.#counts.push(0) - 1;
        terms.set(term, number);
      }
      this.#counts[number]!++;
      this.#push(number, row, frequency);
    }
  }

  #push(number: number, row: number, frequency: number): void {
    const at = this.#used;
    if (at + postingWords > this.#postings.length) this.#postings = doubled(this.#postings);
    this.#postings[at] = number;
    this.#postings[at + 1] = row;
    this.#postings[at + 2] = frequency;
    this.#used = at + postingWords;
  }

  /** Returns everything and resets the collector. */
  take(): TermBatch {
    const count = this.#counts.length;
    const heads = new Uint32Array(count * termWords);
    const postings = new Uint32Array((2 * this.#used) / postingWords);
    /** Offset of the next posting of each term. */
    const ends = new Uint32Array(count);
    let head = 0;
    let end = 0;
    for (const [label, terms] of this.#labels) {
      // In key order, neighbors share pages.
      for (const term of [...terms.keys()].sort()) {
        const number = terms.get(term)!;
        ends[number] = end;
        end += 2 * this.#counts[number]!;
        this.#names.append(termBytes(term));
        heads[head] = label;
        heads[head + 1] = this.#names.length;
        heads[head + 2] = end;
        head += termWords;
      }
    }
    for (let at = 0; at < this.#used; at += postingWords) {
      const number = this.#postings[at]!;
      const offset = ends[number]!;
      postings[offset] = this.#postings[at + 1]!;
      postings[offset + 1] = this.#postings[at + 2]!;
      ends[number] = offset + 2;
    }
    const names = this.#names.take();
    this.clear();
    return { heads, names, postings };
  }

  clear(): void {
    this.#labels = new Map();
    this.#counts = [];
    this.#used = 0;
    this.#names.length = 0;
  }
}
