// The distinct words of many texts, with their terms. A text mostly repeats words, so each is analyzed once.
// One pass over the characters of an ASCII text cuts, hashes and looks up its words, without a string per
// word.
//
// Invariant: an ASCII text has the same words here as in cut.ts.
import { doubled } from '../../base/u32-array.js';
import { cutWords } from './cut.js';
import { normalize } from './normalize.js';
import { type WordRules, type WordTerms, analyzeWord } from './word.js';

const other = 0;
const letter = 1;
const digit = 2;
const joiner = 3;
const comma = 4;

const hashSign = 35;
const plus = 43;
const atSign = 64;

/** Classes of the ASCII characters. */
const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return letter;
  if (/[0-9]/.test(character)) return digit;
  return character === ',' ? comma : "-'._/@#+".includes(character) ? joiner : other;
});

/** Words, and UTF-16 codes of them, above which the table is emptied before the next document. */
const wordsMax = 65_536;
const codesMax = 1 << 20;

/** FNV-1a over UTF-16 codes. */
const hashStart = 0x811c9dc5;
const hashStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

export class WordTable {
  /** Words of the text that was cut last, by their numbers: the first entries that `cut` returned. */
  ids = new Uint32Array(1024);
  /** Terms by word; a string for a word that is one term and counts once. */
  terms: (WordTerms | string)[] = [];
  /**
   * Four numbers by word: the number of its terms that count, and its position in `#codes`. The other two are
   * scratch memory of the counter of documents: the last document with the word, and the occurrences there.
   */
  heads = new Uint32Array(4096);
  /** Number + 1 of the word in each bucket of the hash table, 0 for none. */
  #buckets = new Uint32Array(4096);
  #codes = new Uint16Array(1 << 14);
  #used = 0;
  #count = 0;

  constructor(private readonly rules: WordRules) {}

  /** Starts a document: forgets all words if there are too many. */
  begin(): void {
    if (this.terms.length < wordsMax && this.#used < codesMax) return;
    this.terms = [];
    this.#used = 0;
    this.#buckets.fill(0);
    this.heads.fill(0);
  }

  /** Cuts a text. Returns the number of its words, whose numbers are in `ids`. */
  cut(text: string): number {
    this.#count = 0;
    if (!this.#cutAscii(text)) {
      this.#count = 0;
      for (const word of cutWords(normalize(text))) {
        let hash = hashStart;
        for (let at = 0; at < word.length; at++) hash = hashStep(hash, word.charCodeAt(at));
        this.#add(word, 0, word.length, hash);
      }
    }
    return this.#count;
  }

  /** Returns false if the text has characters beyond ASCII. */
  #cutAscii(text: string): boolean {
    const { length } = text;
    for (let at = 0; at < length; ) {
      const code = text.charCodeAt(at);
      if (code > 127) return false;
      const kind = classes[code]!;
      if (kind !== letter && kind !== digit) {
        at++;
        continue;
      }
      const before = at > 0 ? text.charCodeAt(at - 1) : 0;
      const start = before === hashSign || before === atSign ? at - 1 : at;
      at = this.#addAscii(text, start, at);
      if (at < 0) return false;
    }
    return true;
  }

  /** Adds the word whose first letter or digit is at `at`. Returns its end, or -1 beyond ASCII. */
  #addAscii(text: string, start: number, first: number): number {
    const { length } = text;
    let hash = start < first ? hashStep(hashStart, text.charCodeAt(start)) : hashStart;
    let last = other;
    let at = first;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return -1;
      const kind = classes[code]!;
      if (kind === letter || kind === digit) {
        last = kind;
      } else {
        const next = at + 1 < length ? text.charCodeAt(at + 1) : 0;
        if (next > 127) return -1;
        const after = classes[next];
        const joins =
          kind === joiner
            ? after === letter || after === digit
            : kind === comma && last === digit && after === digit;
        if (!joins) {
          // `C#` and `C++` are words.
          let more = code === hashSign ? 1 : code !== plus ? 0 : next === plus ? 2 : 1;
          for (; more > 0; more--) hash = hashStep(hash, text.charCodeAt(at++));
          break;
        }
      }
      hash = hashStep(hash, code);
    }
    this.#add(text, start, at, hash);
    return at;
  }

  #add(text: string, start: number, end: number, hash: number): void {
    if (this.#count === this.ids.length) this.ids = doubled(this.ids);
    this.ids[this.#count++] = this.#find(text, start, end, hash);
  }

  /** Returns the number of the word at [start, end) of a text. */
  #find(text: string, start: number, end: number, hash: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    let bucket = (hash ^ (hash >>> 15)) & mask;
    for (; buckets[bucket] !== 0; bucket = (bucket + 1) & mask) {
      const id = buckets[bucket]! - 1;
      if (this.#isWord(id, text, start, end)) return id;
    }
    return this.#learn(text.slice(start, end), bucket);
  }

  #isWord(id: number, text: string, start: number, end: number): boolean {
    const codes = this.#codes;
    const from = this.heads[4 * id + 1]!;
    if (this.#endOf(id) - from !== end - start) return false;
    for (let at = 0; at < end - start; at++)
      if (codes[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #endOf(id: number): number {
    return id + 1 < this.terms.length ? this.heads[4 * id + 5]! : this.#used;
  }

  #learn(word: string, bucket: number): number {
    const id = this.terms.length;
    const terms = analyzeWord(word, this.rules);
    const { counted, stopWords, forms, parts, indexed, singles } = terms;
    const others = [stopWords, forms, parts, indexed, singles];
    const isOne = counted.length === 1 && others.every((list) => list.length === 0);
    this.terms.push(isOne ? counted[0]! : terms);
    if (4 * id === this.heads.length) this.heads = doubled(this.heads);
    this.heads[4 * id] = counted.length;
    this.heads[4 * id + 1] = this.#used;
    if (this.#used + word.length > this.#codes.length) {
      const longer = new Uint16Array(2 * (this.#used + word.length));
      longer.set(this.#codes.subarray(0, this.#used));
      this.#codes = longer;
    }
    for (let at = 0; at < word.length; at++) this.#codes[this.#used++] = word.charCodeAt(at);
    this.#buckets[bucket] = id + 1;
    if (2 * this.terms.length > this.#buckets.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const buckets = new Uint32Array(4 * this.#buckets.length);
    const mask = buckets.length - 1;
    for (let id = 0; id < this.terms.length; id++) {
      const end = this.#endOf(id);
      let hash = hashStart;
      for (let at = this.heads[4 * id + 1]!; at < end; at++)
        hash = hashStep(hash, this.#codes[at]!);
      let bucket = (hash ^ (hash >>> 15)) & mask;
      while (buckets[bucket] !== 0) bucket = (bucket + 1) & mask;
      buckets[bucket] = id + 1;
    }
    this.#buckets = buckets;
  }
}
