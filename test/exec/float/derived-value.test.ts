// What searches, walks, groups and paths leave on their rows is a value like any other: wherever a query
// may use it, in conditions, computed members, UPDATE, Upsert, AddN and AddE, it is what RETURN shows.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedDatabase, open } from '../../../engine/database/embedded.js';
import { makeFolder } from '../../support/project.js';

const schema = `
N::Doc { INDEX t: String, f?: F64, g?: F64 }
N::Note { f?: F64 }
V::Point { t: String, f?: F64, g?: F64 }
E::Near { From: Doc, To: Doc, Properties: { w: F64, f?: F64 } }
QUERY fill() =>
  a <- AddN<Doc>({t: "light and dark"})
  b <- AddN<Doc>({t: "light"})
  c <- AddN<Doc>({t: "more light here"})
  AddE<Near>({w: 2.5})::From(a)::To(b) AddE<Near>({w: 0.25})::From(b)::To(c)
  AddV<Point>([1.0, 0.5], {t: "p"})
  AddV<Point>([0.5, 1.0], {t: "q"})
  AddV<Point>([-1.0, 0.25], {t: "r"})
  RETURN "filled"
QUERY unset() =>
  d <- N<Doc>::UPDATE({f: NONE, g: NONE})
  v <- V<Point>::UPDATE({f: NONE, g: NONE})
  DROP N<Note>
  DROP E<Near>::WHERE(_::{f}::GT(-1000))
  RETURN d, v
`;

const start = 'N<Doc>({t: "light and dark"})';
const ends = `${start}::ShortestPathDijkstras<Near>(_::{w})::To(N<Doc>({t: "more light here"}))`;

/** Elements with a member that no property is. */
const streams: Record<string, [rows: string, member: string]> = {
  'score of a vector': ['SearchV<Point>([1.0, 0.25], 3)', 'score'],
  'distance of a vector': ['SearchV<Point>([1.0, 0.25], 3)', 'distance'],
  'score of a text': ['SearchBM25<Doc>("light", 3)', 'score'],
  'score of a reranked hit': ['SearchV<Point>([1.0, 0.25], 3)::RerankRRF(k: 7)', 'score'],
  'score of a diverse hit': ['SearchV<Point>([1.0, 0.25], 3)::RerankMMR(lambda: 0.5)', 'score'],
  'distance of a diverse hit': [
    'SearchV<Point>([1.0, 0.25], 3)::RerankMMR(lambda: 0.5)',
    'distance',
  ],
  'score of a fused hit': [
    'RerankRRF(SearchBM25<Doc>("light", 3), N<Doc>, weights: [3, 2])',
    'score',
  ],
  'score within a list': ['V<Point>::SearchV<Point>([1.0, 0.25], 3)', 'score'],
  'hops of a walk': [`${start}::Out<Near>{1, 2}`, 'hops'],
};
/** Single values beside elements. */
const values: Record<string, string> = {
  'total_weight of a path': `${ends}::{total_weight}`,
  'hop_count of a path': `${ends}::{hop_count}`,
  'score of the first hit': 'SearchBM25<Doc>("light", 1)::FIRST::{score}',
  'count of a group': 'N<Doc>::GROUP_BY(f)::FIRST::{count}',
};

const queries: string[] = [];
const cases: { what: string; name: string; check: (db: EmbeddedDatabase) => Promise<void> }[] = [];

/** A projection of one member, as its value. */
const only = (row: unknown): unknown =>
  typeof row === 'object' && row !== null ? Object.values(row)[0] : row;

/** A query that returns what a row shows as `shown`, and what became of it as `got`. */
function add(what: string, body: string): void {
  const name = `q${queries.length}`;
  queries.push(`QUERY ${name}() =>\n  ${body} RETURN shown, got`);
  const check = async (db: EmbeddedDatabase): Promise<void> => {
    await db.call('unset');
    const answer = await db.call<Record<'shown' | 'got', unknown[]>>(name);
    const [shown, got] = [answer.shown.map(only), answer.got.map(only)];
    expect(shown.length).toBeGreaterThan(0);
    for (const value of shown) expect(typeof value).toBe('number');
    expect(got).toEqual(shown);
  };
  cases.push({ what, name, check });
}

