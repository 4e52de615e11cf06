// The routes of the dashboard over many elements. They run in a lane, so that the main thread continues to
// answer, and end by the limits and the deadline like any other read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Item { no: I64, text: String }
E::Next { From: Item, To: Item }
QUERY fill(rows: [{ no: I64, text: String }]) =>
  FOR { no, text } IN rows { AddN<Item>({ no: no, text: text }) }
  RETURN "ok"
QUERY ids() => i <- N<Item> RETURN i::ID
QUERY link(from: ID, to: [ID]) => FOR id IN to { AddE<Next>::From(from)::To(id) } RETURN "ok"
QUERY one() => i <- N<Item>::FIRST RETURN i::{no}
`;
const count = 3_000;

let server: Server;
let ids: string[];
beforeAll(async () => {
  server = await startServer({
    sources: { 'main.hx': source },
    config: { 'limits.result_items': 30_000, 'limits.result_bytes': 8 * 2 ** 20 },
  });
  const rows = Array.from({ length: count }, (_, no) => ({ no, text: `item ${no}` }));
  await server.client.post('fill', { rows });
  ids = (await server.client.post('ids')).i;
  await server.client.post('link', { from: ids[0], to: ids });
});
afterAll(() => server?.dispose());

async function counter(name: string): Promise<number> {
  const { text } = await server.client.request({ method: 'GET', path: 'metrics' });
  const line = text.split('\n').find((each) => each.startsWith(`trellis_${name} `));
  return Number(line!.split(' ')[1]);
}

const look = (path: string, headers: Record<string, string> = {}) =>
  server.client.request({ method: 'GET', path, headers });

test('graph and neighborhood are read in a lane', async () => {
  const before = await counter('queue_wait_seconds_count{lane="read",thread="reader"}');
  const inline = await counter('inline_reads_total');
  const graph = JSON.parse((await look(`nodes-edges?limit=${count}`)).text);
  expect([graph.data.nodes.length, graph.data.edges.length]).toEqual([count, count]);
  expect(graph.stats).toEqual({ num_nodes: count, num_edges: count, num_vectors: 0 });
  const hub = JSON.parse((await look(`node-connections?node_id=${ids[0]}`)).text);
  expect(hub.connected_nodes).toHaveLength(count);
  expect([hub.incoming_edges.length, hub.outgoing_edges.length]).toEqual([1, count]);
  const list = JSON.parse((await look(`nodes-by-label?label=Item&limit=${count}`)).text);
  expect(list.count).toBe(count);
  expect(await counter('queue_wait_seconds_count{lane="read",thread="reader"}')).toBe(before + 3);
  expect(await counter('inline_reads_total')).toBe(inline);
});

test('their deadline and the limits of a reply are those of a query', async () => {
  const late = await look(`nodes-edges?limit=${count}`, { 'x-request-timeout-ms': '1' });
  expect(JSON.parse(late.text).code).toBe('QUERY_TIMEOUT');
  const rows = Array.from({ length: 18 }, (_, no) => ({ no, text: 'x'.repeat(500_000) }));
  await server.client.post('fill', { rows });
  const newest = (await server.client.post('ids')).i.slice(count) as string[];
  await server.client.post('link', { from: newest[0], to: newest });
  const large = await look(`node-connections?node_id=${newest[0]}`);
  expect([large.status, JSON.parse(large.text).code]).toEqual([413, 'RESULT_TOO_LARGE']);
});
