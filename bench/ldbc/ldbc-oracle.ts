// What the queries must answer, found in the network itself by the most obvious means: lists of
// neighbours, one step after another, sorted at the end.
import { randomOf } from '../support/seeded-random.js';
import type { Network, Value } from './ldbc-network.js';

/** A call and its answer: rows of named values, in order. */
export interface Expected {
  args: Record<string, Value>;
  rows: Record<string, unknown>[];
}

type Row = Record<string, unknown>;

/** A query's arguments, drawn, and its rows. */
interface Form {
  draw(pick: (type: string) => number, below: (end: number) => number): Record<string, Value>;
  answer(graph: Graph, args: Record<string, Value>): Row[];
}

class Graph {
  readonly #outs = new Map<string, number[][]>();
  readonly #ins = new Map<string, number[][]>();
  readonly #places = new Map<string, Map<number, number>>();

  constructor(readonly network: Network) {}

  /** Where an id stands in its table. */
  at(type: string, id: Value): number | undefined {
    let places = this.#places.get(type);
    if (places === undefined) {
      places = new Map(this.network.nodes[type]!.ids.map((each, i) => [each, i]));
      this.#places.set(type, places);
    }
    return places.get(id as number);
  }

  id = (type: string, at: number): number => this.network.nodes[type]!.ids[at]!;
  value = (type: string, column: string, at: number): Value =>
    this.network.nodes[type]!.columns[column]![at]!;

  /** Positions of the edges of a node. */
  edges(way: 'out' | 'in', name: string, node: number): readonly number[] {
    const kept = way === 'out' ? this.#outs : this.#ins;
    let lists = kept.get(name);
    if (lists === undefined) {
      lists = [];
      const { from, to } = this.network.edges[name]!;
      for (const [edge, end] of (way === 'out' ? from : to).entries())
        (lists[end] ??= []).push(edge);
      kept.set(name, lists);
    }
    return lists[node] ?? [];
  }

  out = (name: string, node: number): number[] =>
    this.edges('out', name, node).map((edge) => this.network.edges[name]!.to[edge]!);
  in = (name: string, node: number): number[] =>
    this.edges('in', name, node).map((edge) => this.network.edges[name]!.from[edge]!);
  friends = (person: number): number[] => [
    ...this.out('Knows', person),
    ...this.in('Knows', person),
  ];

  /** Persons by their distance, from 1 to `most`. */
  rings(person: number, most: number): number[][] {
    const seen = new Set([person]);
    const rings: number[][] = [];
    let ring = [person];
    while (rings.length < most && ring.length > 0) {
      const next = new Set(ring.flatMap(this.friends).filter((each) => !seen.has(each)));
      for (const each of next) seen.add(each);
      ring = [...next];
      rings.push(ring);
    }
    return rings;
  }
}

/** By each of the keys in turn; `-name` descending. */
function sorted(rows: Row[], ...keys: string[]): Row[] {
  return rows.sort((a, b) => {
    for (const key of keys) {
      const name = key.replace('-', '');
      const [x, y] = [a[name] as number | string, b[name] as number | string];
      if (x !== y) return x < y === (key === name) ? -1 : 1;
    }
    return 0;
  });
}

const person = (graph: Graph, args: Record<string, Value>): number =>
  graph.at('Person', args.personId!)!;

const personDraw: Form['draw'] = (pick) => ({ personId: pick('Person') });

const ring = (hops: number): Form => ({
  draw: personDraw,
  answer: (graph, args) => [
    { count: graph.rings(person(graph, args), hops)[hops - 1]?.length ?? 0 },
  ],
});

/** A post or a comment: the parts of the names of its edges. */
function messageOf(graph: Graph, id: Value): ['Post' | 'Comment', number] {
  const post = graph.at('Post', id);
  return post === undefined ? ['Comment', graph.at('Comment', id)!] : ['Post', post];
}

const messageDraw: Form['draw'] = (pick, below) => ({
  id: pick(below(2) === 0 ? 'Post' : 'Comment'),
});

/** A class and all below it. */
function classesBelow(graph: Graph, name: Value): number[] {
  const at = graph.network.nodes.TagClass!.columns.name!.indexOf(name);
  const found = [at];
  for (const each of found) found.push(...graph.in('IsSubclassOf', each));
  return found;
}

