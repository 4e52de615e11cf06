// Reads on the main thread: short ones stay, and one that turns out to be long moves to a lane, where
// it gives the same answer and counts once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Person { name: String }
E::Knows { From: Person, To: Person }
QUERY people(names: [String]) => FOR name IN names { AddN<Person>({ name }) } RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(from: ID, to: [ID]) => FOR id IN to { AddE<Knows>::From(from)::To(id) } RETURN "ok"
QUERY odd(id: ID) =>
  p <- N<Person>(id)::Out<Knows>::WHERE(_::{name}::CONTAINS("odd"))
  RETURN p::COUNT
`;
const degree = 40_000;

let server: Server;
let ids: string[];
beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source } });
  const names = Array.from({ length: degree }, (_, no) => `${no} is ${no % 2 ? 'odd' : 'even'}`);
  await server.client.post('people', { names });
  ids = (await server.client.post('ids')).p;
  for (let at = 0; at < degree; at += 20_000)
    await server.client.post('link', { from: ids[0], to: ids.slice(at, at + 20_000) });
  await server.client.post('link', { from: ids[1], to: ids.slice(0, 4) });
});
afterAll(() => server.dispose());

async function samples(): Promise<{ inline: number; lane: number; calls: number }> {
  const { text } = await server.client.request({ method: 'GET', path: 'metrics' });
  const of = (name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`trellis_${name} `))!
        .split(' ')[1],
    );
  return {
    inline: of('inline_reads_total'),
    lane: of('queue_wait_seconds_count{lane="read",thread="reader"}'),
    calls: of('query_duration_seconds_count{query="odd"}'),
  };
}

it('a read that exceeds its time on the main thread starts again in a lane', async () => {
  const odd = (id: string) => server.client.post('odd', { id });
  for (let i = 0; i < 50; i++) expect(await odd(ids[1]!)).toEqual({ p: 2 });
  const before = await samples();
  expect(await odd(ids[1]!)).toEqual({ p: 2 });
  const short = await samples();
  expect(short).toEqual({ inline: before.inline + 1, lane: before.lane, calls: before.calls + 1 });
  expect(await odd(ids[0]!)).toEqual({ p: degree / 2 });
  const long = await samples();
  expect(long).toEqual({ inline: short.inline + 1, lane: short.lane + 1, calls: short.calls + 1 });
});
