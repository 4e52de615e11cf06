// Searches with `by` [HT01]: the best parents, each with its best hit, against a naive program that looks at
// every element; on real databases with random chunks, some in several documents and some in none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedDatabase, open } from '../../../engine/internal.js';
import { makeFolder } from '../../support/project.js';
import { Random } from '../../support/random.js';

const source = `
N::Doc { n: I64, title: String, open: Boolean }
N::Shelf { n: I64 }
V::Part { n: I64, text: String, lang: String }
E::Has { From: Doc, To: Part }
E::Holds { From: Shelf, To: Doc }
QUERY addDoc(n: I64, shelf: I64, open: Boolean) =>
  d <- AddN<Doc>({ n: n, title: "doc", open: open })
  s <- N<Shelf>({ n: shelf })::UpsertN({ n: shelf })
  AddE<Holds>::From(s)::To(d)
  RETURN 1
QUERY addParts(parts: [{ n: I64, v: [F64], text: String, lang: String, docs: [I64] }]) =>
  FOR p IN parts {
    a <- AddV<Part>(p.v, { n: p.n, text: p.text, lang: p.lang })
    FOR d IN p.docs { AddE<Has>::From(N<Doc>({ n: d })::FIRST)::To(a) }
  }
  RETURN 1
QUERY near(v: [F64], k: I64, least?: F64) =>
  h <- SearchV<Part>(v, k, by: _::In<Has>, min_score: least)
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY filtered(v: [F64], k: I64, lang: String) =>
  h <- SearchV<Part>(v, k, by: _::In<Has>)::PREFILTER(_::{lang}::EQ(lang))
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY some(v: [F64], k: I64) =>
  h <- SearchV<Part>(v, k, by: _::In<Has>::WHERE(_::{open}))
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY shelves(v: [F64], k: I64) =>
  h <- SearchV<Part>(v, k, by: _::In<Has>::In<Holds>)
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY words(t: String, k: I64) =>
  h <- SearchBM25<Part>(t, k, by: _::In<Has>)
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY wordHits(t: String) => h <- SearchBM25<Part>(t, 10000) RETURN h::{ n, score }
QUERY hybridHits(v: [F64], t: String) =>
  h <- RerankRRF(SearchV<Part>(v, 50), SearchBM25<Part>(t, 50)) RETURN h::{ n, score }
QUERY hybrid(v: [F64], t: String) =>
  h <- RerankRRF(SearchV<Part>(v, 50), SearchBM25<Part>(t, 50), by: _::In<Has>)
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
QUERY ranked(v: [F64], t: String) =>
  a <- SearchV<Part>(v, 6, by: _::In<Has>)
  b <- SearchBM25<Part>(t, 6, by: _::In<Has>)
  h <- RerankRRF(SearchV<Part>(v, 6, by: _::In<Has>), SearchBM25<Part>(t, 6, by: _::In<Has>))
  RETURN a::{ n, best: _.hit::{ n } }, b::{ n, best: _.hit::{ n } },
    h::{ n, score, best: _.hit::{ n } }
QUERY written(v: [F64], k: I64) =>
  p <- AddV<Part>(v, { n: -1 })
  d <- AddN<Doc>({ n: -1 })
  AddE<Has>::From(d)::To(p)
  h <- SearchV<Part>(v, k, by: _::In<Has>)
  DROP p
  DROP d
  RETURN h::{ n, score, distance, best: _.hit::{ n, score } }
`;

interface Part {
  n: number;
  v: number[];
  text: string;
  lang: string;
  docs: number[];
}
interface Found {
  n: number;
  score: number;
  distance: number | null;
  best: { n: number; score: number };
}

const words = ['oak', 'elm', 'fir', 'ash', 'yew', 'box', 'bay', 'fig'];

class World {
  readonly random: Random;
  readonly parts: Part[] = [];
  readonly docs: { n: number; shelf: number; open: boolean }[] = [];
  db!: EmbeddedDatabase;

