// Rows per second of `trellis import` into an empty data directory: nodes with a unique index, with and
// without the keyword index, edges by temporary names, vectors of 768 numbers. Everything is counted, from
// the start of the process to its end, snapshot included; one run of each, since a run takes seconds.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { numberOption } from './bench-option.js';
import { randomOf } from './seeded-random.js';
import { type Cell, printTable } from './table.js';

const main = fileURLToPath(new URL('../bin/main.js', import.meta.url));

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

function writeRows(path: string, count: number, row: (i: number) => object): void {
  const file = openSync(path, 'w');
  let lines: string[] = [];
  for (let i = 0; i < count; i++) {
    lines.push(`${JSON.stringify(row(i))}\n`);
    if (lines.length < 5_000 && i < count - 1) continue;
    writeSync(file, lines.join(''));
    lines = [];
  }
  closeSync(file);
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

/** Seconds that an import of the files takes. */
function importSeconds(folder: string, data: string, files: readonly string[], text: boolean) {
  const started = performance.now();
  const env = { ...process.env, TRELLIS_TEXT_ENABLED: String(text) };
  const argv = [main, 'import', folder, ...files, '--data', join(folder, data)];
  const done = spawnSync(process.execPath, argv, { env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`import failed: ${done.stdout}${done.stderr}`);
  return (performance.now() - started) / 1000;
}

export function run(args: string[]): Promise<void> {
  const { nodes, edges, vectors } = readOptions(args);
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
  try {
    writeFileSync(join(folder, 'main.hx'), source);
    const file = (name: string): string => join(folder, name);
    const random = randomOf(1);
    writeRows(file('nodes.ndjson'), nodes, (i) => ({
      node: 'Person',
      id: `p${i}`,
      properties: { name: `Person ${i}`, age: i % 100, city: `City ${i % 500}` },
    }));
    const any = (): string => `p${Math.floor(random() * nodes)}`;
    writeRows(file('edges.ndjson'), edges, (since) => ({
      edge: 'Knows',
      from: any(),
      to: any(),
      properties: { since },
    }));
    writeRows(file('vectors.ndjson'), vectors, vectorRow(random));
    const rows: Cell[][] = [];
    const add = (what: string, count: number, seconds: number): void => {
      rows.push([what, count, seconds.toFixed(1), Math.round(count / seconds)]);
    };
    const plain = importSeconds(folder, 'a', [file('nodes.ndjson')], false);
    add('nodes', nodes, plain);
    add('nodes, keyword index', nodes, importSeconds(folder, 'b', [file('nodes.ndjson')], true));
    const both = ['nodes.ndjson', 'edges.ndjson'].map(file);
    const whole = importSeconds(folder, 'c', both, false);
    add('edges (nodes before them subtracted)', edges, whole - plain);
    add('nodes and edges', nodes + edges, whole);
    add('vectors, 768 d', vectors, importSeconds(folder, 'd', [file('vectors.ndjson')], false));
    console.log(printTable(['rows', 'count', 'seconds', 'rows/s'], rows));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return Promise.resolve();
}
