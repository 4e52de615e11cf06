// The graph-vector workloads through the real HTTP server: closed loops by autocannon in a thread of
// its own, single-connection latencies and fixed rates by our own client.
import type { Workload } from './gvb-contender.js';
import type { Gvb } from './gvb-data.js';
import { type GvbStore, argumentsOf, gvbSettings, gvbSource } from './gvb-trellis.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import {
  type BenchServer,
  type Measured,
  cpuSeconds,
  measure,
  startBenchServer,
} from '../support/load.js';
import { median } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

interface Options {
  seconds: number;
  rounds: number;
  widths: readonly number[];
  workloads: readonly Workload[];
}

const columns = ['workload', 'load', 'requests/s', 'p50 us', 'p99 us', 'CPU us/request', 'failed'];
/** Shares of the closed loop's best rate that are then offered at a fixed pace. */
const fixedShares = [0.25, 0.5, 0.75];

export async function runGvbHttp(gvb: Gvb, store: GvbStore, options: Options): Promise<void> {
  const server = await startBenchServer(gvbSource, ['--data', store.dataDir], gvbSettings);
  const requests = gvb.requestsFor(gvb.data.users).slice(0, 200);
  const rows: Cell[][] = [];
  try {
    for (const workload of options.workloads) {
      const bodies = requests.map((one) => JSON.stringify(argumentsOf(store, workload, one)));
      rows.push(...(await measureWorkload(server, workload, bodies, options)));
    }
  } finally {
    await server.stop();
  }
  console.log(`\nOver HTTP, load generator on the same machine\n\n${printTable(columns, rows)}`);
}

async function measureWorkload(
  server: BenchServer,
  workload: Workload,
  bodies: string[],
  options: Options,
): Promise<Cell[][]> {
  const rows: Cell[][] = [];
  let best = 0;
  await measure(server, { path: workload, bodies }, 16, 2, 1);
  for (const width of options.widths) {
    const rounds: Measured[] = [];
    for (let i = 0; i < options.rounds; i++) {
      rounds.push(
        width === 1
          ? await alone(server, workload, bodies, options.seconds)
          : await measure(server, { path: workload, bodies }, width, options.seconds, 1),
      );
    }
    const of = (field: keyof Measured): number => median(rounds.map((round) => round[field]));
    const rate = of('requestsPerSecond');
    best = Math.max(best, rate);
    const latencies = [of('p50Ms') * 1000, of('p99Ms') * 1000];
    const failed = String(rounds.reduce((sum, round) => sum + round.failed, 0));
    rows.push([workload, `${width} parallel`, rate, ...latencies, of('cpuMicros'), failed]);
  }
  // Calls whose clients have gone still run: they must not be counted below.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const buffers = bodies.map((body) => requestBytes(workload, body));
  for (const share of fixedShares) {
    const rate = best * share;
    const before = cpuSeconds(server.pid);
    const { seconds } = options;
    const run = await sendHttp(server.url, buffers, { connections: 64, rate, seconds });
    const cpu = ((cpuSeconds(server.pid) - before) * 1e6) / run.count;
    const load = `${Math.round(rate).toLocaleString('en-US')}/s`;
    rows.push([workload, load, run.perSecond, run.p50, run.p99, cpu, String(run.failed)]);
  }
  return rows;
}

/** One connection, in the units of `measure`. */
async function alone(
  server: BenchServer,
  workload: Workload,
  bodies: string[],
  seconds: number,
): Promise<Measured> {
  const before = cpuSeconds(server.pid);
  const requests = bodies.map((body) => requestBytes(workload, body));
  const run = await sendHttp(server.url, requests, { connections: 1, seconds });
  return {
    requestsPerSecond: run.perSecond,
    p50Ms: run.p50 / 1000,
    p99Ms: run.p99 / 1000,
    cpuMicros: ((cpuSeconds(server.pid) - before) * 1e6) / run.count,
    failed: run.failed,
  };
}
