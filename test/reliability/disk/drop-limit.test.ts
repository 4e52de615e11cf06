// A DROP takes the edges of its nodes along, and every other write waits for it: how many there may be
// is told by the degrees, each edge once, before anything is changed; what is allowed is over soon.
import { describe, expect, it } from 'vitest';
import { noteProof } from '../../support/proof.js';
import { expectFigure } from '../../support/run/figure.js';
import { Client } from '../../support/server/http.js';
import { openEmbedded } from '../../support/server/embedded-server.js';
import { startServer } from '../../support/server/server.js';

const source = `
N::Thing { INDEX name: String }
N::Note { text: String }
V::Spot { INDEX name: String }
E::Tie { From: Thing, To: Thing }
E::Link { From: Thing, To: Thing, Properties: { INDEX weight: I64 } }
E::Near { From: Thing, To: Spot }
QUERY note() => AddN<Note>({ text: "small" }) RETURN "ok"
QUERY addSpot(name: String) => s <- AddV<Spot>([1.0, 2.0], { name: name }) RETURN s::ID
QUERY drop(names: [String]) =>
  gone <- DROP N<Thing>::WHERE(_::{name}::IS_IN(names))
  RETURN gone
QUERY dropEach(names: [String]) => FOR name IN names { DROP N<Thing>({name: name}) } RETURN "ok"
QUERY dropNoted(names: [String]) =>
  AddN<Note>({ text: "before" })
  DROP N<Thing>::WHERE(_::{name}::IS_IN(names))
  RETURN "ok"
QUERY dropTies(names: [String]) =>
  DROP N<Thing>::WHERE(_::{name}::IS_IN(names))::OutE<Tie>
  RETURN "ok"
QUERY dropTiesFirst(names: [String]) =>
  n <- N<Thing>::WHERE(_::{name}::IS_IN(names))
  DROP n::OutE<Tie>
  DROP n
  RETURN "ok"
QUERY dropSpots(names: [String]) => DROP V<Spot>::WHERE(_::{name}::IS_IN(names)) RETURN "ok"
QUERY prune(names: [String]) =>
  gone <- DROP N<Thing>::WHERE(_::{name}::IS_IN(names))::OutE<Tie>::RANGE(0, 10000)
  RETURN gone
QUERY counts() =>
  notes <- N<Note>::COUNT
  things <- N<Thing>::COUNT
  spots <- V<Spot>::COUNT
  ties <- E<Tie>::COUNT
  links <- E<Link>::COUNT
  near <- E<Near>::COUNT
  edges <- ADD(ADD(ties, links), near)
  RETURN notes, things, spots, edges
`;

const most = 60;

/** Edges by type and ends; what is asked for, and how many edges go with it. */
const cases: Record<
  string,
  { edges: [string, string, string, number][]; query: string; names: string[] }
> = {
  'out of one': { edges: [['Tie', 'a', 'leaf', 1]], query: 'drop', names: ['a'] },
  'into one': { edges: [['Tie', 'leaf', 'a', 1]], query: 'drop', names: ['a'] },
  loops: { edges: [['Tie', 'a', 'a', 1]], query: 'drop', names: ['a'] },
  'of two types': {
    edges: [
      ['Tie', 'a', 'leaf', 0.5],
      ['Link', 'leaf', 'a', 0.5],
    ],
    query: 'drop',
    names: ['a'],
  },
  'between two that go': { edges: [['Tie', 'a', 'b', 1]], query: 'drop', names: ['a', 'b'] },
  'of two that go': {
    edges: [
      ['Tie', 'a', 'leaf', 0.5],
      ['Tie', 'b', 'leaf', 0.5],
    ],
    query: 'drop',
    names: ['a', 'b'],
  },
  'one statement after the other': {
    edges: [
      ['Tie', 'a', 'leaf', 0.5],
      ['Tie', 'leaf', 'b', 0.5],
    ],
    query: 'dropEach',
    names: ['a', 'b'],
  },
  'named themselves': { edges: [['Tie', 'a', 'leaf', 1]], query: 'dropTies', names: ['a'] },
  'named, then the rest': {
    edges: [
      ['Tie', 'a', 'leaf', 0.5],
      ['Link', 'a', 'leaf', 0.5],
    ],
    query: 'dropTiesFirst',
    names: ['a'],
  },
  'behind another write': { edges: [['Link', 'a', 'leaf', 1]], query: 'dropNoted', names: ['a'] },
  'to a vector': { edges: [['Near', 'a', 'spot', 1]], query: 'dropSpots', names: ['spot'] },
};