  constructor(
    seed: number,
    readonly partCount: number,
    readonly docCount: number,
    /** Documents that have most of the parts. */
    readonly greedy: number,
  ) {
    this.random = new Random(seed);
  }

  vector(): number[] {
    return Array.from({ length: 8 }, () => Math.fround(this.random.next() - 0.5));
  }

  text(): string {
    return Array.from({ length: 1 + this.random.below(6) }, () => this.random.pick(words)).join(
      ' ',
    );
  }

  async fill(): Promise<void> {
    this.db = await open({ dataDir: makeFolder(), sources: [{ path: 'a.hx', text: source }] });
    for (let n = 0; n < this.docCount; n++) {
      // The shelves are created in the order of their numbers, so that ties by age are known.
      const shelf = n < 4 ? n : this.random.below(4);
      const doc = { n, shelf, open: this.random.chance(0.5) };
      this.docs.push(doc);
      await this.db.call('addDoc', doc);
    }
    for (let n = 0; n < this.partCount; n++) {
      const count = this.random.pick([0, 1, 1, 1, 1, 2]);
      const most = this.random.chance(0.9) ? this.greedy : this.docCount;
      const docs = [...new Set(Array.from({ length: count }, () => this.random.below(most)))];
      const lang = this.random.pick(['en', 'de', 'da']);
      this.parts.push({ n, v: this.vector(), text: this.text(), lang, docs });
    }
    for (let at = 0; at < this.parts.length; at += 500)
      await this.db.call('addParts', { parts: this.parts.slice(at, at + 500) });
  }

  /** The best parents by looking at every hit, which come best first. */
  naive(
    hits: readonly { n: number; score: number }[],
    k: number,
    parentsOf: (part: Part) => readonly number[] = (part) => part.docs,
  ): { n: number; score: number; best: { n: number; score: number } }[] {
    const best = new Map<number, { n: number; score: number }>();
    for (const { n, score } of hits)
      for (const parent of [...parentsOf(this.parts[n]!)].sort((a, b) => a - b))
        if (!best.has(parent)) best.set(parent, { n, score });
    return [...best].slice(0, k).map(([n, hit]) => ({ n, score: hit.score, best: hit }));
  }

  ranked(v: readonly number[], passes: (part: Part) => boolean = () => true) {
    const norm = (a: readonly number[]) => Math.sqrt(a.reduce((sum, x) => sum + x * x, 0));
    return this.parts
      .filter(passes)
      .map(({ n, v: of }) => {
        const score = v.reduce((sum, x, i) => sum + x * of[i]!, 0) / (norm(v) * norm(of));
        return { n, score };
      })
      .sort((a, b) => b.score - a.score);
  }

  async found(name: string, body: Record<string, unknown>): Promise<Found[]> {
    return ((await this.db.call(name, body)) as { h: Found[] }).h;
  }
}

const essence = (found: readonly Pick<Found, 'n' | 'score' | 'best'>[]) =>
  found.map(({ n, score, best }) => [n, score.toFixed(9), best.n, best.score.toFixed(9)]);

