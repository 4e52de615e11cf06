// Edges among chosen elements, whichever of their lists is long: an edge from one very long list to another stands
// in no short one.
import { expect, test } from 'vitest';
import { join } from 'node:path';
import type * as Engine from '../../engine/internal.js';
import { makeFolder, root } from '../support/project.js';

const text = `
N::Hub { no: I64 }
E::Link { From: Hub, To: Hub }
E::Other { From: Hub, To: Hub }
QUERY hubs(rows: [I64]) => FOR no IN rows { AddN<Hub>({ no: no }) } h <- N<Hub> RETURN h::{ID, no}
QUERY link(rows: [{ a: ID, b: ID }]) =>
  FOR { a, b } IN rows { AddE<Link>::From(a)::To(b) }
  RETURN "ok"
QUERY other(rows: [{ a: ID, b: ID }]) =>
  FOR { a, b } IN rows { AddE<Other>::From(a)::To(b) }
  RETURN "ok"
`;

/** A list that is longer than this is left to the other ends of its edges. */
const longList = 2_000;
/** Edges of each to and from those chosen, itself among them. */
const mutual = 7 * 3;
type Pair = [a: number, b: number];

test('an edge among chosen elements is found, however long the lists of both its ends', async () => {
  const built = join(root, 'dist/engine/internal.js');
  const { open, lookPlan } = (await import(built)) as typeof Engine;
  const limits = { txn_writes: 10_000_000, body_bytes: 2 ** 28 };
  const db = await open({ dataDir: makeFolder(), sources: [{ path: 'main.hx', text }], limits });
  try {
    const [short, long, longer] = [longList - mutual, longList - mutual + 1, 2.5 * longList];
    // What each has besides the edges among them: going out, coming in.
    const fills = [
      [short, short],
      [short, long],
      [long, short],
      [long, long],
      [longer, long],
      [long, longer],
      [longer, longer],
    ] as const;
    const leafOf = (at: number): number => fills.length + at;
    const { h } = await db.call<{ h: { id: string; no: number }[] }>('hubs', {
      rows: Array.from({ length: leafOf(longer) }, (_, no) => no),
    });
    const ids = h.sort((x, y) => x.no - y.no).map(({ id }) => id);
    const noOf = new Map(ids.map((id, no) => [id, no]));
    const made: Pair[] = [];
    const connect = async (name: string, pairs: Pair[]): Promise<void> => {
      made.push(...pairs);
      await db.call(name, { rows: pairs.map(([a, b]) => ({ a: ids[a], b: ids[b] })) });
    };
    const hubs = fills.map((_, hub) => hub);
    const all = hubs.flatMap((a) => hubs.map((b): Pair => [a, b]));
    // Parallel edges, loops too: at the beginning, in the middle and at the end of every list.
    await connect('link', all);
    for (const half of [0, 1]) {
      const leaves = (fill: number): number[] =>
        Array.from({ length: fill }, (_, at) => leafOf(at)).filter((leaf) => leaf % 2 === half);
      for (const [hub, [going, coming]] of fills.entries()) {
        await connect(
          'link',
          leaves(going).map((leaf) => [hub, leaf]),
        );
        await connect(
          'link',
          leaves(coming).map((leaf) => [leaf, hub]),
        );
      }
      await connect('link', all);
    }
    await connect('other', [
      [6, 6],
      [6, 0],
      [0, 6],
    ]);
    const among = async (chosen: number[]): Promise<string[]> => {
      const bytes = chosen.map((at) => Buffer.from(ids[at]!.replaceAll('-', ''), 'hex'));
      const plan = lookPlan({ kind: 'subgraph', ids: bytes, count: 0 });
      const { body } = await db.database.run(plan, [], undefined);
      const { nodes, edges } = JSON.parse(Buffer.from(body).toString());
      expect(nodes).toHaveLength(chosen.length);
      return edges
        .map((edge: Record<string, string>) =>
          [edge.from_node, edge.to_node].map((id) => noOf.get(id!)).join(),
        )
        .sort();
    };
    const expected = (chosen: number[]): string[] => {
      const within = new Set(chosen);
      return made
        .filter(([a, b]) => within.has(a) && within.has(b))
        .map(String)
        .sort();
    };
    for (const chosen of [
      hubs,
      [...hubs, leafOf(0), leafOf(1), leafOf(longer - 1)],
      ...hubs.map((hub) => [hub]),
    ]) {
      expect(await among(chosen)).toEqual(expected(chosen));
    }
    for (const [a, b] of all.filter(([a, b]) => a < b)) {
      expect(await among([a, b])).toEqual(expected([a, b]));
    }
  } finally {
    await db.close();
  }
});
