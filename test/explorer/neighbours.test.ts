// Neighbourhoods of nodes with very many edges: only the part that is shown is read (E06).
import { expect, test } from 'vitest';
import { join } from 'node:path';
import type * as Engine from '../../engine/internal.js';
import { makeFolder, root } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';

const text = `
N::Hub { name: String }
N::Leaf { no: I64 }
E::Has { From: Hub, To: Leaf }
QUERY hub() => h <- AddN<Hub>({ name: "hub" }) RETURN h::ID
QUERY grow(hub: ID, rows: [I64]) =>
  FOR no IN rows { leaf <- AddN<Leaf>({ no: no }) AddE<Has>::From(hub)::To(leaf) }
  RETURN "ok"
QUERY cut(hub: ID, first: I64, last: I64) =>
  DROP N<Hub>(hub)::OutE<Has>::RANGE(first, last)
  RETURN "ok"
`;

test('E06: a page of a large neighbourhood costs its own size', { timeout: 600_000 }, async () => {
  const built = join(root, 'dist/engine/internal.js');
  const { open, lookPlan } = (await import(built)) as typeof Engine;
  const edges = process.env.TRELLIS_TEST_LONG === '1' ? 1_000_000 : 20_000;
  const limits = { txn_writes: 10_000_000, query_visits: 1e9, body_bytes: 2 ** 28 };
  const sources = [{ path: 'main.hx', text }];
  const db = await open({ dataDir: makeFolder(), sources, limits });
  try {
    const { h: hub } = await db.call<{ h: string }>('hub', {});
    const step = 10_000;
    for (let at = 0; at < edges; at += step) {
      await db.call('grow', { hub, rows: Array.from({ length: step }, (_, i) => at + i) });
    }
    const id = Uint8Array.from(Buffer.from(hub.replaceAll('-', ''), 'hex'));
    const page = async (count: number, after: string | null) => {
      const [direction, label, edge] = after?.split('/') ?? [];
      const place = edge && {
        direction: direction as 'out',
        label: label!,
        edge: Uint8Array.from(Buffer.from(edge.replaceAll('-', ''), 'hex')),
      };
      const look = { kind: 'neighbours', id, direction: 'out', label: 'Has', count } as const;
      const plan = lookPlan({ ...look, after: place || null });
      const started = performance.now();
      const { body } = await db.database.run(plan, [], undefined);
      const ms = performance.now() - started;
      const { degrees, items, more } = JSON.parse(Buffer.from(body).toString());
      return {
        degrees,
        more,
        ms,
        numbers: items.map((it: { other: { no: number } }) => it.other.no),
      };
    };
    const numbers: number[] = [];
    const times: number[] = [];
    let more: string | null = null;
    do {
      const next = await page(500, more);
      expect(next.degrees).toEqual([{ label: 'Has', direction: 'out', count: edges }]);
      expect(next.numbers.length).toBeLessThanOrEqual(500);
      numbers.push(...next.numbers);
      times.push(next.ms);
      more = next.more;
    } while (more !== null);
    expect(numbers).toEqual(Array.from({ length: edges }, (_, no) => no));
    const inOrder = times.toSorted((a, b) => a - b);
    const at = (share: number): number => inOrder[Math.floor(share * (inOrder.length - 1))]!;
    process.stderr.write(
      `explorer: 500 of ${edges} neighbours in ${at(0.5).toFixed(2)} ms ` +
        `(99 of 100 in ${at(0.99).toFixed(2)}, the slowest in ${at(1).toFixed(2)})\n`,
    );
    expectFigure(at(0.5), 5, 'ms for a page');
    await db.call('cut', { hub, first: 100, last: 700 });
    const left = await page(300, null);
    expect(left.numbers.slice(95, 105)).toEqual([95, 96, 97, 98, 99, 700, 701, 702, 703, 704]);
    const rest = await page(5, left.more);
    expect(rest.numbers).toEqual([900, 901, 902, 903, 904]);
  } finally {
    await db.close();
  }
});
