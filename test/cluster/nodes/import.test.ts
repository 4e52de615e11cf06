// K43, CT8: an import that its leader did not end goes on at the next one, from the piece that the log has last:
// nothing is missing, nothing is there twice, and names of earlier pieces are still known.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { source } from '../support/workload.js';

// Threads of two nodes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const name = 'one import';
const pieceRows = 40;
const pieces = 6;

/** Items, and edges from each to the first one of the piece before. */
function linesOf(piece: number): string[] {
  const first = piece * pieceRows;
  return Array.from({ length: pieceRows }, (_, i) => {
    const code = `r${first + i}`;
    const item = { node: 'Item', id: code, properties: { code, name: code, stock: piece } };
    if (piece === 0) return [JSON.stringify(item)];
    const edge = { edge: 'Near', from: code, to: `r${first - pieceRows}`, properties: {} };
    return [JSON.stringify(item), JSON.stringify(edge)];
  }).flat();
}

const text = (piece: number) => new TextEncoder().encode(`${linesOf(piece).join('\n')}\n`);

/** Where each piece begins, and the last one ends. */
const places = [{ offset: 0, line: 1 }];
for (let piece = 0; piece < pieces; piece++) {
  const { offset, line } = places[piece]!;
  places.push({ offset: offset + text(piece).length, line: line + linesOf(piece).length });
}

let cluster: TestCluster;
afterEach(() => cluster.close());

/** Loads what is missing of the pieces up to `end`; gives where it began. */
async function importTo(node: TestNode, end: number): Promise<number> {
  const load = node.db.database.load(name);
  const at = places.findIndex(({ offset }) => offset === load.progress.offset);
  for (const known of load.chunks) {
    const piece = places.findIndex(({ offset }) => offset === known.from.offset);
    await load.replay(text(piece), known);
  }
  for (let piece = at; piece < end; piece++)
    await load.rows(text(piece), places[piece]!.line, places[piece + 1]!);
  if (end === pieces) await load.finish();
  else await load.close();
  return at;
}

async function expectWhole(): Promise<void> {
  await cluster.settle();
  const codes = Array.from({ length: pieces * pieceRows }, (_, i) => `r${i}`).sort();
  for (const { db } of cluster.nodes.values()) {
    const { items } = await db.call<{ items: { code: string }[] }>('all', {});
    expect(items.map(({ code }) => code).sort()).toEqual(codes);
    const { edges } = await db.call<{ edges: number }>('edges', {});
    expect(edges).toBe((pieces - 1) * pieceRows);
  }
  expect(cluster.hashesOf('b')).toEqual(cluster.hashesOf('a'));
}

const queries = `${source}
  QUERY edges() => edges <- E<Near>::COUNT RETURN edges`;

describe('an import whose leader', () => {
  test('K43 an import continues on the new leader after a hand-over after each batch', async () => {
    cluster = await TestCluster.found(['a', 'b'], queries);
    await Promise.all([cluster.open('a'), cluster.open('b')]);
    for (let end = 1; end <= pieces; end++) {
      const leader = await cluster.leader();
      await cluster.settle();
      expect(await importTo(leader, end)).toBe(end - 1);
      if (end < pieces) await leader.cluster.stepDown();
    }
    await expectWhole();
    // It is known to be over, wherever it is asked for again.
    const last = await cluster.leader();
    expect(last.db.database.load(name).progress.end).toBeDefined();
  });

  const ends: [point: string, isThere: boolean][] = [
    ['C7', true],
    ['C6', false],
    ['W9', true],
  ];
  test.each(isLong ? ends : ends.slice(0, 1))(
    'K43 CT8 an import whose node ends at %s of its third batch continues on the new leader',
    async (point, isThere) => {
      cluster = await TestCluster.found(['a', 'b'], queries);
      const b = await cluster.open('b');
      await cluster.leader();
      const a = await cluster.open('a', { failpoint: `${point}@3:throw` });
      await a.cluster.waitFor(b.cluster.position, 40_000);
      await b.cluster.stepDown({ node: 'a', address: 'a:1' });
      await cluster.until(() => a.cluster.role === 'leader');
      await expect(importTo(a, pieces)).rejects.toThrow();
      await cluster.until(() => b.cluster.role === 'leader');
      expect(await importTo(b, pieces)).toBe(isThere ? 3 : 2);
      await cluster.stop('a');
      await cluster.open('a');
      await expectWhole();
    },
  );
});
