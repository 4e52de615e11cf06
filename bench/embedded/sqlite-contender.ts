// SQLite as a contender of `embedded` and `crud`: a table with a unique index on the name, and edges by both
// ends. Elements are found by integers, where ours are found by UUIDs.
import { join } from 'node:path';
import { openSqlite } from '../peer/sqlite-peer.js';
import { type EmbeddedContender, type PeopleData, hubs, people } from './embedded-contender.js';
import { ageCounter, turn } from './turns.js';

const schema = `
CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER, city TEXT);
CREATE TABLE Knows (src INTEGER, dst INTEGER, PRIMARY KEY (src, dst)) WITHOUT ROWID;
CREATE INDEX KnowsIn ON Knows (dst, src);
`;

/** Undefined, with a printed reason, when it cannot be had here. */
export async function sqliteContender(
  folder: string,
  data: PeopleData,
): Promise<EmbeddedContender | undefined> {
  const db = await openSqlite(join(folder, 'people.sqlite'));
  if (db === undefined) return undefined;
  db.exec(schema);
  const add = db.prepare('INSERT INTO Person (name, age, city) VALUES (?, ?, ?)');
  const link = db.prepare('INSERT INTO Knows VALUES (?, ?)');
  const ids: number[] = [];
  db.transaction(() => {
    for (const { name, age, city } of data.persons)
      ids.push(Number(add.run(name, age, city).lastInsertRowid));
    for (const [i, friends] of data.friends.entries())
      for (const each of friends) link.run(ids[i], ids[each]);
  })();
  const hop = (what: string) =>
    db.prepare(`SELECT ${what} FROM Knows k JOIN Person p ON p.id = k.dst WHERE k.src = @id`);
  const read = db.prepare('SELECT * FROM Person WHERE id = @id');
  const named = db.prepare('SELECT * FROM Person WHERE name = @name');
  const friends = hop('p.*');
  const friendNames = hop('p.id, p.name');
  const friendCount = db.prepare('SELECT count(*) AS count FROM Knows WHERE src = @id');
  const scan = db.prepare('SELECT * FROM Person ORDER BY id LIMIT 20 OFFSET @from');
  const create = db.prepare("INSERT INTO Person (name, age, city) VALUES (?, 1, 'Lund')");
  const update = db.prepare('UPDATE Person SET age = ? WHERE id = ?');
  const drop = db.prepare('DELETE FROM Person WHERE id = ?');
  const dropEdges = db.prepare('DELETE FROM Knows WHERE src = ? OR dst = ?');
  // A person goes with its edges, as ours does.
  const remove = db.transaction((id: number) => {
    dropEdges.run(id, id);
    drop.run(id);
  });
  const total = db.prepare('SELECT count(*) AS count FROM Person');
  const created: number[] = [];
  const any = (n: number) => ({ id: ids[turn(n, people)] });
  const hub = (n: number) => ({ id: ids[turn(n, hubs)] });
  const nextAge = ageCounter();
  return {
    name: 'SQLite',
    isDurable: true,
    tasks: {
      'point read by id': (n) => read.get(any(n)),
      'point read by unique name': (n) => named.get({ name: `person ${turn(n, people)}` }),
      'hop, 20 whole rows': (n) => friends.all(hub(n)),
      'hop, 20 rows of 2 members': (n) => friendNames.all(hub(n)),
      'hop, count only': (n) => friendCount.get(hub(n)),
      'scan of 20 rows': (n) => scan.all({ from: (n * 20) % 5_000 }),
      'durable create': () => {
        const name = `new ${created.length} ${performance.now()}`;
        created.push(Number(create.run(name).lastInsertRowid));
      },
      'durable update': (n) => update.run(nextAge(), any(n).id),
      'durable delete': () => {
        const id = created.pop();
        if (id === undefined) throw new RangeError('nothing left to delete');
        remove(id);
      },
    },
    check: (at) =>
      Promise.resolve({
        friends: friends.all({ id: ids[at] }).map(({ name }) => name as string),
        count: total.get()!.count as number,
      }),
    close: () => db.close(),
  };
}
