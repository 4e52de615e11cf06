// TrellisDB as a contender of `embedded` and `crud`: calls in this process, objects in and out.
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { type EmbeddedContender, type PeopleData, hubs, people } from './embedded-contender.js';
import { ageCounter, turn } from './turns.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
E::Knows { From: Person, To: Person }
QUERY people(rows: [{name: String, age: U8, city: String}]) =>
  FOR {name, age, city} IN rows { AddN<Person>({ name, age, city }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY named(name: String) => p <- N<Person>({name: name}) RETURN p
QUERY friends(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p
QUERY friendNames(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p::{id, name}
QUERY friendCount(id: ID) => p <- N<Person>(id)::Out<Knows>::COUNT RETURN p
QUERY total() => p <- N<Person>::COUNT RETURN p
QUERY scan(from: U32, to: U32) => p <- N<Person>::RANGE(from, to) RETURN p
QUERY create(name: String) => p <- AddN<Person>({ name, age: 1, city: "Lund" }) RETURN p::ID
QUERY update(id: ID, age: U8) => p <- N<Person>(id)::UPDATE({ age: age }) RETURN p::ID
QUERY gone(id: ID) => DROP N<Person>(id) RETURN "gone"
QUERY join(a: ID, b: ID) => e <- AddE<Knows>::From(a)::To(b) RETURN e::ID
`;

export async function openPeople(folder: string, data: PeopleData) {
  const db = await open({ dataDir: folder, sources: [{ path: 'main.hx', text: source }] });
  const batch = 1_000;
  for (let at = 0; at < people; at += batch)
    await db.call('people', { rows: data.persons.slice(at, at + batch) });
  const { p: ids } = await db.call<{ p: string[] }>('ids');
  for (const [i, friends] of data.friends.entries())
    await db.call('link', { a: ids[i], bs: friends.map((each) => ids[each]) });
  return { db, ids };
}

export function trellisContender(db: EmbeddedDatabase, ids: readonly string[]): EmbeddedContender {
  // A call that takes an element away takes one that `durable create` has added.
  const created: string[] = [];
  const any = (n: number) => ({ id: ids[turn(n, people)] });
  const hub = (n: number) => ({ id: ids[turn(n, hubs)] });
  const nextAge = ageCounter();
  return {
    name: 'TrellisDB',
    isDurable: true,
    tasks: {
      'point read by id': (n) => db.call('person', any(n)),
      'point read by unique name': (n) => db.call('named', { name: `person ${turn(n, people)}` }),
      'hop, 20 whole rows': (n) => db.call('friends', hub(n)),
      'hop, 20 rows of 2 members': (n) => db.call('friendNames', hub(n)),
      'hop, count only': (n) => db.call('friendCount', hub(n)),
      'scan of 20 rows': (n) => {
        const from = (n * 20) % 5_000;
        return db.call('scan', { from, to: from + 20 });
      },
      'durable create': async () => {
        const name = `new ${created.length} ${performance.now()}`;
        const { p } = await db.call<{ p: string }>('create', { name });
        created.push(p);
      },
      'durable update': (n) => db.call('update', { ...any(n), age: nextAge() }),
      'durable delete': () => {
        const id = created.pop();
        if (id === undefined) throw new RangeError('nothing left to delete');
        return db.call('gone', { id });
      },
    },
    check: async (at) => {
      const { p } = await db.call<{ p: { name: string }[] }>('friends', { id: ids[at] });
      const { p: count } = await db.call<{ p: number }>('total');
      return { friends: p.map(({ name }) => name), count };
    },
    close: () => db.close(),
  };
}
