// Generates a social network of a seed in the shape of LDBC SNB. Persons know each other. Forums have posts
// and threads of comments. There are also likes, tags in classes, places and employers. The distributions are
// heavy-tailed, as in LDBC. Scale 1 has the counts of scale factor 0.1: 327 thousand nodes, 1.38 million
// edges.
import { randomOf } from '../support/seeded-random.js';
import { edgeEnds } from './ldbc-shape.js';

export type Value = number | string | boolean | null;

export interface NodeTable {
  /** Unique within the type, ascending. */
  ids: number[];
  columns: Record<string, Value[]>;
}

export interface EdgeTable {
  /** Positions within the tables of the two ends. */
  from: number[];
  to: number[];
  columns: Record<string, Value[]>;
}

export interface Network {
  nodes: Record<string, NodeTable>;
  edges: Record<string, EdgeTable>;
}

const counts: Record<string, number> = {
  Person: 1_700,
  Forum: 13_750,
  Post: 135_700,
  Comment: 151_000,
  Tag: 16_080,
  Place: 1_460,
  Organisation: 7_955,
};
/** They do not grow with the network. */
const classCount = 71;
const countryCount = 111;

/** Edges that go anywhere, some ends more often than others. */
const loose: [name: string, count: number][] = [
  ['HasMember', 123_300],
  ['HasInterest', 39_900],
  ['StudyAt', 1_200],
  ['WorkAt', 3_700],
  ['LikesPost', 47_200],
  ['LikesComment', 62_200],
  ['ForumHasTag', 47_700],
  ['PostHasTag', 51_100],
  ['CommentHasTag', 191_300],
];
const friendships = 14_100;

class Maker {
  readonly nodes: Record<string, NodeTable> = {};
  readonly edges: Record<string, EdgeTable> = {};
  readonly #random: () => number;

  constructor(
    seed: number,
    readonly scale: number,
  ) {
    this.#random = randomOf(seed);
    for (const name of Object.keys(edgeEnds)) this.edges[name] = { from: [], to: [], columns: {} };
  }

