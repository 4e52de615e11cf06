// Rows per second of `trellis import [--peers kuzu,sqlite]` into an empty data directory: nodes with a unique index, with and
// without the keyword index, edges by temporary names, vectors of 768 numbers. Everything is counted, from
// the start of the process to its end, snapshot included; one run of each, since a run takes seconds. `social` measures
// only the last part: a social network as CSV, with its CPU, beside the COPY of Kuzu and SQLite with an index for
// each end of an edge.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listOption, numberOption } from '../support/bench-option.js';
import { kuzuImport, sqliteImport } from './import-peers.js';
import { type ImportCost, importCost, importSeconds, writeRows } from '../support/import-run.js';
import { median, roundsOf } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, type Rounds, printTable } from '../support/table.js';
import { writeSocialFiles } from './social-files.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
V::Passage { no: I64 }
E::Knows { From: Person, To: Person, Properties: { since: I64 } }
QUERY people() => p <- N<Person>::COUNT RETURN p
`;

const dimensions = 768;

interface Options {
  nodes: number;
  edges: number;
  vectors: number;
}

function readOptions(args: string[]): Options {
  return {
    nodes: numberOption(args, 'nodes', 500_000),
    edges: numberOption(args, 'edges', 1_000_000),
    vectors: numberOption(args, 'vectors', 20_000),
  };
}

function* rowsOf(count: number, row: (i: number) => object): Generator<object> {
  for (let i = 0; i < count; i++) yield row(i);
}

/** Vectors around 64 centres, as embeddings lie. */
function vectorRow(random: () => number): (no: number) => object {
  const centres = Array.from({ length: 64 }, () =>
    Array.from({ length: dimensions }, () => random() - 0.5),
  );
  return (no) => {
    const centre = centres[Math.floor(random() * 64)]!;
    const values = centre.map((x) => Math.fround(x + (random() - 0.5) * 0.6));
    return { vector: 'Passage', values, properties: { no } };
  };
}

/** CSV as it comes: ids per type, dates of digits, one mapping. The peers load the same files. */
async function runSocial(folder: string, args: readonly string[]): Promise<void> {
  const { map, rows } = writeSocialFiles(folder);
  const runs = numberOption(args, 'rounds', 1);
  const peers = listOption(args, 'peers', ['kuzu', 'sqlite']);
  const load = (text: boolean) => (round: number) =>
    Promise.resolve(
      importCost(folder, join(folder, `data-${text}-${round}`), ['--mapping', map], text),
    );
  const loads: [string, (round: number) => Promise<ImportCost | undefined>][] = [
    ['TrellisDB', load(false)],
    ['TrellisDB, keyword index', load(true)],
  ];
  if (peers.includes('kuzu')) loads.push(['Kuzu, COPY', () => kuzuImport(folder)]);
  if (peers.includes('sqlite'))
    loads.push(['SQLite, two indexes an edge', () => sqliteImport(folder)]);
  const costs = loads.map((): ImportCost[] => []);
  for (let round = 0; round < runs; round++) {
    for (const [i, [, cost]] of loads.entries()) {
      const found = await cost(round);
      if (found !== undefined) costs[i]!.push(found);
    }
  }
  const own = median(costs[0]!.map(({ cpu }) => cpu));
  const cells = loads.flatMap(([name], i): Cell[][] => {
    if (costs[i]!.length === 0) return [];
    const of = (field: keyof ImportCost): Rounds => roundsOf(costs[i]!.map((cost) => cost[field]));
    const [seconds, cpu] = [of('seconds'), of('cpu')];
    const perRow = { median: (cpu.median * 1e6) / rows, spread: cpu.spread };
    const ratio = i === 0 ? '' : `${(cpu.median / own).toFixed(2)}x`;
    return [[name, rows, seconds, cpu, perRow, ratio]];
  });
  const heads = ['contender', 'count', 'seconds', 'CPU s', 'CPU us/row', 'CPU ratio'];
  console.log(printTable(heads, cells, 'social network as CSV'));
}

export async function run(args: string[]): Promise<void> {
  const { nodes, edges, vectors } = readOptions(args);
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
  try {
    if (args.includes('social')) {
      await runSocial(join(folder, 'social'), args);
      return;
    }
    writeFileSync(join(folder, 'main.hx'), source);
    const file = (name: string): string => join(folder, name);
    const write = (name: string, count: number, row: (i: number) => object): void =>
      writeRows(file(name), rowsOf(count, row));
    const time = (data: string, files: readonly string[], text: boolean): number =>
      importSeconds(folder, join(folder, data), files, text);
    const random = randomOf(1);
    write('nodes.ndjson', nodes, (i) => ({
      node: 'Person',
      id: `p${i}`,
      properties: { name: `Person ${i}`, age: i % 100, city: `City ${i % 500}` },
    }));
    const any = (): string => `p${Math.floor(random() * nodes)}`;
    write('edges.ndjson', edges, (since) => ({
      edge: 'Knows',
      from: any(),
      to: any(),
      properties: { since },
    }));
    write('vectors.ndjson', vectors, vectorRow(random));
    const rows: Cell[][] = [];
    const add = (what: string, count: number, seconds: number): void => {
      rows.push([what, count, seconds.toFixed(1), Math.round(count / seconds)]);
    };
    const plain = time('a', [file('nodes.ndjson')], false);
    add('nodes', nodes, plain);
    add('nodes, keyword index', nodes, time('b', [file('nodes.ndjson')], true));
    const both = ['nodes.ndjson', 'edges.ndjson'].map(file);
    const whole = time('c', both, false);
    add('edges (nodes before them subtracted)', edges, whole - plain);
    add('nodes and edges', nodes + edges, whole);
    add('vectors, 768 d', vectors, time('d', [file('vectors.ndjson')], false));
    console.log(printTable(['rows', 'count', 'seconds', 'rows/s'], rows));
    await runSocial(join(folder, 'social'), args);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
