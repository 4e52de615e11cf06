// Whether the nearest are found whatever the vectors are like: the cells of `bench recall` against
// exact answers, some always, all in the long run; and through a whole database, where filters,
// deletions and a restart are those of a server.
import { afterAll, describe, expect, test } from 'vitest';
import type { EmbeddedDatabase } from '../../engine/internal.js';
import { type Cell, filters, type Norms, wholeGrid } from '../../bench/vector/recall-axes.js';
import { nameOf, pairedCells, pairsOf } from '../../bench/vector/recall-cells.js';
import {
  filterOf,
  makeData,
  passes,
  type RecallData,
  Truth,
} from '../../bench/vector/recall-data.js';
import { buildIndex, measureOurs } from '../../bench/vector/recall-index.js';
import { built } from '../support/server/embedded-server.js';
import { makeFolder, removeFolder } from '../support/project.js';
import { long } from './fixture.js';

const k = 10;
const enough = 0.95;
const size = long ? { size: 2000, queries: 40, seed: 1 } : { size: 1150, queries: 20, seed: 1 };

/** Searches of a cell, one per filter, that find less than they should. */
function shortOf(cell: Cell, least = enough, of = size): string[] {
  const data = makeData(cell, of);
  const truth = new Truth(cell.metric, data);
  const index = buildIndex(cell, data);
  const short = filters.flatMap((filter) => {
    const { recall } = measureOurs(index, truth, k, {
      filter: filterOf(data, filter, of.seed),
    });
    return recall < least ? [`${nameOf(cell)} ${filter}: ${recall.toFixed(3)}`] : [];
  });
  index.close();
  return short;
}

const cellOf = (
  metric: Cell['metric'],
  spread: number,
  norms: Norms,
  dimension: number,
  layout: Cell['layout'],
  history: Cell['history'],
): Cell => ({ metric, spread, norms, dimension, layout, history });

/** One or two of every kind of data that a way of coding, scaling or walking may not be made for. */
const sample: readonly Cell[] = [
  cellOf('dot', 0.3, 'growing', 64, 'fast', 'single'),
  cellOf('dot', 0.1, 'lognormal1', 64, 'compact', 'bulk'),
  cellOf('dot', 0.005, 'equal', 64, 'fast', 'halved'),
  cellOf('dot', 1, 'tiny', 3, 'fast', 'restarted'),
  // Inner products of a cluster differ by 2e-9 of their size; sums of 32 bits resolve 6e-8.
  cellOf('dot', 0.001, 'equal', 384, 'flat', 'halved'),
  cellOf('dot', 0.001, 'two', 768, 'fast', 'halved'),
  cellOf('dot', 0.001, 'two', 3, 'flat', 'single'),
  cellOf('l2', 0.005, 'equal', 128, 'compact', 'single'),
  cellOf('l2', 0.02, 'mixed', 64, 'fast', 'single'),
  cellOf('l2', 0.3, 'zeros', 3, 'fast', 'halved'),
  cellOf('l2', 0.1, 'mixed', 3, 'flat', 'restarted'),
  cellOf('cosine', 0.001, 'lognormal1', 64, 'fast', 'restarted'),
  cellOf('cosine', 0.02, 'zeros', 64, 'compact', 'bulk'),
  cellOf('cosine', 1, 'huge', 64, 'flat', 'single'),
  cellOf('cosine', 0.3, 'equal', 384, 'stored', 'halved'),
  cellOf('l2', 0.01, 'mixed', 768, 'stored', 'restarted'),
  cellOf('dot', 0.1, 'lognormal1', 384, 'stored', 'bulk'),
];

const paired = pairedCells(wholeGrid);

const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** What falls short of `cells`. */
async function allShortOf(cells: readonly Cell[]): Promise<string[]> {
  const short: string[] = [];
  for (const cell of cells) {
    short.push(...shortOf(cell));
    await nextTurn();
  }
  return short;
}

test('every two values of two axes meet in a cell', () => {
  const axes = Object.entries(wholeGrid);
  const pairs = axes.flatMap(([a, first], i) =>
    axes
      .slice(i + 1)
      .flatMap(([b, second]) => first.flatMap((x) => second.map((y) => `${a} ${x}, ${b} ${y}`))),
  );
  const met = new Set(paired.flatMap(pairsOf));
  expect(pairs.filter((pair) => !met.has(pair))).toEqual([]);
});

describe('recall of the index', () => {
  if (!long)
    test.each(sample.map((cell) => [nameOf(cell), cell] as const))('%s', (_, cell) => {
      expect(shortOf(cell)).toEqual([]);
    });
  for (const metric of long ? wholeGrid.metric : []) {
    test.each(wholeGrid.norms)(`${metric}, %s, all spreads`, async (norms) => {
      const cells = paired.filter((cell) => cell.metric === metric && cell.norms === norms);
      expect(await allShortOf(cells)).toEqual([]);
    });
  }
});

/**
 * Codes of 4 bits leave much open, of long vectors more than of short ones: whoever searches must look at all that
 * may be as near, not only at what the last of the answer leaves open.
 */
