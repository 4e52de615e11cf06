// `npm run bench -- cluster [--seconds 4] [--rounds 3]`: compares three log servers and three nodes on this
// machine with a single process. Measures durable writes in alternation, forwarded writes, and the time until
// another node can read a write. Also measures how fast a node catches up, reads of one node and of all, and
// the time without a leader after a hand-over and after a kill. Needs `nats-server`
// (server/deploy/cluster). `--against CHECKOUT` measures only durable writes, in turns with the leader of another
// build (cluster-builds.ts).
import { setTimeout as pause } from 'node:timers/promises';
import { listOption, numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { median, percentile } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';
import {
  type Cluster,
  rolesOf,
  seqOf,
  settings,
  source,
  startCluster,
  writeRun,
} from './bench-cluster.js';
import { compareBuilds } from './cluster-builds.js';

async function post(url: string, path: string, body = '{}', more = {}): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...more };
  const reply = await fetch(`${url}/${path}`, { method: 'POST', headers, body });
  await reply.arrayBuffer();
  return reply;
}

async function writes(url: string, connections: number, seconds: number): Promise<number> {
  return (await writeRun(url, connections, seconds)).perSecond;
}

/** Microseconds of CPU that each of these processes took a write. */
async function cpuOf(
  pids: readonly number[],
  url: string,
  connections: number,
  seconds: number,
): Promise<number[]> {
  const before = pids.map(cpuSeconds);
  const { count } = await writeRun(url, connections, seconds);
  // What follows is still at work.
  await pause(300);
  return pids.map((pid, i) => ((cpuSeconds(pid) - before[i]!) * 1e6) / count);
}

/**
 * CPU of each process per write, and the estimate for separate machines. A machine with the leader and a
 * log server does the work of both. Its share of the writes is the ratio to the work of a single process.
 */
async function cpuRows(single: BenchServer, cluster: Cluster, seconds: number): Promise<Cell[][]> {
  const { leader, others } = await rolesOf(cluster);
  const pids = [leader, ...others].map(cluster.pidOf);
  const rows: Cell[][] = [];
  for (const connections of [1, 64, 256]) {
    const [alone] = (await cpuOf([single.pid], single.url, connections, seconds)) as [number];
    const all = await cpuOf([...pids, ...cluster.logPids], leader, connections, seconds);
    const [leads, ...rest] = all as [number];
    const [followers, logs] = [rest.slice(0, 2), rest.slice(2)];
    // Which server leads the stream is chance; the busiest can be on the machine of the leader.
    const log = Math.max(...logs);
    const row = [alone, leads, median(followers), median(logs), log, alone / (leads + log)];
    rows.push([`c${connections}`, ...row]);
  }
  return rows;
}

/** Rates in turns: single, leader, through another node. */
async function rateRows(single: string, cluster: Cluster, seconds: number, rounds: number) {
  const { leader, others } = await rolesOf(cluster);
  const rows: Cell[][] = [];
  for (const connections of [1, 64, 256]) {
    const rates: number[][] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      for (const [i, url] of [single, leader, others[0]!].entries())
        rates[i]!.push(await writes(url, connections, seconds));
    }
    const [alone, led, passed] = rates.map((list) => median(list)) as [number, number, number];
    rows.push([`durable create, c${connections}`, alone, led, led / alone, passed]);
  }
  return rows;
}

/** Milliseconds from the response to a write until another node returns a read that includes it. */
async function lags(cluster: Cluster, count: number): Promise<number[]> {
  const { leader, others } = await rolesOf(cluster);
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const position = (await post(leader, 'add', '{"age":2}')).headers.get('trellis-position')!;
    const started = performance.now();
    const reply = await post(others[i % 2]!, 'count', '{}', { 'Trellis-After': position });
    if (reply.status === 200) times.push(performance.now() - started);
  }
  return times;
}

