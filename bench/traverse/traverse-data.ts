// Open English WordNet as a graph, by numbers: synsets, words, hypernyms between synsets, senses
// from words to synsets; and the requests of the traversal benchmark with their right answers.
import { dataSets } from '../support/data-set.js';
import { randomOf } from '../support/seeded-random.js';

const set = 'graph-english-wordnet';

export interface WordNet {
  synsets: string[];
  words: number;
  /** Pairs of numbers, one after the other. */
  hypernyms: Uint32Array;
  senses: Uint32Array;
  /** Synset number by its key. */
  synsetOf: ReadonlyMap<string, number>;
  expected: {
    hypernym_ancestors: { id: string; expect: string[] }[];
    direct_hyponym_count: { id: string; expect: number }[];
    directed_shortest_path_over_hypernym: { a: string; b: string; expect: number }[];
  };
}

/** The graph, or undefined with a printed reason. */
export async function loadWordNet(): Promise<WordNet | undefined> {
  const sets = await dataSets(set);
  if (sets === undefined) return undefined;
  const rows = async (file: string) => sets.readCsv(`${set}/${file}.csv.gz`);
  const synsets = (await sets.readNdjson(`${set}/synsets.ndjson.gz`)).map(({ id }) => String(id));
  const words = (await rows('words')).map(({ id }) => id!);
  const synsetOf = new Map(synsets.map((key, number) => [key, number]));
  const wordOf = new Map(words.map((key, number) => [key, number]));
  const relations = await rows('synset_relations');
  const hypernyms = relations.filter(({ relation }) => relation === 'hypernym');
  const senses = await rows('word_senses');
  return {
    synsets,
    words: words.length,
    hypernyms: Uint32Array.from(
      hypernyms.flatMap(({ from, to }) => [synsetOf.get(from!)!, synsetOf.get(to!)!]),
    ),
    senses: Uint32Array.from(
      senses.flatMap(({ word_id, synset_id }) => [
        wordOf.get(word_id!)!,
        synsetOf.get(synset_id!)!,
      ]),
    ),
    synsetOf,
    expected: sets.readJson(`${set}/expected.json`) as WordNet['expected'],
  };
}

/** Neighbours by number, from pairs; `reversed` for those that point here. */
function neighbours(pairs: Uint32Array, count: number, reversed = false): number[][] {
  const lists = Array.from({ length: count }, (): number[] => []);
  const [from, to] = reversed ? [1, 0] : [0, 1];
  for (let i = 0; i < pairs.length; i += 2) lists[pairs[i + from]!]!.push(pairs[i + to]!);
  return lists;
}

export const workloads = [
  'hyponyms, 1 hop',
  'hyponyms, 2 hops',
  'hyponyms, 3 hops',
  'synonyms',
  'path',
] as const;
export type Workload = (typeof workloads)[number];

export interface TraverseRequest {
  /** Synset number; word number for `synonyms`. */
  from: number;
  /** Parameters of the workload `path`. */
  to: number;
  /** Rows, or steps of the path (-1: none). */
  answer: number;
}

/** Distinct places reached after `hops` steps. */
function reach(lists: readonly number[][], from: number, hops: number): number {
  let level = new Set([from]);
  for (let hop = 0; hop < hops; hop++)
    level = new Set([...level].flatMap((place) => lists[place]!));
  return level.size;
}

/** Requests of every workload, with the answers of the data themselves. */
export function drawRequests(net: WordNet): Record<Workload, TraverseRequest[]> {
  const random = randomOf(31);
  const hyponyms = neighbours(net.hypernyms, net.synsets.length, true);
  const broad = hyponyms.flatMap((_, number) => (reach(hyponyms, number, 3) >= 20 ? [number] : []));
  const sensesOf = neighbours(net.senses, net.words);
  const wordsOf = neighbours(net.senses, net.synsets.length, true);
  const draw = (count: number, one: () => TraverseRequest) => Array.from({ length: count }, one);
  const hop = (hops: number) =>
    draw(300, () => {
      const from = broad[Math.floor(random() * broad.length)]!;
      return { from, to: -1, answer: reach(hyponyms, from, hops) };
    });
  const synonyms = draw(300, () => {
    const from = Math.floor(random() * net.words);
    const answer = new Set(sensesOf[from]!.flatMap((synset) => wordsOf[synset]!)).size;
    return { from, to: -1, answer };
  });
  const path = net.expected.directed_shortest_path_over_hypernym.map(({ a, b, expect }) => ({
    from: net.synsetOf.get(a)!,
    to: net.synsetOf.get(b)!,
    answer: expect,
  }));
  return {
    'hyponyms, 1 hop': hop(1),
    'hyponyms, 2 hops': hop(2),
    'hyponyms, 3 hops': hop(3),
    synonyms,
    path,
  };
}
