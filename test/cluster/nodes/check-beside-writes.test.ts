// K35: all nodes read all their tables for a comparison, and nobody's write stands still for it: each reads a snapshot
// of the same place in the log, whatever is written meanwhile.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readHead } from '../../../engine/cluster/entry/head.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import type { Compared } from '../../../engine/cluster/node.js';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { source } from '../support/workload.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const rows = process.env.TRELLIS_TEST_LONG === '1' ? 800_000 : 60_000;
const pieceRows = 20_000;

let cluster: TestCluster;
let leader: TestNode;

beforeAll(async () => {
  cluster = await TestCluster.found(['a', 'b'], source);
  leader = await cluster.open('a');
  await cluster.leader();
  const load = leader.db.database.load('rows');
  for (let at = 0, offset = 0; at < rows; at += pieceRows) {
    const lines = Array.from({ length: pieceRows }, (_, i) => {
      const code = `r${at + i}`;
      return `${JSON.stringify({ node: 'Item', id: code, properties: { code, name: code, stock: i } })}\n`;
    });
    const text = Buffer.from(lines.join(''));
    offset += text.length;
    await load.rows(text, at + 1, { offset, line: at + pieceRows + 1 });
  }
  await load.finish();
  await cluster.open('b', { cluster: { role: 'reader' } as never });
  await cluster.settle();
});
afterAll(() => cluster.close());

const countOf = (kind: number): number => {
  let count = 0;
  for (let seq = cluster.log.first; seq <= cluster.log.last; seq++)
    if (readHead(cluster.log.bytesAt(seq), seq).kind === kind) count++;
  return count;
};

test('K35 writes continue while the tables are read, and cause no difference', async () => {
  const { cluster: node } = leader;
  const results: Compared[] = [];
  for (const one of cluster.nodes.values())
    one.cluster.onCompared((result) => void results.push(result));
  const waits: number[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i++) {
      const begun = performance.now();
      await leader.db.call('add', { code: `beside ${i}`, stock: i });
      waits.push(performance.now() - begun);
    }
  })();
  await vi.waitFor(() => expect(waits.length).toBeGreaterThan(5));
  const begun = performance.now();
  const [before, { check, position }] = [waits.length, await node.check()];
  const took = performance.now() - begun;
  isOver = true;
  await writing;
  const beside = waits.slice(before);
  const most = Math.max(...beside);
  process.stderr.write(
    `${rows} rows compared in ${Math.round(took)} ms, ${beside.length} writes meanwhile, ` +
      `the longest of them ${Math.round(most)} ms\n`,
  );
  // What is written behind the first mark stands before the second one, which tells what the tables held.
  const marks = Array.from({ length: cluster.log.last }, (_, i) => i + 1).filter(
    (seq) => readHead(cluster.log.bytesAt(seq), seq).kind === entryKind.mark,
  );
  expect(marks.length).toBe(2);
  expect(position.seq).toBe(marks[0]);
  expect(marks[1]! - marks[0]!).toBeGreaterThan(2);
  expect(countOf(entryKind.check)).toBe(0);
  await vi.waitFor(() => expect(results.length).toBe(2), { timeout: 120_000 });
  expect(results).toEqual([0, 1].map(() => ({ check, position, other: [] })));
  await cluster.settle();
  expect(cluster.hashesOf('b')).toEqual(cluster.hashesOf('a'));
});