const thing = (name: string): string =>
  `{"node":"Thing","id":"${name}","properties":{"name":"${name}"}}\n`;
const edge = (type: string, from: string, to: string): string =>
  `{"edge":"${type}","from":"${from}","to":"${to}"}\n`;

describe('T15 a DROP of many edges', () => {
  it('is refused beyond the limit, with each edge counted one time, and undoes everything', async () => {
    const config = { 'limits.drop_edges': most };
    const { db, dispose } = await openEmbedded({ sources: { 'main.hx': source }, config });
    try {
      for (const [name, { edges, query, names }] of Object.entries(cases)) {
        for (const count of [most, most + 2]) {
          const own = (id: string): string => `${name} ${count} ${id}`;
          const { s: spot } = await db.call<{ s: string }>('addSpot', { name: own('spot') });
          const rows = ['a', 'b', 'leaf'].map((id) => thing(own(id)));
          for (const [type, from, to, share] of edges) {
            const row = edge(type, own(from), to === 'spot' ? spot : own(to));
            for (let i = 0; i < share * count; i++) rows.push(row);
          }
          const former = await db.call<{ edges: number }>('counts');
          const bytes = new Uint8Array(Buffer.from(rows.join('')));
          const load = db.database.load();
          await load.rows(bytes, 1, { offset: bytes.length, line: rows.length + 1 });
          await load.finish();
          const before = await db.call<{ edges: number }>('counts');
          expect(before.edges, name).toBe(former.edges + count);
          const answer = db.call(query, { names: names.map(own) });
          if (count > most) {
            const data = { code: 'DROP_TOO_LARGE', args: { max: most } };
            await expect(answer, name).rejects.toMatchObject({ data });
            expect(await db.call('counts'), name).toEqual(before);
          } else {
            await answer;
            expect((await db.call<{ edges: number }>('counts')).edges, name).toBe(former.edges);
          }
        }
      }
    } finally {
      await dispose();
    }
  });

  it('is refused beyond a limit, succeeds in pieces, and lets other writes through', async () => {
    const limit = 20_000;
    const config = { 'limits.drop_edges': limit };
    const server = await startServer({ sources: { 'main.hx': source }, config });
    try {
      const { client } = server;
      const allowed = ['one', 'two', 'three'];
      const degrees: Record<string, number> = { least: limit + 1 };
      for (const hub of allowed) degrees[hub] = limit;
      const rows = Object.keys(degrees).map(thing);
      for (let i = 0; i <= limit; i++) rows.push(thing(`t${i}`));
      for (const [hub, degree] of Object.entries(degrees)) {
        for (let i = 0; i < degree; i++) rows.push(edge('Tie', hub, `t${i}`));
      }
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const request = { path: '_admin/import', headers, body: rows.join('') };
      expect((await client.request(request, 60_000)).status).toBe(200);
      const before = await client.post('counts');
      const refused = await client.request({ path: 'drop', body: '{"names":["least"]}' });
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([413, 'DROP_TOO_LARGE']);
      expect(await client.post('counts')).toEqual(before);

      let longest = 0;
      let isOver = false;
      let note: Promise<unknown> | undefined;
      const other = new Client(client.port);
      const writing = (async () => {
        while (!isOver) {
          const began = performance.now();
          note = other.post('note');
          await note;
          longest = Math.max(longest, performance.now() - began);
        }
        other.close();
      })();
      expect(await client.post('prune', { names: ['least'] })).toEqual({ gone: 10_000 });
      expect(await client.post('drop', { names: ['least'] })).toEqual({ gone: 1 });
      const waits: number[] = [];
      for (const hub of allowed) {
        longest = 0;
        expect(await client.post('drop', { names: [hub] })).toEqual({ gone: 1 });
        // It waits until the group behind.
        await note;
        waits.push(longest);
      }
      isOver = true;
      await writing;
      expect(await client.post('counts')).toMatchObject({ things: limit + 1, edges: 0 });
      // The quickest: the processors are shared with other tests, and the first is of code not yet compiled.
      const wait = Math.min(...waits);
      expectFigure(wait, 250, 'ms that a small write waits for a DROP');
      noteProof(
        'T15',
        `beside a DROP of ${limit} edges, a small write waited ${wait.toFixed(0)} ms`,
      );
    } finally {
      await server.dispose();
    }
  });
});
