// The data and requests of the graph-vector benchmark: users, items with vectors, edges between
// them, and for every request the right answer, from the data set itself.
import { dataSets } from '../support/data-set.js';
import { randomOf } from '../support/seeded-random.js';

const set = 'gvb-shape-10k-users';
const vectorSet = 'lsa-wordnet-256-cosine';

export interface GvbData {
  users: number;
  items: number;
  dimension: number;
  /** Index: user number. */
  country: Uint8Array;
  /** Index: item number. */
  category: Uint16Array;
  /** Items of a user, ascending. */
  itemsOf(user: number): Uint32Array;
  vectorOf(item: number): Float32Array;
  edges: number;
}

/** One request of every workload, with the item numbers that answer it. */
export interface GvbRequest {
  item: number;
  user: number;
  category: number;
  country: number;
  vector: Float32Array;
  oneHop: Uint32Array;
  oneHopFilter: number[];
  /** The ten nearest items, exact. */
  nearest: Int32Array;
  /** Returns those of the ten items that a user of `country` has. */
  nearestOfCountry: number[];
}

export interface Gvb {
  data: GvbData;
  /** Requests about the first `users` users, with the answers of a database that holds only those. */
  requestsFor(users: number): GvbRequest[];
}

interface Expected {
  user: number;
  category: number;
  onehop_count: number;
  onehop_item_sum: number;
  onehopfilter_items: number[];
}

const requestCount = 1000;

/** The set, or undefined with a printed reason. `scale` below 1 keeps that share of the users. */
export async function loadGvb(scale: number): Promise<Gvb | undefined> {
  const sets = await dataSets(set, vectorSet);
  if (sets === undefined) return undefined;
  const country = sets.readU8(`${set}/users.country.u8.gz`, 1).data;
  const category = sets.readU16(`${set}/items.category.u16.gz`);
  const pairs = sets.readU32(`${set}/edges.u32x2.gz`);
  const base = sets.readFvecs(`${vectorSet}/base.fvecs.gz`);
  const users = Math.round(country.length * scale);
  const starts = startsOf(pairs, country.length);
  const targets = Uint32Array.from({ length: pairs.length / 2 }, (_, i) => pairs[2 * i + 1]!);
  const data: GvbData = {
    users,
    items: category.length,
    dimension: base.d,
    country: country.subarray(0, users),
    category,
    itemsOf: (user) => targets.subarray(starts[user]!, starts[user + 1]!),
    vectorOf: (item) => base.row(item),
    edges: starts[users]!,
  };
  const expected = sets.readJson(`${set}/expected.json`) as Expected[];
  checkExpected(data, expected);
  const queries = sets.readFvecs(`${vectorSet}/query.fvecs.gz`);
  const truth = sets.readIvecs(`${vectorSet}/groundtruth.ivecs.gz`);
  return { data, requestsFor: (count) => draw(data, count, expected, queries, truth) };
}

/** Where each user's edges start; the pairs are sorted by user. */
function startsOf(pairs: Uint32Array, users: number): Uint32Array {
  const starts = new Uint32Array(users + 1);
  for (let i = 0; i < pairs.length; i += 2) starts[pairs[i]! + 1]!++;
  for (let user = 0; user < users; user++) starts[user + 1]! += starts[user]!;
  return starts;
}

/** The data must give the set's own answers, or every later comparison is void. */
function checkExpected(data: GvbData, expected: readonly Expected[]): void {
  for (const one of expected) {
    const items = data.itemsOf(one.user);
    const sum = items.reduce((total, item) => total + item, 0);
    const same = items.length === one.onehop_count && sum === one.onehop_item_sum;
    if (!same) throw new Error(`user ${one.user} does not have the expected items`);
  }
}

function draw(
  data: GvbData,
  users: number,
  expected: readonly Expected[],
  queries: { n: number; row(i: number): Float32Array },
  truth: { row(i: number): Int32Array },
): GvbRequest[] {
  const random = randomOf(3);
  const held = expected.filter(({ user }) => user < users);
  const countries = countriesByItem(data, users);
  return Array.from({ length: Math.min(requestCount, queries.n) }, (_, i) => {
    const user = held[i]?.user ?? Math.floor(random() * users);
    const category = held[i]?.category ?? Math.floor(random() * 1000);
    const country = Math.floor(random() * 25);
    const oneHop = data.itemsOf(user);
    const nearest = truth.row(i).slice(0, 10);
    const isOfCountry = (item: number): boolean => ((countries[item]! >>> country) & 1) === 1;
    return {
      item: Math.floor(random() * data.items),
      user,
      category,
      country,
      vector: queries.row(i),
      oneHop,
      oneHopFilter: Array.from(oneHop).filter((item) => data.category[item] === category),
      nearest,
      nearestOfCountry: Array.from(nearest).filter(isOfCountry),
    };
  });
}

/** Per item a bit for every country whose users have it (25 countries fit). */
function countriesByItem(data: GvbData, users: number): Uint32Array {
  const bits = new Uint32Array(data.items);
  for (let user = 0; user < users; user++) {
    const bit = 1 << data.country[user]!;
    for (const item of data.itemsOf(user)) bits[item]! |= bit;
  }
  return bits;
}
