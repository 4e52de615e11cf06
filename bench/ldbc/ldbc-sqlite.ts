// SQLite in the LDBC benchmark: a table for each type, with covering indexes for both ends of its edges. Persons
// who know each other are stored in both directions, as SQL implementations of LDBC do. The shortest path and the
// friends of friends are found level by level.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Sqlite, type SqliteStatement, openSqlite, sqliteSpec } from '../peer/sqlite-peer.js';
import { cacheFolder, printLoad } from '../support/bench-cache.js';
import type { LdbcContender } from './ldbc-contender.js';
import type { LdbcFolder, TypeFile } from './ldbc-folder.js';

type Row = Record<string, unknown>;
type Args = Record<string, unknown>;

/** The fields of the lines of a file, without its head. Quoted fields may hold the delimiter, no line ends. */
function* linesOf({ path, delimiter }: TypeFile): Generator<string[]> {
  const text = readFileSync(path, 'utf8');
  for (let at = text.indexOf('\n') + 1; at > 0 && at < text.length; ) {
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at);
    const line = text.slice(at, text[end - 1] === '\r' ? end - 1 : end);
    at = end + 1;
    if (line !== '') yield line.includes('"') ? quoted(line, delimiter) : line.split(delimiter);
  }
}

function quoted(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let field = '';
  let isInside = false;
  for (const char of line) {
    if (char === '"') isInside = !isInside;
    else if (char === delimiter && !isInside) {
      fields.push(field);
      field = '';
    } else field += char;
  }
  return [...fields, field];
}

/** Fills a table from a file, in one transaction. */
function fill(db: Sqlite, file: TypeFile, idCount: number, bothWays: boolean): number {
  const kinds = [...file.columns.values()];
  const places = Array.from({ length: idCount + kinds.length }, () => '?').join(', ');
  const insert = db.prepare(`INSERT INTO "${file.type}" VALUES (${places})`);
  let rows = 0;
  db.transaction(() => {
    for (const fields of linesOf(file)) {
      const ids = fields.slice(0, idCount).map(Number);
      const values = kinds.map((kind, i) => {
        const text = fields[idCount + i] ?? '';
        return kind === 'I64' && text !== '' ? Number(text) : text;
      });
      insert.run(...ids, ...values);
      if (bothWays) insert.run(ids[1], ids[0], ...values);
      rows++;
    }
  })();
  return rows;
}

const columnsOf = ({ columns }: TypeFile): string =>
  [...columns].map(([name, kind]) => `, "${name}" ${kind === 'I64' ? 'INTEGER' : 'TEXT'}`).join('');

/** Loads the files, then makes the indexes. Returns the number of rows. */
export function loadSqlite(db: Sqlite, { nodes, edges }: LdbcFolder, bothWays = ['Knows']): number {
  let rows = 0;
  for (const file of nodes) {
    db.exec(`CREATE TABLE "${file.type}" (id INTEGER PRIMARY KEY${columnsOf(file)})`);
    rows += fill(db, file, 1, false);
  }
  for (const file of edges) {
    db.exec(`CREATE TABLE "${file.type}" (src INTEGER, dst INTEGER${columnsOf(file)})`);
    rows += fill(db, file, 2, bothWays.includes(file.type));
    const rest = [...file.columns.keys()].map((name) => `, "${name}"`).join('');
    db.exec(`CREATE INDEX "${file.type}Out" ON "${file.type}" (src, dst${rest})`);
    db.exec(`CREATE INDEX "${file.type}In" ON "${file.type}" (dst, src${rest})`);
  }
  return rows;
}

const creator = (type: string): string =>
  `SELECT p.id AS ldbcId, p.firstName, p.lastName
   FROM ${type}HasCreator c JOIN Person p ON p.id = c.dst WHERE c.src = @id`;

const replies = (type: string): string =>
  `SELECT r.src AS id, a.dst AS author,
          EXISTS (SELECT 1 FROM Knows WHERE src = a.dst AND dst = o.dst) AS knows
   FROM ${type}HasCreator o JOIN ReplyOf${type} r ON r.dst = o.src
        JOIN CommentHasCreator a ON a.src = r.src WHERE o.src = @id`;

/** Friends at each distance: `ring1` to `ring3`, persons once, at their least distance. */
const rings = (most: number): string =>
  [
    'ring1(id) AS MATERIALIZED (SELECT dst FROM Knows WHERE src = @personId)',
    `ring2(id) AS MATERIALIZED (SELECT DISTINCT k.dst FROM ring1 JOIN Knows k ON k.src = ring1.id
       WHERE k.dst <> @personId AND k.dst NOT IN ring1)`,
    `ring3(id) AS MATERIALIZED (SELECT DISTINCT k.dst FROM ring2 JOIN Knows k ON k.src = ring2.id
       WHERE k.dst NOT IN ring1 AND k.dst NOT IN ring2)`,
  ]
    .slice(0, most)
    .join(', ');

const reached = (most: number): string =>
  Array.from({ length: most }, (_, i) => `SELECT id, ${i + 1} AS distance FROM ring${i + 1}`).join(
    ' UNION ALL ',
  );