for (const [what, [rows, m]] of Object.entries(streams)) {
  const shown = `s <- ${rows} shown <- s::{${m}}`;
  add(`UPDATE from the ${what}`, `${shown} u <- s::UPDATE({f: _::{${m}}}) got <- u::{f}`);
  add(
    `UPDATE of the stream itself from the ${what}`,
    `${shown} u <- ${rows}::UPDATE({g: 1.0, f: ADD(_::{${m}}, 0)}) got <- u::{f}`,
  );
  add(
    `a condition in UPDATE on the ${what}`,
    `${shown}
     u <- s::UPDATE({f: IF(_::{${m}}::GT(-99), _::{${m}}, 0.0)}) got <- u::{f}`,
  );
  add(
    `what is shown after UPDATE of the ${what}`,
    `${shown} u <- s::UPDATE({f: 1.0}) got <- u::{${m}}`,
  );
  add(
    `AddN in FOR from the ${what}`,
    `${shown} FOR h IN s { AddN<Note>({f: h::{${m}}}) } got <- N<Note>::{f}`,
  );
  add(
    `FOR by name from the ${what}`,
    `${shown} FOR {${m}} IN s { AddN<Note>({f: ${m}}) } got <- N<Note>::{f}`,
  );
  add(`WHERE on the ${what}`, `${shown} got <- s::WHERE(_::{${m}}::GT(-99))::{${m}}`);
  add(`a computed member of the ${what}`, `${shown} c <- s::{x: ADD(_::{${m}}, 0)} got <- c::{x}`);
  add(
    `ORDER by the ${what}`,
    `s <- ${rows}::ORDER<Asc>(_::{${m}}) shown <- s::{${m}}
     got <- ${rows}::ORDER<Asc>(_::{${m}})::{${m}}`,
  );
  if (rows.includes('<Doc>')) {
    add(
      `AddE as a step from the ${what}`,
      `${shown}
       e <- s::AddE<Near>({w: 1.0, f: _::{${m}}})::To(${start}) got <- e::{f}`,
    );
    add(
      `UpsertN from the ${what}`,
      `s <- ${rows}::RANGE(0, 1) shown <- s::{${m}}
       u <- s::UpsertN({f: _::{${m}}}) got <- [u::{f}]`,
    );
  } else {
    add(
      `UpsertV from the ${what}`,
      `s <- ${rows}::RANGE(0, 1) shown <- s::{${m}}
       u <- s::UpsertV([1.0, 0.5], {f: _::{${m}}}) got <- [u::{f}]`,
    );
  }
}
for (const [what, value] of Object.entries(values)) {
  const shown = `v <- ${value} shown <- [v]`;
  add(`UPDATE from the ${what}`, `${shown} u <- ${start}::UPDATE({g: v}) got <- [u::{g}]`);
  add(`AddN from the ${what}`, `${shown} n <- AddN<Note>({f: v}) got <- [n::{f}]`);
  add(
    `AddE from the ${what}`,
    `${shown}
     e <- AddE<Near>({w: 1.0, f: v})::From(${start})::To(${start}) got <- [e::{f}]`,
  );
  add(`UPDATE within the ${what}`, `${shown} u <- ${start}::UPDATE({g: ${value}}) got <- [u::{g}]`);
}

let db: EmbeddedDatabase;
beforeAll(async () => {
  const text = schema + queries.join('\n');
  const sources = [{ path: 'main.hx', text }];
  db = await open({ dataDir: join(makeFolder(), 'data'), sources, minFreeBytes: 0 });
  await db.call('fill');
});
afterAll(() => db.close());

describe('a derived value is a value', () => {
  test.each(cases)('$what', ({ check }) => check(db));
});
