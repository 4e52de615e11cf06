// `npm run bench -- streams [--streams 500] [--seconds 10] [--busy 64] [--port 27500]`: creates many database
// logs on a cluster of three log servers. Measures the time to create one, the resources at rest and during
// writes to all, and the time without responses when a server dies. Needs `nats-server`
// (server/deploy/cluster).
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { driver } from '../../engine/cluster/log/jetstream.js';
import type { LogAddress, ReplicatedLog } from '../../engine/cluster/log/replicated-log.js';
import { numberOption } from '../support/bench-option.js';
import { percentile } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const three = [0, 1, 2];
const keepBytes = 4 * 2 ** 20;

class LogServers {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trellis-bench-streams-'));
  readonly #processes: ChildProcess[] = [];

  constructor(private readonly port: number) {
    for (const i of three) this.start(i);
  }

  get url(): string {
    const at = (from: number): string[] => three.map((i) => `127.0.0.1:${this.port + from + i}`);
    const monitors = at(200).map((one) => `http://${one}`);
    return `nats://${at(0).join(',')}?monitor=${monitors.join(',')}`;
  }

  start(i: number): void {
    const routes = three
      .filter((k) => k !== i)
      .map((k) => `nats://127.0.0.1:${this.port + 100 + k}`);
    const config = join(this.#folder, `log${i}.conf`);
    writeFileSync(
      config,
      `server_name: log${i}
listen: 127.0.0.1:${this.port + i}
http: 127.0.0.1:${this.port + 200 + i}
jetstream { store_dir: "${join(this.#folder, `log${i}`)}", max_file: 64G, sync_interval: always }
cluster { name: bench, listen: 127.0.0.1:${this.port + 100 + i}, routes: [${routes.join(', ')}] }
`,
    );
    const command = process.env.TRELLIS_NATS_SERVER ?? 'nats-server';
    const child = spawn(command, ['-c', config], { stdio: 'ignore' });
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      process.exit(1);
    });
    this.#processes[i] = child;
  }

  kill(i: number): void {
    this.#processes[i]!.kill('SIGKILL');
  }

  /** MB of memory and seconds of CPU of all three together. */
  use(): { mb: number; cpu: number } {
    const sum = { mb: 0, cpu: 0 };
    for (const { pid } of this.#processes) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      sum.mb += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      sum.cpu += (Number(fields[11]) + Number(fields[12])) / 100;
    }
    return sum;
  }

  async stop(): Promise<void> {
    for (const child of this.#processes) child.kill('SIGKILL');
    await pause(500);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** One log, and how far it is. */
interface Stream {
  log: ReplicatedLog;
  last: number;
}

const bytes = new Uint8Array(200).fill(120);
let lastId = 0;

async function append(stream: Stream): Promise<void> {
  const id = `m${++lastId}`;
  for (;;) {
    const said = await stream.log.append(bytes, stream.last, id);
    if (said === 'behind') throw new RangeError('a log has another writer');
    if (said === 'ok') break;
  }
  stream.last++;
}

/** Appends to `busy` of the streams at a time, in turns, for some seconds: milliseconds of each. */
async function load(streams: Stream[], busy: number, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  const free = [...streams];
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const stream = free.shift()!;
      const begun = performance.now();
      await append(stream);
      times.push(performance.now() - begun);
      free.push(stream);
    }
  };
  await Promise.all(Array.from({ length: Math.min(busy, streams.length) }, lane));
  return times;
}

/** From the death of a server until each log has taken an entry again, in milliseconds. */
async function failover(servers: LogServers, streams: Stream[]): Promise<number[]> {
  servers.kill(0);
  const begun = performance.now();
  return Promise.all(
    streams.map(async (stream) => {
      await append(stream);
      return performance.now() - begun;
    }),
  );
}

async function makeAll(url: string, count: number): Promise<[Stream[], number[]]> {
  const streams: Stream[] = [];
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const place: LogAddress = { url, name: `bench${i}`, keepBytes };
    const begun = performance.now();
    for (let tries = 0; ; tries++) {
      try {
        await driver.create(place);
        break;
      } catch (error) {
        // Servers that have just begun look for each other.
        if (i > 0 || tries > 60) throw error;
        await pause(500);
      }
    }
    if (i > 0) times.push(performance.now() - begun);
    streams.push({ log: await driver.open(place), last: 0 });
  }
  return [streams, times];
}

const row = (name: string, times: number[], rate?: number): Cell[] => [
  name,
  times.length,
  rate ?? '',
  percentile(times, 0.5),
  percentile(times, 0.99),
  Math.max(...times),
];

export async function run(args: readonly string[]): Promise<void> {
  const count = numberOption(args, 'streams', 500);
  const seconds = numberOption(args, 'seconds', 10);
  const busy = numberOption(args, 'busy', 64);
  const servers = new LogServers(numberOption(args, 'port', 27_500));
  try {
    const [streams, made] = await makeAll(servers.url, count);
    const before = servers.use();
    await pause(seconds * 1000);
    const rest = servers.use();
    const alone = await load(streams.slice(0, 1), 1, seconds);
    const all = await load(streams, busy, seconds);
    const after = servers.use();
    const back = await failover(servers, streams);
    const columns = ['', 'count', 'a second', 'p50 ms', 'p99 ms', 'most ms'];
    const rows = [
      row('a log is made', made),
      row('appends to one log, one at a time', alone, alone.length / seconds),
      row(`appends to all ${count}, ${busy} at a time`, all, all.length / seconds),
      row('a log server dies, until a log is written again', back),
    ];
    console.log(`${printTable(columns, rows)}\n`);
    const idle = (100 * (rest.cpu - before.cpu)) / seconds;
    console.log(
      `Three log servers with ${count} logs: ${rest.mb.toFixed(0)} MB of memory and ${idle.toFixed(0)} % of a ` +
        `core at rest, ${after.mb.toFixed(0)} MB after the load.`,
    );
    await Promise.race([Promise.all(streams.map(({ log }) => log.close())), pause(2000)]);
  } finally {
    await servers.stop();
  }
}
