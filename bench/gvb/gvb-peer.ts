// SurrealDB and Kuzu as contenders of the graph-vector benchmark, each loaded in batches, with its
// vector index, and asked by prepared statement or bound variables.
import { join } from 'node:path';
import { cacheFolder, timeLoad } from '../support/bench-cache.js';
import type { GvbContender } from './gvb-contender.js';
import type { GvbData } from './gvb-data.js';
import { type Column, type Kuzu, openKuzu } from '../peer/kuzu-peer.js';
import { type Surreal, insertRows, openSurreal } from '../peer/surreal-peer.js';

interface Row {
  id: unknown;
}

/** `item:17` -> 17; records print as their id. */
const recordNumber = ({ id }: Row): number => Number(String(id).split(':')[1]);

const surrealSchema = `
DEFINE TABLE user SCHEMAFULL; DEFINE FIELD country ON user TYPE int;
DEFINE TABLE item SCHEMAFULL; DEFINE FIELD category ON item TYPE int;
DEFINE FIELD vector ON item TYPE array<float>;
DEFINE TABLE interacted TYPE RELATION FROM user TO item SCHEMAFULL;`;

export async function surrealContender(
  data: GvbData,
  scale: number,
): Promise<GvbContender | undefined> {
  const folder = cacheFolder(`gvb-${scale}-surreal-3.0.3`);
  const db = await openSurreal(folder.path);
  if (db === undefined) return undefined;
  if (!folder.isComplete) {
    await fillSurreal(db, data);
    folder.complete();
  }
  const item = (number: number): unknown => db.record('item', number);
  const user = (number: number): unknown => db.record('user', number);
  const nearest = 'SELECT id, category, vector::distance::knn() AS d FROM item';
  return {
    name: 'SurrealDB',
    users: data.users,
    run: {
      PointGet: (r) => db.query('SELECT id, category FROM ONLY $i', { i: item(r.item) }),
      OneHop: (r) => db.query('SELECT id, category FROM $u->interacted->item', { u: user(r.user) }),
      OneHopFilter: (r) =>
        db.query('SELECT id, category FROM $u->interacted->(item WHERE category = $c)', {
          u: user(r.user),
          c: r.category,
        }),
      Vector: (r) => db.query(`${nearest} WHERE vector <|10,160|> $v`, { v: Array.from(r.vector) }),
      VectorHopFilter: (r) =>
        db.query(
          `SELECT id, category FROM (${nearest} WHERE vector <|10,160|> $v)
           WHERE $c IN id<-interacted<-user.country`,
          { v: Array.from(r.vector), c: r.country },
        ),
    },
    itemsOf: (answer) => (Array.isArray(answer) ? answer : [answer]).map(recordNumber),
    close: () => db.close(),
  };
}

async function fillSurreal(db: Surreal, data: GvbData): Promise<void> {
  await db.query(surrealSchema);
  await timeLoad('SurrealDB users', data.users, () =>
    insertRows(db, 'INTO user', data.users, 1000, (id) => ({ id, country: data.country[id] })),
  );
  await timeLoad('SurrealDB items with vectors', data.items, () =>
    insertRows(db, 'INTO item', data.items, 1000, (id) => ({
      id,
      category: data.category[id],
      vector: Array.from(data.vectorOf(id)),
    })),
  );
  await timeLoad('SurrealDB edges', data.edges, async () => {
    for (let first = 0; first < data.users; first += 20) {
      const rows: object[] = [];
      for (let user = first; user < Math.min(first + 20, data.users); user++) {
        for (const item of data.itemsOf(user))
          rows.push({
            id: user * 1_000_000 + item,
            in: db.record('user', user),
            out: db.record('item', item),
          });
      }
      await db.query('INSERT RELATION INTO interacted $rows RETURN NONE', { rows });
    }
  });
  await timeLoad('SurrealDB vector index', data.items, async () => {
    await db.query(
      `DEFINE INDEX item_vector ON item FIELDS vector
       HNSW DIMENSION ${data.dimension} DIST COSINE TYPE F32 EFC 128 M 16`,
    );
  });
}

