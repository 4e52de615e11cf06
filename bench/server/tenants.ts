// `npm run bench -- tenants [--count 50]`: measures what one more tenant costs. Measures the start of a
// server with all of them, the first call of each with and without data, a call of an open one, and the
// memory.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberOption } from '../support/bench-option.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { median, percentile } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String }
QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p
QUERY one(name: String) => p <- N<Person>({ name: name }) RETURN p
`;

/** Megabytes. */
function residentOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) / 1024;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const ask = async (server: BenchServer, tenant: string, query: string): Promise<void> => {
  const headers = { 'Content-Type': 'application/json', 'Trellis-Tenant': tenant };
  const reply = await fetch(`${server.url}/${query}`, {
    method: 'POST',
    headers,
    body: '{"name":"a"}',
  });
  if (reply.status !== 200) throw new Error(await reply.text());
  await reply.arrayBuffer();
};

/** All tenants once: milliseconds of each, and what an open one takes. */
async function openAll(server: BenchServer, names: readonly string[], query: string) {
  const [memory, cpu] = [residentOf(server.pid), cpuSeconds(server.pid)];
  const times: number[] = [];
  for (const name of names) times.push(await timed(() => ask(server, name, query)));
  const each = (now: number, before: number): number => (now - before) / names.length;
  return {
    times,
    memory: each(residentOf(server.pid), memory),
    cpuMs: 1000 * each(cpuSeconds(server.pid), cpu),
  };
}

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'count', 50);
  const names = Array.from({ length: count }, (_, i) => `t${i}`);
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-tenants-'));
  const databases = names.map((name) => `${name} = ""`).join('\n');
  const settings = `[tenants]\nmax_open = ${count}\n[tenants.databases]\n${databases}\n`;
  const rows: Cell[][] = [];
  const start = async (text: string): Promise<{ server: BenchServer; ms: number }> => {
    const started = performance.now();
    const server = await startBenchServer(source, ['--data', join(folder, 'data')], text);
    return { server, ms: performance.now() - started };
  };
  try {
    const alone = await start('');
    rows.push(['start, no tenants, ms', alone.ms, '', residentOf(alone.server.pid)]);
    await alone.server.stop();
    for (const [what, query] of [
      ['first call of a new one', 'add'],
      ['first call of one with data', 'one'],
    ] as const) {
      const { server, ms } = await start(settings);
      rows.push([`start, ${count} tenants, ms`, ms, '', residentOf(server.pid)]);
      const { times, memory, cpuMs } = await openAll(server, names, query);
      rows.push([
        `${what}, ms`,
        median(times),
        percentile(times, 0.99),
        `${memory.toFixed(1)} each`,
      ]);
      rows.push([`${what}, ms of CPU`, cpuMs, '', '']);
      const again = await openAll(server, names, 'one');
      rows.push([
        'call of an open one, ms',
        median(again.times),
        percentile(again.times, 0.99),
        '',
      ]);
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(printTable(['', 'median', 'p99', 'MB resident'], rows));
}