test.each(long ? wholeGrid.spread : [0.05])(
  'by codes of 4 bits alone hardly any is missed, spread %d',
  async (spread) => {
    const of = { size: 3000, queries: 50, seed: 1 };
    for (const norms of long
      ? (['equal', 'two', 'lognormal1', 'growing'] as const)
      : (['equal', 'two'] as const)) {
      const cell = cellOf('dot', spread, norms, 384, 'stored', 'bulk');
      expect(shortOf(cell, 0.99, of)).toEqual([]);
      await nextTurn();
    }
  },
);

/** Vector types of the database by what they hold. */
const allTypes = [
  { name: 'Grown', metric: 'dot', norms: 'growing', spread: 0.3, layout: 'compact' },
  { name: 'Mixed', metric: 'l2', norms: 'mixed', spread: 0.1, layout: 'fast' },
  { name: 'Tight', metric: 'cosine', norms: 'equal', spread: 0.005, layout: 'compact' },
] as const;
const types = long ? allTypes : allTypes.slice(0, 1);

const sourceOf = (name: string): string => `
V::${name} { INDEX no: I64, part: I64 }
QUERY fill${name}(rows: [{ no: I64, part: I64, vec: [F64] }]) =>
  FOR { no, part, vec } IN rows { AddV<${name}>(vec, { no: no, part: part }) }
  RETURN "ok"
QUERY like${name}(vec: [F64]) => v <- SearchV<${name}>(vec, 10) RETURN v::{no}
QUERY part${name}(vec: [F64], part: I64) =>
  v <- SearchV<${name}>(vec, 10)::PREFILTER(_::{part}::LT(part)) RETURN v::{no}
QUERY drop${name}(from: I64) => DROP V<${name}>::WHERE(_::{no}::GTE(from)) RETURN "ok"
`;

describe('recall of a database, half of it deleted, restarted', () => {
  const folder = makeFolder();
  const dimension = 16;
  const rows = long ? 20_000 : 1050;
  const sources = [{ path: 'main.hx', text: types.map(({ name }) => sourceOf(name)).join('') }];
  const data = new Map<string, RecallData>();
  let db: EmbeddedDatabase;

  const openDatabase = async () => {
    const { open } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');
    const options = {
      m: 16,
      efConstruction: 128,
      efSearch: 128,
      exact: false,
      memoryBytes: 2 ** 32,
    };
    return open({
      dataDir: folder,
      sources,
      workers: 1,
      vectors: {
        default: { ...options, metric: 'cosine', layout: 'auto' },
        types: Object.fromEntries(
          types.map(({ name, metric, layout }) => [name, { metric, layout }]),
        ),
      },
    });
  };
  afterAll(async () => {
    await db?.close();
    removeFolder(folder);
  });

  /** Rows keep their place as number; others come after them, to be deleted. */
  async function fill(name: string, { rows: kept, others }: RecallData): Promise<void> {
    const all = [...kept, ...others].map((vec, no) => ({ no, part: no % 10, vec: [...vec] }));
    for (let at = 0; at < all.length; at += 500)
      await db.call(`fill${name}`, { rows: all.slice(at, at + 500) });
  }

  async function recallOf(name: string, metric: Cell['metric'], part: number): Promise<number> {
    const set = data.get(name)!;
    const truth = new Truth(metric, set);
    const words = new Uint32Array((set.rows.length + 32) >>> 5);
    for (let no = 0; no < set.rows.length; no++)
      if (no % 10 < part) words[(no + 1) >>> 5]! |= 1 << ((no + 1) & 31);
    const allow = part === 10 ? undefined : { words, count: 0 };
    let sum = 0;
    for (const [q, query] of set.queries.entries()) {
      const asked = { vec: [...query], ...(allow && { part }) };
      const { v } = await db.call<{ v: { no: number }[] }>(
        `${allow ? 'part' : 'like'}${name}`,
        asked,
      );
      const ids = v.map(({ no }) => no + 1);
      expect(ids.every((id) => passes(allow, id))).toBe(true);
      sum += truth.recall(q, ids, k, allow);
    }
    return sum / set.queries.length;
  }

  async function shortTypes(state: string): Promise<string[]> {
    const short: string[] = [];
    for (const { name, metric } of types) {
      for (const part of [10, 8, 1]) {
        const recall = await recallOf(name, metric, part);
        if (recall < enough) short.push(`${state}: ${name}, ${part}/10: ${recall.toFixed(3)}`);
      }
    }
    return short;
  }

  test('at every stage', async () => {
    db = await openDatabase();
    for (const { name, norms, spread } of types) {
      data.set(
        name,
        makeData({ norms, spread, dimension }, { size: rows, queries: long ? 40 : 10, seed: 3 }),
      );
      await fill(name, data.get(name)!);
      await db.call(`drop${name}`, { from: rows });
    }
    const short = await shortTypes('deleted');
    await db.close();
    db = await openDatabase();
    expect([...short, ...(await shortTypes('restarted'))]).toEqual([]);
  }, 600_000);
});
