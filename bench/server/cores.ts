// Measures how a server scales with the number of HTTP threads: requests per second of wall time and of CPU
// time with 1, 2, 3 ... HTTP threads, on the machine as it is and with busy processes of equal priority. All
// servers run at the same time and are measured in alternation, so that the conditions are equal.
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ControlBlock, createControlBuffer } from '../../engine/database/call/control-block.js';
import { SharedCounts } from '../../server/http-threads/shared-counts.js';
import { SharedState } from '../../server/http-threads/shared-state.js';
import { listOption, numberOption } from '../support/bench-option.js';
import {
  type BenchServer,
  type Load,
  cpuSeconds,
  measure,
  startBenchServer,
} from '../support/load.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';
import { hasWrk, runWrk } from '../support/wrk.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
E::Knows { From: Person, To: Person }
V::Point { no: U32 }
QUERY people(rows: [{name: String, age: U8, city: String}]) =>
  FOR {name, age, city} IN rows { AddN<Person>({ name, age, city }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY friends(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p
QUERY points(rows: [{no: U32, vec: [F64]}]) =>
  FOR {no, vec} IN rows { AddV<Point>(vec, {no: no}) }
  RETURN "ok"
QUERY near(vec: [F64]) => v <- SearchV<Point>(vec, 10) RETURN v::{no, score}
QUERY rename(id: ID, city: String) => p <- N<Person>(id)::UPDATE({ city: city }) RETURN p::{city}
`;

interface Options {
  fronts: number[];
  seconds: number;
  rounds: number;
  connections: number;
  /** Busy processes. */
  busy: number;
  threads: number;
  only: readonly string[];
}

const cores = availableParallelism();

function readOptions(args: string[]): Options {
  const most = Math.max(3, Math.floor(cores / 2));
  const counts = [1, 2, 3, 4, 6, 8, 12, 16].filter((count) => count <= most);
  return {
    fronts: listOption(args, 'fronts', counts.map(String)).map(Number),
    seconds: numberOption(args, 'seconds', 4),
    rounds: numberOption(args, 'rounds', 5),
    connections: numberOption(args, 'connections', 64),
    busy: numberOption(args, 'busy', 8),
    threads: numberOption(args, 'threads', 2),
    only: listOption(args, 'only', ['']),
  };
}

const pointCount = 10_000;
const dimensions = 128;

/** Processes that would take all of a machine, each at the priority of the server. */
function startBusy(count: number): ChildProcess[] {
  return Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);']));
}

async function sow(server: BenchServer): Promise<Load[]> {
  const rows = Array.from({ length: 1_000 }, (_, i) => ({
    name: `person ${i}`,
    age: i % 100,
    city: `city ${i % 50}`,
  }));
  await server.post('people', { rows });
  const { p: ids } = (await server.post('ids', {})) as { p: string[] };
  for (let i = 0; i < 200; i++) {
    const bs = Array.from({ length: 20 }, (_, k) => ids[(i * 37 + k * 101) % ids.length]!);
    await server.post('link', { a: ids[i], bs });
  }
  const bodies = (count: number, of: (id: string) => object) =>
    ids.slice(0, count).map((id) => JSON.stringify(of(id)));
  const random = randomOf(7);
  const vector = () => Array.from({ length: dimensions }, () => Number(random().toFixed(4)) - 0.5);
  for (let no = 0; no < pointCount; no += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => ({ no: no + i, vec: vector() }));
    await server.post('points', { rows });
  }
  return [
    { path: 'person', bodies: bodies(400, (id) => ({ id })) },
    { path: 'friends', bodies: bodies(200, (id) => ({ id })) },
    { path: 'near', bodies: bodies(200, () => ({ vec: vector() })) },
    { path: 'rename', bodies: bodies(400, (id) => ({ id, city: 'elsewhere' })) },
  ];
}

const titles: Record<string, string> = {
  person: 'point read',
  friends: '1 hop, 20 rows',
  near: `10 nearest of 10,000 x ${dimensions}`,
  rename: 'durable update',
};

interface Contender {
  fronts: number;
  server: BenchServer;
  loads: Load[];
}

interface Figures {
  perSecond: number;
  cpuMicros: number;
  p50: number;
  p99: number;
  failed: number;
}

async function ask(
  { server }: Contender,
  load: Load,
  { connections, seconds, threads }: Options,
): Promise<Figures> {
  if (!hasWrk()) {
    const run = await measure(server, load, connections, seconds, 1);
    const { requestsPerSecond: perSecond, cpuMicros, p50Ms: p50, p99Ms: p99, failed } = run;
    return { perSecond, cpuMicros, p50, p99, failed };
  }
  const before = cpuSeconds(server.pid);
  const run = await runWrk(server.url, load, connections, seconds, threads);
  const used = cpuSeconds(server.pid) - before;
  const cpuMicros = (used * 1e6) / Math.max(1, run.requests);
  return {
    perSecond: run.requestsPerSecond,
    cpuMicros,
    p50: run.p50,
    p99: run.p99,
    failed: run.failed,
  };
}

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Rounds over all contenders in turn; ratios are taken within a round. */
async function compare(
  contenders: Contender[],
  which: number,
  options: Options,
): Promise<Cell[][]> {
  const runs = contenders.map((): Figures[] => []);
  for (let round = 0; round < options.rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      runs[i]!.push(await ask(contender, contender.loads[which]!, options));
    }
  }
  const of = (i: number, name: keyof Figures) => runs[i]!.map((run) => run[name]);
  return contenders.map(({ fronts, loads }, i) => [
    titles[loads[which]!.path]!,
    String(fronts),
    median(of(i, 'perSecond')),
    median(of(i, 'perSecond').map((rate, round) => rate / runs[0]![round]!.perSecond)),
    median(of(i, 'cpuMicros')),
    median(of(i, 'cpuMicros').map((micros) => 1e6 / micros)),
    median(of(i, 'p50')),
    median(of(i, 'p99')),
    String(of(i, 'failed').reduce((sum, count) => sum + count, 0)),
  ]);
}

const columns = [
  'call',
  'fronts',
  'requests/s',
  'to the first',
  'CPU us/request',
  'requests/CPU s',
  'p50 ms',
  'p99 ms',
  'failed',
];

const partOf = (path: string): string => new URL(`../../${path}`, import.meta.url).href;

/** Shared memory that a request reads while other threads write it, and that it writes itself. */
async function printSharedParts(): Promise<void> {
  const counts = new SharedCounts(3);
  const words = new SharedState();
  const gate = new ControlBlock(createControlBuffer(1));
  const time = (): number => {
    const rounds = 2e6;
    const started = performance.now();
    for (let i = 0; i < rounds; i++) {
      counts.markActive(1, i);
      // At its head and with its body; its snapshot, its program, its schema before and after.
      const isSound =
        words.isOpen || words.keysVersion < 0 || words.isOpen || words.keysVersion < 0;
      if (isSound || gate.hasNewCommit() || gate.program() > 0 || gate.schema() + gate.schema() < 0)
        continue;
    }
    return ((performance.now() - started) * 1e6) / rounds;
  };
  time();
  const alone = time();
  const modules = [
    'server/http-threads/shared-counts.js',
    'engine/database/call/control-block.js',
  ].map(partOf);
  const script = `
    const { workerData } = require('node:worker_threads');
    Promise.all(${JSON.stringify(modules)}.map((path) => import(path)))
      .then(([{ SharedCounts }, { ControlBlock }]) => {
      const counts = new SharedCounts(3, workerData.counts);
      const gate = new ControlBlock(workerData.gate);
      for (let i = 0; ; i++) {
        counts.hear(2, i);
        if (i % 10_000 === 0) gate.publishCommit();
      }
    });
  `;
  const workerData = { counts: counts.buffer, gate: gate.buffer };
  const other = new Worker(script, { eval: true, workerData });
  await setTimeout(500);
  const beside = time();
  await other.terminate();
  console.log(
    `\nShared memory of one request: ${alone.toFixed(0)} ns, ${beside.toFixed(0)} ns beside a thread ` +
      'that counts requests without pause and commits as fast as it can.',
  );
}

export async function run(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (!hasWrk()) {
    console.log('wrk is not installed: autocannon asks, which takes more time than the server.\n');
  }
  const contenders: Contender[] = [];
  try {
    for (const fronts of options.fronts) {
      const server = await startBenchServer(source, [], `[server]\nhttp_threads = ${fronts}\n`);
      contenders.push({ fronts, server, loads: await sow(server) });
    }
    for (const contender of contenders) {
      for (const load of contender.loads) await ask(contender, load, { ...options, seconds: 2 });
    }
    const wanted = contenders[0]!.loads.flatMap(({ path }, i) =>
      options.only.some((word) => titles[path]!.includes(word)) ? [i] : [],
    );
    for (const busy of new Set([0, options.busy])) {
      const processes = startBusy(busy);
      const beside = busy === 0 ? 'no busy process' : `${busy} busy processes`;
      console.log(`\nBeside ${beside}, ${options.connections} connections, ${cores} cores:\n`);
      const rows: Cell[][] = [];
      for (const which of wanted) rows.push(...(await compare(contenders, which, options)));
      console.log(printTable(columns, rows));
      for (const each of processes) each.kill('SIGKILL');
    }
  } finally {
    for (const { server } of contenders) await server.stop();
  }
  await printSharedParts();
  const most = options.fronts.at(-1)!;
  console.log(`\nNot tested: more than ${most} fronts, and more cores than ${cores}.`);
}
