// `npm run bench -- memory [--count 100000] [--dimension 384]`: measures the memory of a server for its
// vectors in each layout, with recall and speed. The smallest layout keeps 4-bit codes and reads the vectors
// from the store. The figure is the memory of a restarted server after searches, less that of a server
// without vectors. Pages of data.mdb, which the kernel can reclaim at any
// time, are counted separately.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberOption } from '../support/bench-option.js';
import { decimals } from '../support/served-vectors.js';
import { type Cell, printTable } from '../support/table.js';
import { generateSet, type VectorSet } from '../support/vector-data.js';
import {
  type Started,
  anonymousMb,
  callMicros,
  end,
  mappedMb,
  post,
  start,
} from '../scale/scale-server.js';

const layouts: [name: string, lines: string][] = [
  ['fast', 'layout = "fast"'],
  ['compact', 'layout = "compact"'],
  ['compact, not resident', 'layout = "compact"\nresident = false'],
];

const source = `
V::Item { no: I64 }
QUERY add(rows: [{ no: I64, vec: [F64] }]) =>
  FOR { no, vec } IN rows { AddV<Item>(vec, { no: no }) }
  RETURN "ok"
QUERY near(vec: [F64]) => v <- SearchV<Item>(vec, 10) RETURN v::{no}
`;

const mb = 2 ** 20;

async function sow(server: Started, { base }: VectorSet): Promise<void> {
  for (let at = 0; at < base.length; at += 500) {
    const part = base.slice(at, at + 500);
    await post(server, 'add', { rows: part.map((row, i) => ({ no: at + i, vec: decimals(row) })) });
  }
}

/** Share of the ten nearest that a server finds. */
async function recallOf(server: Started, { queries, truth }: VectorSet): Promise<number> {
  let found = 0;
  for (const [q, query] of queries.entries()) {
    const { v } = (await post(server, 'near', { vec: decimals(query) })) as { v: { no: number }[] };
    found += v.filter(({ no }) => truth[q]!.includes(no)).length;
  }
  return found / (10 * queries.length);
}

async function measure(folder: string, lines: string, set: VectorSet): Promise<Cell[]> {
  mkdirSync(join(folder, 'project'), { recursive: true });
  writeFileSync(join(folder, 'project', 'main.hx'), source);
  writeFileSync(join(folder, 'project', 'trellis.toml'), `[vectors.Item]\n${lines}\n`);
  const places = [join(folder, 'project'), join(folder, 'data')] as const;
  const fresh = await start(...places);
  const empty = anonymousMb(fresh);
  const began = performance.now();
  await sow(fresh, set);
  const seconds = (performance.now() - began) / 1000;
  await end(fresh, 'SIGTERM');
  const server = await start(...places);
  const recall = await recallOf(server, set);
  const bodies = Array.from({ length: 5 }, () => set.queries)
    .flat()
    .map((query) => ({ vec: decimals(query) }));
  const micros = await callMicros(server, 'near', bodies);
  const told = await fetch(`${server.url}/_admin/indexes`);
  const { indexes } = (await told.json()) as { indexes: { bytes: number }[] };
  const index = indexes[0]!.bytes / mb;
  const own = anonymousMb(server) - empty;
  const raw = (set.base.length * set.dimension * 4) / mb;
  const mapped = mappedMb(server);
  await end(server, 'SIGTERM');
  return [
    index,
    `${(index / raw).toFixed(2)} / ${(index / raw / 2).toFixed(2)}`,
    own,
    own / raw,
    mapped,
    recall.toFixed(4),
    1e6 / micros,
    set.base.length / seconds,
  ];
}

export async function run(args: string[]): Promise<void> {
  const set = generateSet(
    numberOption(args, 'count', 100_000),
    numberOption(args, 'dimension', 384),
  );
  const raw = (set.base.length * set.dimension * 4) / mb;
  console.log(
    `${set.name}, ${set.metric}: ${raw.toFixed(0)} MB of 32-bit numbers, twice that as they are sent\n`,
  );
  const rows: Cell[][] = [];
  for (const [name, lines] of layouts) {
    const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
    try {
      rows.push([name, ...(await measure(folder, lines, set))]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const columns = [
    'layout',
    'index MB',
    'of raw f32 / f64',
    'own memory MB',
    'of raw f32',
    'pages of data.mdb MB',
    'recall@10',
    'searches/s, one client',
    'added/s',
  ];
  console.log(printTable(columns, rows));
}
