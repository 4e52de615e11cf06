// The keyword index against the textbook loop over plain maps, while documents come, change and go.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import type { ReadView } from '../../engine/storage/table/view-types.js';
import { type Document, analyze, countTerms } from '../../engine/text/analysis/analyzer.js';
import { checkTextIndex } from '../../engine/text/check.js';
import type { TextHit } from '../../engine/text/text-index-types.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import { derivedMemory } from '../support/derived-memory.js';
import { nextTurn } from '../support/run/next-turn.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const index = createTextIndex(defaultLimits);

type Documents = ReadonlyMap<number, readonly string[]>;

const rules = { documentTerms: defaultLimits.document_terms, language: 'english' } as const;

/** The terms of a document: read once, since a collection is asked many times. */
const termsRead = new WeakMap<readonly string[], Document>();
function termsOf(texts: readonly string[]): Document {
  let document = termsRead.get(texts);
  if (document === undefined) termsRead.set(texts, (document = countTerms(texts, rules)));
  return document;
}

/** BM25 as the textbook has it: every term of the query against every document. */
function textbook(
  documents: Documents,
  query: string,
  k: number,
  allow: (id: number) => boolean,
): TextHit[] {
  const all = [...documents].map(([id, texts]) => [id, termsOf(texts)] as const);
  const terms = all.filter(([, { frequencies }]) => frequencies.size > 0);
  const average = terms.reduce((sum, [, { length }]) => sum + length, 0) / terms.length || 1;
  const words = analyze(query);
  // Of the vocabulary, only `the` is a stop word.
  const asked = (words.length > 0 ? words : query.split(' ')).map((term) => {
    const n = terms.filter(([, { frequencies }]) => frequencies.has(term)).length;
    return { term, idf: Math.log(1 + (terms.length - n + 0.5) / (n + 0.5)) };
  });
  const hits: TextHit[] = [];
  for (const [id, { frequencies, length }] of terms) {
    let score = 0;
    for (const { term, idf } of asked) {
      const f = frequencies.get(term) ?? 0;
      score += (idf * f * 2.2) / (f + 1.2 * (0.25 + (0.75 * length) / average));
    }
    if (score > 0 && allow(id)) hits.push({ id, score });
  }
  return hits.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, k);
}

/**
 * Equal up to the rounding of sums: the scores agree, and each hit has the score the textbook gives
 * that document.
 */
function expectSame(
  found: TextHit[],
  documents: Documents,
  query: string,
  k: number,
  allow = (_: number) => true,
): void {
  const all = textbook(documents, query, Number.POSITIVE_INFINITY, allow);
  const scores = new Map(all.map((hit) => [hit.id, hit.score]));
  expect(found.length).toBe(Math.min(k, all.length));
  for (const [i, hit] of found.entries()) {
    expect(hit.score).toBeCloseTo(all[i]!.score, 9);
    expect(hit.score).toBeCloseTo(scores.get(hit.id)!, 9);
    const next = found[i + 1];
    if (next !== undefined && next.score === hit.score) expect(next.id).toBeGreaterThan(hit.id);
  }
}

function recount(view: ReadView, documents: Documents): string[] {
  const list = [...documents].map(([id, texts]) => ({ id, texts }));
  return checkTextIndex(view, 1, list, rules);
}

const vocabulary = ['wing', 'flow', 'heat', 'shock', 'layer', 'boundary', 'jet', 'the'];
/** Low words are much more frequent. */
const word = fc.integer({ min: 0, max: 63 }).map((n) => vocabulary[Math.floor(Math.sqrt(n))]!);
const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
const query = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));