/** Milliseconds from a hand-over until a write is answered again. */
async function gap(cluster: Cluster): Promise<number> {
  const { leader, others } = await rolesOf(cluster);
  const started = performance.now();
  const to = `node${cluster.urls.indexOf(others[0]!) + 1}`;
  await post(leader, `_admin/cluster-step-down?to=${to}`);
  while ((await post(others[0]!, 'add', '{"age":3}')).status !== 200) await pause(5);
  return performance.now() - started;
}

/** A follower sleeps while others write for `seconds`: entries a second then, and when it catches up. */
async function catchUp(cluster: Cluster, seconds: number): Promise<[number, number]> {
  const { leader, others } = await rolesOf(cluster);
  const [away] = others as [string];
  const pid = cluster.pidOf(away);
  process.kill(pid, 'SIGSTOP');
  const before = await seqOf(leader);
  const begun = performance.now();
  await writes(leader, 64, seconds);
  const live = (await seqOf(leader)) - before;
  const lived = performance.now() - begun;
  const goal = before + live;
  process.kill(pid, 'SIGCONT');
  const woken = performance.now();
  while ((await seqOf(away)) < goal) await pause(5);
  return [(1000 * live) / lived, (1000 * live) / (performance.now() - woken)];
}

async function reads(urls: readonly string[], seconds: number): Promise<number> {
  const bytes = [requestBytes('count', '{}')];
  const runs = await Promise.all(
    urls.map((url) => sendHttp(url, bytes, { connections: 64, seconds })),
  );
  return runs.reduce((sum, { perSecond }) => sum + perSecond, 0);
}

/** Milliseconds from the death of the leader until another node has answered a write. */
async function death(cluster: Cluster): Promise<number> {
  const { leader, others } = await rolesOf(cluster);
  process.kill(cluster.pidOf(leader), 'SIGKILL');
  const begun = performance.now();
  const tell = (url: string): Promise<boolean> =>
    post(url, 'add', '{"age":4}').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await Promise.all(others.map(tell))).includes(true)) await pause(10);
  return performance.now() - begun;
}

export async function run(args: readonly string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 4);
  const rounds = numberOption(args, 'rounds', 3);
  const [against] = listOption(args, 'against', []);
  if (against !== undefined) return compareBuilds(against, { seconds, rounds });
  const single = await startBenchServer(source, [], settings);
  const cluster = await startCluster();
  try {
    const columns = ['writes/s', 'one process', 'leader of three', 'share', 'through another node'];
    console.log(printTable(columns, await rateRows(single.url, cluster, seconds, rounds)));
    const cpu = ['CPU us a write', 'one process', 'leader', 'follower', 'log server', 'busiest'];
    console.log(`\n${printTable([...cpu, 'share'], await cpuRows(single, cluster, seconds))}\n`);
    const behind = await lags(cluster, 500);
    const gaps: number[] = [];
    for (let i = 0; i < rounds; i++) gaps.push(await gap(cluster));
    const times = [
      [
        'a write until it is read on another node',
        percentile(behind, 0.5),
        percentile(behind, 0.99),
      ],
      ['nobody leads after a hand-over', median(gaps), Math.max(...gaps)],
    ];
    const [live, caughtUp] = await catchUp(cluster, seconds);
    const rates: Cell[][] = [
      ['entries written, c64', live],
      ['entries applied by a node that was away as long', caughtUp],
      ['reads of one node, c64', await reads(cluster.urls.slice(0, 1), seconds)],
      ['reads of three nodes at once, c64 each', await reads(cluster.urls, seconds)],
    ];
    console.log(`\n${printTable(['a second', ''], rates)}\n`);
    // Twice: what is left leads alone then.
    const deaths = [await death(cluster), await death(cluster)];
    times.push(['the leader dies, until a write is answered', median(deaths), Math.max(...deaths)]);
    console.log(printTable(['milliseconds', 'p50', 'p99, most'], times));
    console.log('\nNodes share the processors here: what three machines read, one cannot show.');
  } finally {
    await single.stop();
    await cluster.stop();
  }
}