describe.each([
  { parts: 300, docs: 40, greedy: 40 },
  { parts: 900, docs: 60, greedy: 1 },
  { parts: 50, docs: 3, greedy: 3 },
])('HT01 $parts parts of $docs documents, most in $greedy', ({ parts, docs, greedy }) => {
  const world = new World(parts, parts, docs, greedy);
  beforeAll(() => world.fill());
  afterAll(() => world.db.close());
  const { random } = world;
  const each = Array.from({ length: 12 }, (_, i) => [1, 2, 5, 30, 200][i % 5]!);

  it('a vector search yields the best parents with their best hits', async () => {
    for (const k of each) {
      const v = world.vector();
      const found = await world.found('near', { v, k });
      expect(essence(found)).toEqual(essence(world.naive(world.ranked(v), k)));
      for (const { score, distance, best } of found) {
        expect(score).toBe(best.score);
        expect(distance).toBeCloseTo(1 - score, 9);
      }
      const lowest = 0.3;
      const high = world.ranked(v).filter(({ score }) => score >= lowest);
      const above = await world.found('near', { v, k, least: lowest });
      expect(essence(above)).toEqual(essence(world.naive(high, k)));
    }
  });
  it('the filter applies to the hits', async () => {
    for (const k of each) {
      const v = world.vector();
      const lang = random.pick(['en', 'de', 'da', 'xx']);
      const hits = world.ranked(v, (part) => part.lang === lang);
      const found = await world.found('filtered', { v, k, lang });
      expect(essence(found)).toEqual(essence(world.naive(hits, k)));
    }
  });
  it('the parents may be filtered and several steps away', async () => {
    for (const k of each) {
      const v = world.vector();
      const isOpen = (part: Part) => part.docs.filter((n) => world.docs[n]!.open);
      const some = await world.found('some', { v, k });
      expect(essence(some)).toEqual(essence(world.naive(world.ranked(v), k, isOpen)));
      const shelves = await world.found('shelves', { v, k });
      const shelvesOf = (part: Part) => [...new Set(part.docs.map((n) => world.docs[n]!.shelf))];
      expect(essence(shelves)).toEqual(essence(world.naive(world.ranked(v), k, shelvesOf)));
    }
  });
  it('a keyword search yields the best parents of all matching hits', async () => {
    for (const k of each) {
      const t = world.text();
      const hits = await world.found('wordHits', { t });
      const found = await world.found('words', { t, k });
      expect(essence(found)).toEqual(essence(world.naive(hits, k)));
      expect(found.every(({ distance }) => distance === null)).toBe(true);
    }
  });
  it('a fusion groups its hits, or fuses groups', async () => {
    for (const _ of each) {
      const [v, t] = [world.vector(), world.text()];
      const hits = await world.found('hybridHits', { v, t });
      const found = await world.found('hybrid', { v, t });
      expect(essence(found)).toEqual(essence(world.naive(hits, Number.POSITIVE_INFINITY)));
      type Group = { n: number; best: { n: number } };
      const reply = (await world.db.call('ranked', { v, t })) as Record<'a' | 'b' | 'h', Group[]>;
      const fused = new Map<number, { score: number; best: number }>();
      for (const list of [reply.a, reply.b])
        for (const [at, { n, best }] of list.entries()) {
          const known = fused.get(n) ?? { score: 0, best: best.n };
          fused.set(n, { ...known, score: known.score + 1 / (60 + at + 1) });
        }
      const got = new Map(reply.h.map(({ n, best }) => [n, best.n]));
      expect(got).toEqual(new Map([...fused].map(([n, { best }]) => [n, best])));
    }
  });
  it('a search sees what its own request wrote', async () => {
    const v = world.vector();
    const [first, ...rest] = await world.found('written', { v, k: 4 });
    expect(first).toMatchObject({ n: -1, score: 1, best: { n: -1, score: 1 } });
    expect(essence(rest)).toEqual(essence(world.naive(world.ranked(v), 3)));
  });
});

describe('HT01 in a graph', () => {
  const world = new World(7, 12_000, 300, 2);
  beforeAll(() => world.fill());
  afterAll(() => world.db.close());

  it('widens until there are k parents, although two documents have most of the parts', async () => {
    let same = 0;
    let all = 0;
    for (let i = 0; i < 20; i++) {
      const v = world.vector();
      const k = [5, 20, 100, 250][i % 4]!;
      const found = await world.found('near', { v, k });
      const wanted = world.naive(world.ranked(v), k);
      expect(found).toHaveLength(wanted.length);
      const known = new Set(wanted.map(({ n }) => n));
      all += wanted.length;
      same += found.filter(({ n }) => known.has(n)).length;
    }
    expect(same / all).toBeGreaterThan(0.99);
  });
});