const forms: Record<string, Form> = {
  IS1: {
    draw: personDraw,
    answer: (graph, args) => {
      const at = person(graph, args);
      const names = Object.keys(graph.network.nodes.Person!.columns);
      const values = names.map((name) => [name, graph.value('Person', name, at)]);
      const [city] = graph.out('PersonIsLocatedIn', at);
      return [{ ...(Object.fromEntries(values) as Row), cityId: graph.id('Place', city!) }];
    },
  },
  IS3: {
    draw: personDraw,
    answer: (graph, args) => {
      const at = person(graph, args);
      const { from, to, columns } = graph.network.edges.Knows!;
      const edges = [...graph.edges('out', 'Knows', at), ...graph.edges('in', 'Knows', at)];
      const rows = edges.map((edge) => {
        const friend = from[edge] === at ? to[edge]! : from[edge]!;
        const [first, last] = ['firstName', 'lastName'].map((name) =>
          graph.value('Person', name, friend),
        );
        return { id: graph.id('Person', friend), first, last, since: columns.creationDate![edge] };
      });
      return sorted(rows, '-since', 'id');
    },
  },
  IS5: {
    draw: messageDraw,
    answer: (graph, { id }) => {
      const [type, at] = messageOf(graph, id!);
      return graph.out(`${type}HasCreator`, at).map((creator) => ({
        ldbcId: graph.id('Person', creator),
        firstName: graph.value('Person', 'firstName', creator),
        lastName: graph.value('Person', 'lastName', creator),
      }));
    },
  },
  IS6: {
    draw: (pick) => ({ commentId: pick('Comment') }),
    answer: (graph, { commentId }) => {
      let at = graph.at('Comment', commentId!)!;
      for (let next = [at]; next.length > 0; next = graph.out('ReplyOfComment', at))
        [at] = next as [number];
      const [post] = graph.out('ReplyOfPost', at);
      return graph.in('ContainerOf', post!).map((forum) => ({
        id: graph.id('Forum', forum),
        title: graph.value('Forum', 'title', forum),
        moderator: graph.id('Person', graph.out('HasModerator', forum)[0]!),
      }));
    },
  },
  IS7: {
    draw: messageDraw,
    answer: (graph, { id }) => {
      const [type, at] = messageOf(graph, id!);
      const [creator] = graph.out(`${type}HasCreator`, at);
      const rows = graph.in(`ReplyOf${type}`, at).map((reply) => {
        const [author] = graph.out('CommentHasCreator', reply);
        const knows = graph.friends(author!).includes(creator!);
        return { id: graph.id('Comment', reply), author: graph.id('Person', author!), knows };
      });
      return sorted(rows, 'id');
    },
  },
  KHOP1: ring(1),
  KHOP2: ring(2),
  KHOP3: ring(3),
  IC1: {
    draw: (pick, below) => ({ personId: pick('Person'), firstName: `Given${below(30)}` }),
    answer: (graph, args) => {
      const rows = graph.rings(person(graph, args), 3).flatMap((people, i) =>
        people
          .filter((each) => graph.value('Person', 'firstName', each) === args.firstName)
          .map((each) => ({
            id: graph.id('Person', each),
            distance: i + 1,
            lastName: graph.value('Person', 'lastName', each),
          })),
      );
      return sorted(rows, 'distance', 'lastName', 'id').slice(0, 20);
    },
  },
  IC11: {
    draw: (pick, below) => ({
      personId: pick('Person'),
      // The countries stand first among the places, 8 apart.
      countryId: 5 + 8 * below(12),
      beforeYear: 1995 + below(19),
    }),
    answer: (graph, args) => {
      const country = graph.at('Place', args.countryId!)!;
      const { to, columns } = graph.network.edges.WorkAt!;
      const rows = graph.rings(person(graph, args), 2).flatMap((people) =>
        people.flatMap((friend) =>
          graph.edges('out', 'WorkAt', friend).flatMap((edge) => {
            const workFrom = columns.workFrom![edge] as number;
            const isThere = graph.out('OrganisationIsLocatedIn', to[edge]!).includes(country);
            if (!isThere || workFrom >= (args.beforeYear as number)) return [];
            const [first, last] = ['firstName', 'lastName'].map((name) =>
              graph.value('Person', name, friend),
            );
            const org = graph.value('Organisation', 'name', to[edge]!);
            return [{ id: graph.id('Person', friend), first, last, org, workFrom }];
          }),
        ),
      );
      return sorted(rows, 'workFrom', 'id', '-org').slice(0, 10);
    },
  },
  IC12: {
    draw: (pick, below) => ({ personId: pick('Person'), tagClass: `Class ${below(12)}` }),
    answer: (graph, args) => {
      const tags = new Set(
        classesBelow(graph, args.tagClass!).flatMap((each) => graph.in('HasType', each)),
      );
      const rows = graph.friends(person(graph, args)).flatMap((friend) => {
        const found = new Set<Value>();
        let n = 0;
        for (const comment of graph.in('CommentHasCreator', friend)) {
          const about = graph
            .out('ReplyOfPost', comment)
            .flatMap((post) => graph.out('PostHasTag', post))
            .filter((tag) => tags.has(tag));
          if (about.length > 0) n++;
          for (const tag of about) found.add(graph.value('Tag', 'name', tag));
        }
        return n === 0 ? [] : [{ id: graph.id('Person', friend), n, tags: [...found].sort() }];
      });
      return sorted(rows, '-n', 'id').slice(0, 20);
    },
  },
  IC13: {
    draw: (pick) => ({ a: pick('Person'), b: pick('Person') }),
    answer: (graph, { a, b }) => {
      const [from, to] = [a!, b!].map((id) => graph.at('Person', id)!) as [number, number];
      if (from === to) return [{ hops: 0 }];
      const hops = graph.rings(from, Infinity).findIndex((people) => people.includes(to));
      return [{ hops: hops < 0 ? -1 : hops + 1 }];
    },
  },
};

/** Returns the calls of every query, by its name. */
export function answersOf(network: Network, requests: number): Record<string, Expected[]> {
  const graph = new Graph(network);
  const random = randomOf(2);
  const below = (end: number): number => Math.floor(random() * end);
  const pick = (type: string): number => graph.id(type, below(network.nodes[type]!.ids.length));
  const all = Object.entries(forms).map(([name, form]) => {
    const calls = Array.from({ length: requests }, () => {
      const args = form.draw(pick, below);
      return { args, rows: form.answer(graph, args) };
    });
    return [name, calls] as const;
  });
  return Object.fromEntries(all);
}
