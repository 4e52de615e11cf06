// The commitSeq rule from outside: once a write is answered, every read that is sent afterwards
// sees it, on every worker and connection, in lookups, scans, steps, keyword and vector search, and
// in sessions.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../support/server/http.js';
import { type Server, startServer } from '../../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const rounds = long ? 5000 : 120;

const sources = {
  'main.hx': `
N::Counter { UNIQUE INDEX name: String, n: I64 }
N::Doc { INDEX no: I64, text: String }
V::Point { no: I64 }
E::Has { From: Counter, To: Doc }
QUERY open() => c <- AddN<Counter>({ name: "c", n: 0 }) RETURN c::ID
QUERY bump(n: I64) => c <- N<Counter>({ name: "c" })::UPDATE({ n: n }) RETURN c::{n}
QUERY read() => c <- N<Counter>({ name: "c" }) RETURN c::{n}
QUERY add(no: I64, text: String, vec: [F64]) =>
  d <- AddN<Doc>({ no: no, text: text })
  AddE<Has>::From(N<Counter>({ name: "c" }))::To(d)
  v <- AddV<Point>(vec, { no: no })
  RETURN d::ID
QUERY seen(no: I64, text: String, vec: [F64]) =>
  a <- N<Doc>({ no: no })::COUNT
  b <- N<Doc>::WHERE(_::{no}::EQ(no))::COUNT
  c <- N<Counter>({ name: "c" })::Out<Has>::WHERE(_::{no}::EQ(no))::COUNT
  d <- SearchBM25<Doc>(text, 3)::WHERE(_::{no}::EQ(no))::COUNT
  e <- SearchV<Point>(vec, 1)::WHERE(_::{no}::EQ(no))::COUNT
  RETURN { a: a, b: b, c: c, d: d, e: e }
`,
};

let server: Server;
beforeAll(async () => {
  server = await startServer({ sources, workers: 3 });
  await server.client.post('open');
});
afterAll(() => server?.dispose());

test('no reader sees less than the last acknowledged value', async () => {
  let acknowledged = 0;
  let going = true;
  const stale: string[] = [];
  let reads = 0;
  const readers = Array.from({ length: 12 }, async () => {
    const client = new Client(server.port);
    let last = 0;
    while (going) {
      const floor = acknowledged;
      const { n } = (await client.post('read')).c;
      reads++;
      if (n < floor) stale.push(`read ${n} after ${floor} was acknowledged`);
      if (n < last) stale.push(`read ${n} after having read ${last}`);
      last = n;
    }
    client.close();
  });
  const writer = new Client(server.port);
  for (let n = 1; n <= rounds; n++) {
    await writer.post('bump', { n });
    acknowledged = n;
  }
  going = false;
  await Promise.all(readers);
  writer.close();
  expect(stale.slice(0, 10)).toEqual([]);
  expect(reads).toBeGreaterThan(rounds);
}, 600_000);

test('every index shows an acknowledged write immediately, on every worker', async () => {
  const readers = Array.from({ length: 6 }, () => new Client(server.port));
  for (let no = 1; no <= (long ? 1000 : 30); no++) {
    const angle = no * 0.01;
    const body = { no, text: `word${no}x`, vec: [Math.cos(angle), Math.sin(angle)] };
    await server.client.post('add', body);
    const seen = await Promise.all(readers.map((client) => client.post('seen', body)));
    for (const { data } of seen)
      expect({ no, ...data }).toEqual({ no, a: 1, b: 1, c: 1, d: 1, e: 1 });
  }
  for (const client of readers) client.close();
}, 600_000);

test('a session call sees every write acknowledged before it was sent', async () => {
  const session = await server.client.post('mcp/init');
  const docs = async () => {
    const call = { connection_id: session, data: { node_type: 'Doc' } };
    await server.client.post('mcp/n_from_type', call);
    return (await server.client.post('mcp/collect', { connection_id: session })).length;
  };
  const before = await docs();
  for (let i = 1; i <= 20; i++) {
    await server.client.post('add', { no: 10_000 + i, text: 'session', vec: [-1, -i] });
    expect(await docs()).toBe(before + i);
  }
});
