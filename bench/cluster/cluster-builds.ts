// The part of the cluster bench that compares two builds: durable writes on one process, on the leader of this
// build and on the leader of another, in turns. Prints the rate, the latency, and the CPU time of the leader and
// of all processes per write.
// Invariant: every figure of a row is from the same rounds, and each has the spread of its rounds.
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, startBenchServer } from '../support/load.js';
import { roundsOf } from '../support/sample-times.js';
import { type Cell, type Rounds, printTable } from '../support/table.js';
import {
  type Cluster,
  rolesOf,
  settings,
  source,
  startCluster,
  writeRun,
} from './bench-cluster.js';

/** What writes go to. */
interface Target {
  name: string;
  url: string;
  /** The process that answers, and all processes that work for it. */
  pid: number;
  pids: readonly number[];
}

interface Run {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of CPU time per write: of the process that answers, and of all. */
  cpu: number;
  all: number;
}

async function leaderOf(name: string, cluster: Cluster): Promise<Target> {
  const { leader, others } = await rolesOf(cluster);
  const pid = cluster.pidOf(leader);
  return { name, url: leader, pid, pids: [pid, ...others.map(cluster.pidOf), ...cluster.logPids] };
}

async function measure({ url, pid, pids }: Target, clients: number, seconds: number): Promise<Run> {
  const own = cpuSeconds(pid);
  const before = pids.map(cpuSeconds);
  const { perSecond, count, p50, p99 } = await writeRun(url, clients, seconds);
  const cpu = ((cpuSeconds(pid) - own) * 1e6) / count;
  // What follows is still at work.
  await pause(300);
  const all = pids.reduce((sum, each, i) => sum + cpuSeconds(each) - before[i]!, 0);
  return { perSecond, p50: p50 / 1000, p99: p99 / 1000, cpu, all: (all * 1e6) / count };
}

const columns = [
  'clients',
  'writes to',
  'writes/s',
  'of one process',
  'p50 ms',
  'p99 ms',
  'leader CPU us',
  'all CPU us',
];

/** One row for each target. The share of one process is the median of the shares of the rounds. */
function rowsOf(clients: number, targets: readonly Target[], runs: readonly Run[][]): Cell[][] {
  return targets.map(({ name }, i): Cell[] => {
    const of = (field: keyof Run): Rounds => roundsOf(runs[i]!.map((run) => run[field]));
    const shares = runs[i]!.map(({ perSecond }, round) => perSecond / runs[0]![round]!.perSecond);
    const share = i === 0 ? '' : roundsOf(shares);
    const times = [of('p50'), of('p99'), of('cpu'), of('all')];
    return [String(clients), name, of('perSecond'), share, ...times];
  });
}

/** `against`: the checkout of the other build, with its `dist` and its `server/deploy`. */
export async function compareBuilds(
  against: string,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<void> {
  const single = await startBenchServer(source, [], settings);
  const clusters: Cluster[] = [];
  try {
    clusters.push(await startCluster(), await startCluster(against, 1));
    const targets = [
      { name: 'one process', url: single.url, pid: single.pid, pids: [single.pid] },
      await leaderOf('leader, this build', clusters[0]!),
      await leaderOf('leader, the other build', clusters[1]!),
    ];
    const rows: Cell[][] = [];
    for (const clients of [1, 64, 256]) {
      const runs = targets.map((): Run[] => []);
      for (const target of targets) await measure(target, clients, 1);
      for (let round = 0; round < rounds; round++) {
        for (const [i, target] of targets.entries())
          runs[i]!.push(await measure(target, clients, seconds));
      }
      rows.push(...rowsOf(clients, targets, runs));
    }
    console.log(printTable(columns, rows, 'durable creates of two builds'));
  } finally {
    await single.stop();
    for (const cluster of clusters) await cluster.stop();
  }
}
