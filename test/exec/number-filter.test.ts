// Filters on integers behind a hop: judged on the bytes of cached records, on cold ones, and inside a
// write, where there is no cache. Values of every length, unset ones, and rows beyond the cache.
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { EmbeddedDatabase, open as openType } from '../../engine/internal.js';
import { root } from '../support/project.js';
import { freshFolder } from '../storage/support/garden.js';

const operators = ['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE'] as const;
const reads = operators.map(
  (operator) => `
QUERY ${operator}I(limit: I64) =>
  t <- N<Hub>::Out<Holds>::WHERE(_::{n}::${operator}(limit))
  RETURN t::{no}
QUERY ${operator}E(limit: U64) =>
  t <- N<Hub>::OutE<Holds>::WHERE(_::{weight}::${operator}(limit))
  RETURN t::{no}
QUERY ${operator}W(limit: I64) =>
  x <- AddN<Other>({ no: 1 })
  t <- N<Hub>::Out<Holds>::WHERE(_::{n}::${operator}(limit))
  RETURN t::{no}`,
);
const source = `
N::Hub { no: U32 }
N::Other { no: U32 }
N::Thing { no: U32, n: I64, text: String }
E::Holds { From: Hub, To: Thing, Properties: { no: U32, weight: U64 } }
QUERY hub() => h <- AddN<Hub>({ no: 1 }) RETURN h::ID
QUERY thing(hub: ID, no: U32, n?: I64, weight?: U64, text: String) =>
  t <- AddN<Thing>({ no, n, text })
  e <- AddE<Holds>({ no, weight })::From(hub)::To(t)
  RETURN t::ID
QUERY text(limit: String) => t <- N<Hub>::Out<Holds>::WHERE(_::{text}::EQ(limit)) RETURN t::{no}
QUERY small() => t <- N<Hub>::Out<Holds>::WHERE(_::{n}::LT(2)) RETURN t::COUNT
${reads.join('\n')}
`;

const values = [
  ...[0n, 1n, -1n, 5n, -12345n, 999_999_999_999_999n, -999_999_999_999_999n, 10n ** 15n],
  ...[9_007_199_254_740_992n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)],
  undefined,
];

const holds: Record<(typeof operators)[number], (a: bigint, b: bigint) => boolean> = {
  EQ: (a, b) => a === b,
  NEQ: (a, b) => a !== b,
  GT: (a, b) => a > b,
  GTE: (a, b) => a >= b,
  LT: (a, b) => a < b,
  LTE: (a, b) => a <= b,
};

describe('filters on integers', () => {
  let db: EmbeddedDatabase;
  afterAll(() => db?.close());

  it('keep the items that match the operator, on every access path', async () => {
    // As built: its lanes are threads.
    const { open } = (await import(join(root, 'dist/bin/index.js'))) as { open: typeof openType };
    db = await open({ dataDir: freshFolder(), sources: [{ path: 'main.hx', text: source }] });
    const { h: hub } = await db.call<{ h: string }>('hub');
    const rows = Array.from({ length: 60 }, (_, no) => {
      const n = values[no % values.length];
      const weight = n === undefined || n < 0n ? undefined : n;
      // Some records are longer than what is kept.
      return { no, n, weight, text: no % 20 === 7 ? 'long '.repeat(20_000) : 'short' };
    });
    for (const row of rows) await db.call('thing', { hub, ...row });
    const expected = (
      operator: (typeof operators)[number],
      of: (row: (typeof rows)[number]) => bigint | undefined,
      limit: bigint,
    ): number[] =>
      rows
        .filter((row) => {
          const value = of(row);
          return value === undefined ? operator === 'NEQ' : holds[operator](value, limit);
        })
        .map(({ no }) => no);
    const numbers = async (query: string, limit: bigint): Promise<number[]> =>
      (await db.call<{ t: { no: number }[] }>(query, { limit })).t.map(({ no }) => no);
    for (const operator of operators) {
      for (const limit of values) {
        if (limit === undefined) continue;
        const nodes = expected(operator, ({ n }) => n, limit);
        expect(await numbers(`${operator}I`, limit), `${operator} ${limit}`).toEqual(nodes);
        expect(await numbers(`${operator}I`, limit), `${operator} ${limit}`).toEqual(nodes);
        expect(await numbers(`${operator}W`, limit), `${operator} ${limit}`).toEqual(nodes);
        if (limit < 0n) continue;
        const edges = expected(operator, ({ weight }) => weight, limit);
        expect(await numbers(`${operator}E`, limit), `${operator} ${limit}`).toEqual(edges);
      }
    }
    expect(await db.call('text', { limit: 'short' })).toHaveProperty('t.length', 57);
    const small = rows.filter(({ n }) => n !== undefined && n < 2n).length;
    expect(await db.call('small')).toEqual({ t: small });
  });
});