/** All but IC13, which is a search by the program. */
const sql: Readonly<Record<string, string>> = {
  IS1: `SELECT p.firstName, p.lastName, p.gender, p.birthday, p.creationDate, p.locationIP,
               p.browserUsed, l.dst AS cityId
        FROM Person p JOIN PersonIsLocatedIn l ON l.src = p.id WHERE p.id = @personId`,
  IS3: `SELECT f.id, f.firstName AS first, f.lastName AS last, k.creationDate AS since
        FROM Knows k JOIN Person f ON f.id = k.dst WHERE k.src = @personId
        ORDER BY since DESC, f.id`,
  IS5: `${creator('Comment')} UNION ALL ${creator('Post')}`,
  IS6: `WITH RECURSIVE up(id) AS (SELECT @commentId
          UNION ALL SELECT r.dst FROM up JOIN ReplyOfComment r ON r.src = up.id)
        SELECT f.id, f.title, m.dst AS moderator
        FROM up JOIN ReplyOfPost r ON r.src = up.id JOIN ContainerOf c ON c.dst = r.dst
             JOIN Forum f ON f.id = c.src JOIN HasModerator m ON m.src = f.id`,
  IS7: `${replies('Comment')} UNION ALL ${replies('Post')} ORDER BY id`,
  KHOP1: 'SELECT count(*) AS count FROM Knows WHERE src = @personId',
  KHOP2: `WITH ${rings(2)} SELECT count(*) AS count FROM ring2`,
  KHOP3: `WITH ${rings(3)} SELECT count(*) AS count FROM ring3`,
  IC1: `WITH ${rings(3)} SELECT f.id, r.distance, f.lastName FROM (${reached(3)}) r
        JOIN Person f ON f.id = r.id WHERE f.firstName = @firstName
        ORDER BY r.distance, f.lastName, f.id LIMIT 20`,
  IC11: `WITH ${rings(2)}
         SELECT f.id, f.firstName AS first, f.lastName AS last, o.name AS org, w.workFrom
         FROM (${reached(2)}) r JOIN WorkAt w ON w.src = r.id
              JOIN OrganisationIsLocatedIn l ON l.src = w.dst AND l.dst = @countryId
              JOIN Organisation o ON o.id = w.dst JOIN Person f ON f.id = r.id
         WHERE w.workFrom < @beforeYear ORDER BY w.workFrom, f.id, org DESC LIMIT 10`,
  IC12: `WITH RECURSIVE class(id) AS (SELECT id FROM TagClass WHERE name = @tagClass
             UNION SELECT s.src FROM class JOIN IsSubclassOf s ON s.dst = class.id),
           wanted(id) AS MATERIALIZED (SELECT h.src FROM class JOIN HasType h ON h.dst = class.id)
         SELECT k.dst AS id, count(DISTINCT c.src) AS n,
                json_group_array(DISTINCT t.name ORDER BY t.name) AS tags
         FROM Knows k JOIN CommentHasCreator c ON c.dst = k.dst JOIN ReplyOfPost r ON r.src = c.src
              JOIN PostHasTag h ON h.src = r.dst JOIN Tag t ON t.id = h.dst
         WHERE k.src = @personId AND h.dst IN wanted
         GROUP BY k.dst ORDER BY n DESC, k.dst LIMIT 20`,
};

/** Breadth-first search from both ends by turns, the smaller side first. -1 without a path. */
function distance(friendsOf: (id: number) => number[], a: number, b: number): number {
  if (a === b) return 0;
  let [near, far] = [new Set([a]), new Set([b])];
  const seen = [new Set([a]), new Set([b])];
  for (let hops = 1; near.size > 0; hops++) {
    const next = new Set<number>();
    for (const id of near) {
      for (const friend of friendsOf(id)) {
        if (far.has(friend)) return hops;
        if (seen[0]!.has(friend)) continue;
        seen[0]!.add(friend);
        next.add(friend);
      }
    }
    near = next;
    if (near.size > far.size) {
      [near, far] = [far, near];
      seen.reverse();
    }
  }
  return -1;
}

/** Converts rows to the form of expected.json, because SQLite has neither booleans nor lists. */
function rowsOf(query: string, rows: Row[]): Row[] {
  if (query === 'IS7') return rows.map((row) => ({ ...row, knows: row.knows === 1 }));
  if (query === 'IC12')
    return rows.map((row) => ({ ...row, tags: JSON.parse(row.tags as string) }));
  return rows;
}

/** Undefined, with a printed reason, when it cannot be had here. */
export async function sqliteContender(
  ldbc: LdbcFolder,
  name: string,
): Promise<LdbcContender | undefined> {
  const cache = cacheFolder(`${name}-${sqliteSpec}-1`);
  const db = await openSqlite(join(cache.path, 'graph.sqlite'));
  if (db === undefined) return undefined;
  if (!cache.isComplete) {
    const started = performance.now();
    const rows = loadSqlite(db, ldbc);
    db.exec('CREATE INDEX TagClassName ON TagClass (name); ANALYZE');
    printLoad('SQLite', rows, (performance.now() - started) / 1000);
    cache.complete();
  }
  const statements = new Map<string, SqliteStatement>(
    Object.entries(sql).map(([query, text]) => [query, db.prepare(text)]),
  );
  const friends = db.prepare('SELECT dst FROM Knows WHERE src = @id').pluck();
  const friendsOf = (id: number): number[] => friends.all({ id }) as number[];
  return {
    name: 'SQLite',
    run: (query, args: Args) => {
      if (query !== 'IC13') return statements.get(query)!.all(args);
      return [{ hops: distance(friendsOf, args.a as number, args.b as number) }];
    },
    rows: (query, _, answer) => rowsOf(query, answer as Row[]),
    close: () => db.close(),
  };
}
