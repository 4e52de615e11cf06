// Grafeo as a contender of `embedded` and `crud`. Reads by id and hops use its calls without a query language,
// which are faster than GQL; the rest is GQL.
import { join } from 'node:path';
import { openGrafeo } from '../peer/grafeo-peer.js';
import { type EmbeddedContender, type PeopleData, hubs, people } from './embedded-contender.js';
import { ageCounter, turn } from './turns.js';

const knows = { direction: 'out', edgeTypes: ['Knows'] };

/** Undefined, with a printed reason, when it cannot be had here. */
export async function grafeoContender(
  folder: string,
  data: PeopleData,
): Promise<EmbeddedContender | undefined> {
  const db = await openGrafeo(join(folder, 'grafeo'));
  if (db === undefined) return undefined;
  await db.execute('CREATE INDEX personName FOR (p:Person) ON (p.name)');
  const ids = data.persons.map((person) => db.createNode(['Person'], person).id);
  for (const [i, friends] of data.friends.entries())
    for (const each of friends) db.createEdge(ids[i]!, ids[each]!, 'Knows');
  const created: number[] = [];
  const any = (n: number): number => ids[turn(n, people)]!;
  const hub = (n: number): number => ids[turn(n, hubs)]!;
  const friendsOf = (id: number): Record<string, unknown>[] =>
    db.getNodeEdges(id, knows).map(([to]) => ({ id: to, ...db.getNode(to!)!.properties() }));
  const rows = async (text: string, args?: object) => (await db.execute(text, args)).toArray();
  const nextAge = ageCounter();
  return {
    name: 'Grafeo',
    isDurable: false,
    tasks: {
      'point read by id': (n) => db.getNode(any(n))!.properties(),
      'point read by unique name': (n) =>
        rows('MATCH (p:Person {name: $name}) RETURN id(p), p.name, p.age, p.city', {
          name: `person ${turn(n, people)}`,
        }),
      'hop, 20 whole rows': (n) => friendsOf(hub(n)),
      'hop, 20 rows of 2 members': (n) =>
        rows('MATCH (p:Person)-[:Knows]->(f) WHERE id(p) = $id RETURN id(f), f.name', {
          id: hub(n),
        }),
      'hop, count only': (n) => db.getNodeEdges(hub(n), knows).length,
      'scan of 20 rows': (n) =>
        rows(`MATCH (p:Person) RETURN p.name, p.age, p.city SKIP ${(n * 20) % 5_000} LIMIT 20`),
      'durable create': () => {
        const name = `new ${created.length} ${performance.now()}`;
        created.push(db.createNode(['Person'], { name, age: 1, city: 'Lund' }).id);
      },
      'durable update': (n) => db.setNodeProperty(any(n), 'age', nextAge()),
      'durable delete': () => {
        const id = created.pop();
        if (id === undefined) throw new RangeError('nothing left to delete');
        return db.detachDeleteNode(id);
      },
    },
    check: async (at) => {
      const [first] = await rows('MATCH (p:Person) RETURN count(p) AS count');
      const friends = friendsOf(ids[at]!).map((each) => each.name as string);
      return { friends, count: Number(first!.count) };
    },
    close: () => db.close(),
  };
}
