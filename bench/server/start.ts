// `npm run bench -- start`: measures a start of the server: the time to the ready line and to the first
// response, the CPU time of all threads until then, and the memory then and at rest. Uses databases of
// several sizes, and the demo.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from '../../engine/internal.js';
import { numberOption } from '../support/bench-option.js';
import { endProcess, readyUrl } from '../support/load.js';
import { median, percentile } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const main = fileURLToPath(new URL('../../bin/main.js', import.meta.url));
const demo = fileURLToPath(new URL('../../../server/demo', import.meta.url));

const source = `
N::Person { INDEX name: String, age: U8 }
V::Passage { no: I64 }
QUERY people(rows: [{name: String, age: U8}]) =>
  FOR {name, age} IN rows { AddN<Person>({ name, age }) }
  RETURN "ok"
QUERY passages(vecs: [[F64]]) => v <- BatchAddV<Passage>(vecs) RETURN v::COUNT
QUERY all() => n <- N<Person>::WHERE(_::{age}::GT(200))::COUNT RETURN n
`;

interface Size {
  name: string;
  nodes: number;
  vectors: number;
}

const sizes: Size[] = [
  { name: 'empty', nodes: 0, vectors: 0 },
  { name: '100K nodes', nodes: 100_000, vectors: 0 },
  { name: '1M nodes', nodes: 1_000_000, vectors: 0 },
  { name: '20K vectors of 384', nodes: 0, vectors: 20_000 },
];

async function fill(dataDir: string, size: Size): Promise<void> {
  const db = await open({ dataDir, sources: [{ path: 'main.hx', text: source }] });
  const random = randomOf(9);
  for (let at = 0; at < size.nodes; at += 20_000) {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${at + i}`, age: i % 100 }));
    await db.call('people', { rows });
  }
  const vector = (): number[] => Array.from({ length: 384 }, () => Math.fround(random() * 2 - 1));
  for (let at = 0; at < size.vectors; at += 500)
    await db.call('passages', { vecs: Array.from({ length: 500 }, vector) });
  await db.close();
}

interface Memory {
  /** Kilobytes. */
  resident: number;
  own: number;
}

function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
  return { resident: field('VmRSS'), own: field('RssAnon') };
}

/** Milliseconds of processor time that all threads have taken, of those that still run. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanos = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanos.reduce((sum, one) => sum + one, 0) / 1e6;
}

interface Start {
  readyMs: number;
  answeredMs: number;
  /** CPU time of all threads. */
  cpuMs: number;
  memory: Memory;
  /** After every node was read once. */
  scanned: Memory;
}

function startServer(project: string, dataDir: string): ChildProcess {
  const argv = [main, 'serve', project, '--data', dataDir, '--port', '0'];
  return spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Memory of the process after this long without a request. */
async function restOnce(project: string, dataDir: string, seconds: number): Promise<Memory> {
  const child = startServer(project, dataDir);
  await readyUrl(child);
  await setTimeout(seconds * 1000);
  const memory = memoryOf(child.pid!);
  await endProcess(child);
  return memory;
}

async function startOnce(project: string, dataDir: string): Promise<Start> {
  const from = performance.now();
  const child = startServer(project, dataDir);
  const url = await readyUrl(child);
  const readyMs = performance.now() - from;
  await (await fetch(`${url}/readyz`)).arrayBuffer();
  const answeredMs = performance.now() - from;
  const cpuMs = cpuOf(child.pid!);
  const memory = memoryOf(child.pid!);
  await (await fetch(`${url}/all`, { method: 'POST' })).arrayBuffer();
  const scanned = memoryOf(child.pid!);
  await endProcess(child);
  return { readyMs, answeredMs, cpuMs, memory, scanned };
}

const columns = [
  'database',
  'ready ms p50',
  'p95',
  'first answer ms',
  'CPU ms',
  'RSS MB',
  'own MB',
  'RSS MB after a scan',
  'RSS MB at rest',
  'own MB at rest',
];

async function measure(
  { name, project, dataDir }: { name: string; project: string; dataDir: string },
  { rounds, restSeconds }: { rounds: number; restSeconds: number },
) {
  const starts: Start[] = [];
  for (let i = 0; i <= rounds; i++) starts.push(await startOnce(project, dataDir));
  const rested = await restOnce(project, dataDir, restSeconds);
  starts.shift();
  const of = (value: (start: Start) => number): number[] => starts.map(value);
  const ready = of(({ readyMs }) => readyMs);
  const row: Cell[] = [
    name,
    median(ready),
    percentile(ready, 0.95),
    median(of(({ answeredMs }) => answeredMs)),
    median(of(({ cpuMs }) => cpuMs)),
    median(of(({ memory }) => memory.resident / 1024)),
    median(of(({ memory }) => memory.own / 1024)),
    median(of(({ scanned }) => scanned.resident / 1024)),
    rested.resident / 1024,
    rested.own / 1024,
  ];
  return {
    row,
    own: median(of(({ memory }) => memory.own)),
    scanned: median(of(({ scanned }) => scanned.own)),
  };
}

export async function run(args: string[]): Promise<void> {
  const rounds = numberOption(args, 'rounds', 9);
  const restSeconds = numberOption(args, 'rest', 30);
  const nodesMax = numberOption(args, 'nodes', 1_000_000);
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'main.hx'), source);
  const times = { rounds, restSeconds };
  const rows: Cell[][] = [];
  let emptyOwn = 0;
  const notes: string[] = [];
  try {
    for (const size of sizes.filter(({ nodes }) => nodes <= nodesMax)) {
      const dataDir = join(folder, size.name.replaceAll(' ', '-'));
      await fill(dataDir, size);
      const { row, own, scanned } = await measure({ name: size.name, project, dataDir }, times);
      rows.push(row);
      const elements = size.nodes + size.vectors;
      if (elements === 0) emptyOwn = own;
      else {
        const bytes = (kilobytes: number): string =>
          (((kilobytes - emptyOwn) * 1024) / elements).toFixed(0);
        notes.push(
          `${size.name}: ${bytes(own)} B of own memory per element when ready, ${bytes(scanned)} after a scan`,
        );
      }
    }
    const ofDemo = { name: 'demo', project: demo, dataDir: join(folder, 'demo') };
    const { row } = await measure(ofDemo, times);
    rows.push(row);
    console.log(printTable(columns, rows));
    console.log(`\n${notes.join('\n')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