/** A small, seeded generator: long runs are too big for shrinking anyway. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('search', () => {
  it('agrees with the textbook on random collections', () => {
    const documents = fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 40 });
    const filter = fc.constantFrom(undefined, (id: number) => id % 3 !== 0);
    fc.assert(
      fc.property(
        documents,
        query,
        fc.integer({ min: 1, max: 12 }),
        filter,
        (list, q, k, allow) => {
          const view = derivedMemory();
          const all = new Map(list.map((texts, i) => [i + 1, texts]));
          for (const [id, texts] of all) index.add(view, 7, id, texts);
          expectSame(index.search(view, 7, q, k, allow), all, q, k, allow);
        },
      ),
      { numRuns: long ? 5000 : 200 },
    );
  });

  it('agrees while documents are added, changed and removed over many blocks', async () => {
    const next = random(long ? 2 : 1);
    const view = derivedMemory();
    const documents = new Map<number, string[]>();
    const words = (count: number): string =>
      Array.from({ length: count }, () => vocabulary[Math.floor(Math.sqrt(next(64)))]).join(' ');
    let newest = 0;
    for (let step = 0; step < (long ? 60_000 : 1500); step++) {
      const known = [...documents.keys()];
      const id = known[next(known.length)];
      const action = next(10);
      if (action < 6 || id === undefined) {
        const texts = [words(next(6)), words(next(6))];
        documents.set(++newest, texts);
        index.add(view, 1, newest, texts);
      } else if (action < 8) {
        // One word more, or others altogether.
        const former = documents.get(id)!;
        const texts = action === 6 ? [...former, words(next(2))] : [words(next(12))];
        documents.set(id, texts);
        index.replace(view, 1, id, former, texts);
      } else {
        index.remove(view, 1, id, documents.get(id)!);
        documents.delete(id);
        if (action === 8) {
          const texts = [words(next(12))];
          documents.set(id, texts);
          index.add(view, 1, id, texts);
        }
      }
      if ((step + 1) % (long ? 1000 : 250) !== 0) continue;
      await nextTurn();
      const q = words(1 + next(3));
      const k = 1 + next(20);
      expectSame(index.search(view, 1, q, k), documents, q, k);
      expectSame(index.search(view, 1, q, 1e6), documents, q, 1e6);
      expect(recount(view, documents)).toEqual([]);
    }
    for (const [id, texts] of documents) index.remove(view, 1, id, texts);
    expect(view.entries()).toEqual([]);
  });

  it('stores equal bytes for every order of changes', () => {
    const view = derivedMemory();
    const rebuilt = derivedMemory();
    const texts = (id: number): string[] => [
      `common ${id % 3 === 0 ? 'third' : ''} term${id % 50}`,
    ];
    for (let id = 1; id <= 1000; id++) index.add(view, 1, id, texts(id));
    for (let id = 2; id <= 1000; id += 2) index.remove(view, 1, id, texts(id));
    for (let id = 1000; id >= 2; id -= 2) index.add(view, 1, id, texts(id));
    for (let id = 1; id <= 1000; id++) index.add(rebuilt, 1, id, texts(id));
    for (const q of ['common', 'third common', 'term7', 'term7 third nothing'])
      expect(index.search(view, 1, q, 50)).toEqual(index.search(rebuilt, 1, q, 50));
  });

  it('is detected when a stored value differs from a recount', () => {
    const documents = new Map<number, string[]>();
    for (let id = 1; id <= 300; id++) documents.set(id, [`common ${id % 7 === 0 ? 'rare' : 'x'}`]);
    const view = derivedMemory();
    for (const [id, texts] of documents) index.add(view, 1, id, texts);
    expect(recount(view, documents)).toEqual([]);
    const entries = view.entries();
    expect(entries.length).toBeGreaterThan(6);
    for (const { key, value } of entries) {
      for (const at of [0, value.length - 1]) {
        const damaged = value.slice();
        damaged[at]! ^= 1;
        view.putDerived(key, damaged);
        expect(recount(view, documents)).not.toEqual([]);
      }
      view.deleteDerived(key);
      expect(recount(view, documents)).not.toEqual([]);
      view.putDerived(key, value);
    }
    documents.delete(300);
    expect(recount(view, documents)).toHaveLength(3);
  });

  it('keeps labels apart', () => {
    const view = derivedMemory();
    index.add(view, 1, 10, ['fern rose']);
    index.add(view, 2, 11, ['fern']);
    index.add(view, 256, 12, ['fern']);
    expect(index.search(view, 1, 'fern', 10).map((hit) => hit.id)).toEqual([10]);
    expect(index.search(view, 2, 'ferns', 10)).toEqual([{ id: 11, score: Math.log(4 / 3) }]);
    expect(index.search(view, 3, 'fern', 10)).toEqual([]);
    index.remove(view, 1, 10, ['fern rose']);
    expect(index.search(view, 1, 'rose', 10)).toEqual([]);
    expect(index.search(view, 256, 'FERN!', 10).map((hit) => hit.id)).toEqual([12]);
  });

  it('counts a term as often as the query has it, and ties go to the oldest', () => {
    const view = derivedMemory();
    for (const id of [9, 3, 7, 5]) index.add(view, 1, id, ['fern shade']);
    index.add(view, 1, 8, ['rose sun']);
    expect(index.search(view, 1, 'fern', 3).map((hit) => hit.id)).toEqual([3, 5, 7]);
    const [once] = index.search(view, 1, 'rose', 1);
    const [twice] = index.search(view, 1, 'rose roses', 1);
    expect(twice!.score).toBeCloseTo(2 * once!.score, 12);
  });

  it('accepts terms of any length and distinguishes long ones', () => {
    const view = derivedMemory();
    const terms = ['x'.repeat(5000), `${'x'.repeat(5000)}y`, '語'.repeat(3000)];
    for (const [i, term] of terms.entries()) index.add(view, 1, i + 1, [term]);
    for (const [i, term] of terms.entries())
      expect(index.search(view, 1, term, 5).map((hit) => hit.id)).toEqual([i + 1]);
    for (const { key } of view.entries()) expect(key.length).toBeLessThan(256);
  });

  it('has limits', () => {
    const view = derivedMemory();
    const fault = (q: string): object => {
      try {
        return index.search(view, 1, q, 1);
      } catch (error) {
        return (error as TrellisError).data;
      }
    };
    expect(fault('!'.repeat(65_536))).toEqual([]);
    expect(fault('é'.repeat(32_769))).toEqual({
      code: 'TEXT_TOO_LONG',
      args: { size: 65_538, unit: 'bytes', max: 65_536 },
    });
    const short = createTextIndex({ ...defaultLimits, document_terms: 3 });
    short.add(view, 1, 1, ['one two', 'three four']);
    expect(short.search(view, 1, 'three', 1)).toHaveLength(1);
    expect(short.search(view, 1, 'four', 1)).toHaveLength(0);
    short.remove(view, 1, 1, ['one two', 'three four']);
    expect(view.entries()).toEqual([]);
  });

  it('TX16: of a query with too many terms, the rarest count', () => {
    const view = derivedMemory();
    const few = createTextIndex({ ...defaultLimits, text_terms: 2 });
    for (const [i, text] of ['fern', 'fern', 'fern rose', 'rose', 'sun', 'moss'].entries())
      index.add(view, 1, i + 1, [text]);
    const ids = few.search(view, 1, 'fern unknown rose sun', 10).map(({ id }) => id);
    expect(ids).toEqual([5, 4, 3]);
    expect(few.search(view, 1, 'x '.repeat(30_000), 10)).toEqual([]);
  });

  it('refuses to remove a document that it does not contain', () => {
    const view = derivedMemory();
    index.add(view, 1, 1, ['fern']);
    expect(() => index.remove(view, 1, 2, ['fern'])).toThrow('a removed document has no postings');
    expect(() => index.add(view, 1, 1, ['fern'])).toThrow('a new document has postings');
  });
});
