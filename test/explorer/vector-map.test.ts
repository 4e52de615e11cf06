// The map of vectors as the engine draws it (E13): the same for the same seed, true to what is near, and of a
// sample that is bounded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { join } from 'node:path';
import type * as Engine from '../../engine/internal.js';
import { makeFolder, root } from '../support/project.js';

const text = `
V::Point { group: I64 }
QUERY grow(rows: [{group: I64, vector: [F64]}]) =>
  FOR {group, vector} IN rows { AddV<Point>(vector, {group: group}) }
  RETURN "ok"
QUERY all() => p <- V<Point> RETURN p::{ID, group}
`;

const groups = 4;
const count = process.env.TRELLIS_TEST_LONG === '1' ? 6_000 : 400;
const dimension = 12;

interface VectorMap {
  points: { id: string; x: number; y: number }[];
  edges: [number, number][];
  scores: number[];
  recall: number;
  dimensions: number;
  of: number;
}

let db: Engine.EmbeddedDatabase;
let draw: (asked: object) => Promise<VectorMap>;
const groupOf = new Map<string, number>();

/** Numbers of a fixed sequence, normal by and large. */
function* normal(): Generator<number> {
  for (let state = 7; ; ) {
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += (state = (state * 16807) % 2147483647) / 2147483647;
    yield sum - 6;
  }
}

beforeAll(async () => {
  const { open, lookPlan } = (await import(join(root, 'dist/engine/internal.js'))) as typeof Engine;
  db = await open({ dataDir: makeFolder(), sources: [{ path: 'main.hx', text }] });
  const numbers = normal();
  const next = (): number => numbers.next().value as number;
  const centres = Array.from({ length: groups }, () => Array.from({ length: dimension }, next));
  const rows = Array.from({ length: count }, (_, at) => ({
    group: at % groups,
    vector: centres[at % groups]!.map((centre) => 4 * centre + next()),
  }));
  for (let at = 0; at < count; at += 2_000) {
    await db.call('grow', { rows: rows.slice(at, at + 2_000) });
  }
  const { p } = await db.call<{ p: { ID: string; group: number }[] }>('all', {});
  for (const { ID, group } of p) groupOf.set(ID, group);
  draw = async (asked) => {
    const standard = { type: 'Point', samples: 2_000, neighbours: 8, seed: 0, ids: [] };
    const plan = lookPlan({ kind: 'map', ...standard, ...asked });
    const { body } = await db.database.run(plan, [], undefined);
    return JSON.parse(Buffer.from(body).toString()) as VectorMap;
  };
});
afterAll(() => db?.close());

test('E13: the same seed gives the same picture, within 1e-6', async () => {
  const [first, again] = [await draw({ samples: 150 }), await draw({ samples: 150 })];
  expect(again).toEqual(first);
  expect(first.points).toHaveLength(150);
  const other = await draw({ samples: 150, seed: 1 });
  const common = other.points.filter(({ id }) => first.points.some((point) => point.id === id));
  expect(common.length).toBeLessThan(140);
  const farthest = first.points.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y)));
  expect(Math.max(...farthest)).toBe(1);
});

test('E13: near on the map is near by the index, and the recall says how truly', async () => {
  const map = await draw({});
  expect([map.of, map.dimensions]).toEqual([count, dimension]);
  expect(map.points).toHaveLength(Math.min(count, 2_000));
  expect(map.recall).toBeGreaterThanOrEqual(0.95);
  expect(map.recall).toBeLessThanOrEqual(1);
  const own = map.edges.filter(
    ([a, b]) => groupOf.get(map.points[a]!.id) === groupOf.get(map.points[b]!.id),
  );
  expect(own.length / map.edges.length).toBeGreaterThan(0.98);
  const pairs = new Set(map.edges.map(([a, b]) => `${a} ${b}`));
  expect(pairs.size).toBe(map.edges.length);
  expect(map.edges.every(([a, b]) => a < b)).toBe(true);
  expect(map.scores).toEqual(map.scores.toSorted((a, b) => b - a));
  const degrees = new Map<number, number>();
  for (const end of map.edges.flat()) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  expect(Math.min(...map.points.map((_, at) => degrees.get(at) ?? 0))).toBeGreaterThanOrEqual(8);
});

test('E13: elements that are requested by id are on the map, in a sample of the same size', async () => {
  const all = await draw({ samples: 5_000 });
  const wanted = all.points.slice(0, 5).map(({ id }) => id);
  const ids = wanted.map((id) => Uint8Array.from(Buffer.from(id.replaceAll('-', ''), 'hex')));
  const map = await draw({ samples: 50, ids });
  expect(map.points).toHaveLength(50);
  expect(map.points.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted));
});