  below = (end: number): number => Math.floor(this.#random() * end);

  /** Small numbers more often: of 1,000 the first ten a sixth of the time. */
  skewed = (end: number): number => Math.floor(end * this.#random() ** 2.5);

  chance = (part: number): boolean => this.#random() < part;

  scaled(count: number, least: number): number {
    return Math.max(least, Math.round(count * this.scale));
  }

  size(type: string): number {
    return this.nodes[type]!.ids.length;
  }

  /** Seventeen digits, as far as a number holds them: 20100214153210447. */
  date = (): number => {
    const two = (value: number): string => String(value).padStart(2, '0');
    const day = `${2010 + this.below(3)}${two(1 + this.below(12))}${two(1 + this.below(28))}`;
    const time = `${two(this.below(24))}${two(this.below(60))}${two(this.below(60))}`;
    return Number(`${day}${time}${String(this.below(1000)).padStart(3, '0')}`);
  };

  addNodes(type: string, count: number, columns: Record<string, (i: number) => Value>): void {
    // Ids are far apart, and of no order that says anything.
    const step = 3 + type.length;
    const ids = Array.from({ length: count }, (_, i) => 5 + i * step);
    const filled = Object.entries(columns).map(([name, value]) => [
      name,
      ids.map((_, i) => value(i)),
    ]);
    this.nodes[type] = { ids, columns: Object.fromEntries(filled) as Record<string, Value[]> };
  }

  addEdge(name: string, from: number, to: number, columns: Record<string, Value> = {}): void {
    const edges = this.edges[name]!;
    edges.from.push(from);
    edges.to.push(to);
    for (const [column, value] of Object.entries(columns)) {
      (edges.columns[column] ??= []).push(value);
    }
  }
}

export function makeNetwork(scale: number, seed = 1): Network {
  const maker = new Maker(seed, scale);
  addPeople(maker);
  addWorld(maker);
  addMessages(maker);
  addFriendships(maker);
  for (const [name, count] of loose) addLoose(maker, name, maker.scaled(count, 20));
  return maker;
}

function addPeople(maker: Maker): void {
  const { below, skewed, date } = maker;
  maker.addNodes('Person', maker.scaled(counts.Person!, 40), {
    firstName: () => `Given${skewed(200)}`,
    lastName: () => `Family${skewed(500)}`,
    gender: () => (below(2) === 0 ? 'female' : 'male'),
    birthday: () => `19${70 + below(30)}-0${1 + below(9)}-1${below(10)}`,
    creationDate: date,
    locationIP: () => `10.${below(256)}.${below(256)}.${below(256)}`,
    browserUsed: () => ['Firefox', 'Chrome', 'Safari'][skewed(3)]!,
  });
  maker.addNodes('Forum', maker.scaled(counts.Forum!, 20), {
    title: (i) => `Group ${i}, of ${skewed(100)}`,
    creationDate: date,
  });
}

/** Places within countries, organisations in places, tags in a tree of classes. */
function addWorld(maker: Maker): void {
  const { below, skewed } = maker;
  maker.addNodes('Place', countryCount + maker.scaled(counts.Place!, 20), {
    name: (i) => (i < countryCount ? `Country ${i}` : `City ${i}`),
    type: (i) => (i < countryCount ? 'country' : 'city'),
  });
  for (let city = countryCount; city < maker.size('Place'); city++) {
    maker.addEdge('PlaceIsPartOf', city, skewed(countryCount));
  }
  maker.addNodes('Organisation', maker.scaled(counts.Organisation!, 20), {
    name: (i) => `Company ${i}`,
  });
  for (let i = 0; i < maker.size('Organisation'); i++) {
    maker.addEdge('OrganisationIsLocatedIn', i, skewed(countryCount));
  }
  maker.addNodes('TagClass', classCount, { name: (i) => `Class ${i}` });
  for (let i = 1; i < classCount; i++) maker.addEdge('IsSubclassOf', i, below(Math.ceil(i / 2)));
  maker.addNodes('Tag', maker.scaled(counts.Tag!, 60), { name: (i) => `Tag ${i}` });
  for (let i = 0; i < maker.size('Tag'); i++) maker.addEdge('HasType', i, below(classCount));
  const cities = maker.size('Place') - countryCount;
  for (let i = 0; i < maker.size('Person'); i++) {
    maker.addEdge('PersonIsLocatedIn', i, countryCount + skewed(cities));
  }
}

function addMessages(maker: Maker): void {
  const { below, skewed, date, chance } = maker;
  maker.addNodes('Post', maker.scaled(counts.Post!, 120), {
    creationDate: date,
    length: () => skewed(2_000),
  });
  maker.addNodes('Comment', maker.scaled(counts.Comment!, 160), {
    creationDate: date,
    length: () => skewed(200),
  });
  // Posts and comments are messages, of one row of numbers.
  const { Post: posts, Comment: comments } = maker.nodes as Record<'Post' | 'Comment', NodeTable>;
  const after = posts.ids.at(-1)! + 11;
  comments.ids = comments.ids.map((id) => after + id);
  const [people, forums] = [maker.size('Person'), maker.size('Forum')];
  for (let i = 0; i < forums; i++) maker.addEdge('HasModerator', i, skewed(people));
  for (let i = 0; i < posts.ids.length; i++) {
    maker.addEdge('ContainerOf', skewed(forums), i);
    maker.addEdge('PostHasCreator', i, skewed(people));
    maker.addEdge('PostIsLocatedIn', i, skewed(countryCount));
  }
  const depths: number[] = [];
  for (let i = 0; i < comments.ids.length; i++) {
    maker.addEdge('CommentHasCreator', i, skewed(people));
    if (chance(0.49)) maker.addEdge('CommentIsLocatedIn', i, skewed(countryCount));
    const before = i === 0 ? 0 : i - 1 - skewed(i);
    const isReply = i > 0 && chance(0.49) && depths[before]! < 20;
    depths.push(isReply ? depths[before]! + 1 : 0);
    if (isReply) maker.addEdge('ReplyOfComment', i, before);
    else maker.addEdge('ReplyOfPost', i, below(posts.ids.length));
  }
}

/** One edge for each pair of persons who know each other, in either order. */
function addFriendships(maker: Maker): void {
  const people = maker.size('Person');
  const known = new Set<number>();
  const wanted = Math.min(maker.scaled(friendships, 200), (people * (people - 1)) / 8);
  while (known.size < wanted) {
    const [a, b] = [maker.skewed(people), maker.below(people)];
    const pair = Math.min(a, b) * people + Math.max(a, b);
    if (a === b || known.has(pair)) continue;
    known.add(pair);
    maker.addEdge('Knows', a, b, { creationDate: maker.date() });
  }
}

function addLoose(maker: Maker, name: string, count: number): void {
  const [from, to] = edgeEnds[name]!.map((type) => maker.size(type)) as [number, number];
  const { below, skewed } = maker;
  const pairs = new Set<number>();
  for (let tries = 0; pairs.size < count && tries < 3 * count; tries++) {
    const [a, b] = [below(from), skewed(to)];
    if (pairs.has(a * to + b)) continue;
    pairs.add(a * to + b);
    const columns: Record<string, Value> = name === 'WorkAt' ? { workFrom: 1990 + below(24) } : {};
    maker.addEdge(name, a, b, columns);
  }
}