export async function kuzuContender(
  data: GvbData,
  scale: number,
): Promise<GvbContender | undefined> {
  const folder = cacheFolder(`gvb-${scale}-kuzu-0.11.3`);
  const db = await openKuzu(join(folder.path, 'graph'));
  if (db === undefined) return undefined;
  await db.query('LOAD vector');
  if (!folder.isComplete) {
    await fillKuzu(db, data);
    folder.complete();
  }
  const returned = 'RETURN i.id AS id, i.category AS category';
  const nearest = `CALL QUERY_VECTOR_INDEX('Item', 'item_vector', $v, 10, efs := 120)`;
  const pointGet = await db.prepare(`MATCH (i:Item {id: $i}) ${returned}`);
  const hop = 'MATCH (u:User {id: $u})-[:Interacted]->(i:Item)';
  const oneHop = await db.prepare(`${hop} ${returned}`);
  const oneHopFilter = await db.prepare(`${hop} WHERE i.category = $c ${returned}`);
  const vector = await db.prepare(
    `${nearest} RETURN node.id AS id, node.category AS category, distance ORDER BY distance`,
  );
  // As one statement the second half is a scan of all edges, over a second a call.
  const withUser = await db.prepare(
    `MATCH (i:Item)<-[:Interacted]-(u:User) WHERE i.id IN $l AND u.country = $c
     RETURN DISTINCT i.id AS id, i.category AS category`,
  );
  return {
    name: 'Kuzu',
    users: data.users,
    run: {
      PointGet: (r) => pointGet({ i: r.item }),
      OneHop: (r) => oneHop({ u: r.user }),
      OneHopFilter: (r) => oneHopFilter({ u: r.user, c: r.category }),
      Vector: (r) => vector({ v: Array.from(r.vector) }),
      VectorHopFilter: async (r) => {
        const found = await vector({ v: Array.from(r.vector) });
        return withUser({ l: found.map(({ id }) => id), c: r.country });
      },
    },
    itemsOf: (answer) => (answer as Row[]).map(({ id }) => Number(id)),
    close: () => db.close(),
  };
}

function* edgeLines(data: GvbData): Generator<string> {
  for (let user = 0; user < data.users; user++)
    for (const item of data.itemsOf(user)) yield `${user},${item}`;
}

async function fillKuzu(db: Kuzu, data: GvbData): Promise<void> {
  await db.query('CREATE NODE TABLE User(id INT64 PRIMARY KEY, country INT64)');
  await db.query(
    `CREATE NODE TABLE Item(id INT64 PRIMARY KEY, category INT64, vector FLOAT[${data.dimension}])`,
  );
  await db.query('CREATE REL TABLE Interacted(FROM User TO Item)');
  const numbers = (count: number, numberOf: (i: number) => number): Column => ({
    values: BigInt64Array.from({ length: count }, (_, i) => BigInt(numberOf(i))),
    width: 1,
  });
  const own = (i: number): number => i;
  await timeLoad('Kuzu users', data.users, () =>
    db.copyColumns('User', [
      numbers(data.users, own),
      numbers(data.users, (i) => data.country[i]!),
    ]),
  );
  const vectors = new Float32Array(data.items * data.dimension);
  for (let i = 0; i < data.items; i++) vectors.set(data.vectorOf(i), i * data.dimension);
  await timeLoad('Kuzu items with vectors', data.items, () =>
    db.copyColumns('Item', [
      numbers(data.items, own),
      numbers(data.items, (i) => data.category[i]!),
      { values: vectors, width: data.dimension },
    ]),
  );
  await timeLoad('Kuzu edges', data.edges, () => db.copy('Interacted', edgeLines(data)));
  await timeLoad('Kuzu vector index', data.items, () =>
    db.query(`CALL CREATE_VECTOR_INDEX('Item', 'item_vector', 'vector', metric := 'cosine')`),
  );
}
