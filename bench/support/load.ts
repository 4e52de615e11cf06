// Parts of a load benchmark: a real server process on a temporary project, the CPU time that it uses, and one
// measured run of clients.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { requestBytes, sendHttp } from './http-client.js';

const main = fileURLToPath(new URL('../../bin/main.js', import.meta.url));

export interface BenchServer {
  url: string;
  pid: number;
  /** The folder of its sources. */
  project: string;
  post(path: string, body: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** The address that the line `trellis ready` of a server names. */
export function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (text: string): void => {
      output += text;
      const url = /^trellis ready (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout!.setEncoding('utf8').on('data', read);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('exit', () => reject(new Error(`the server ended:\n${output}`)));
  });
}

/**
 * Starts `trellis serve` on a project with this source (or these files, name to text) and trellis.toml, in a folder
 * that `stop` removes. Later arguments win: `--data DIR` serves a directory that stays.
 */
export async function startBenchServer(
  source: string | Readonly<Record<string, string>>,
  args: string[] = [],
  settings = '',
): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
  const project = join(folder, 'project');
  mkdirSync(project);
  const files = typeof source === 'string' ? { 'main.hx': source } : source;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  if (settings !== '') writeFileSync(join(project, 'trellis.toml'), settings);
  const argv = ['serve', project, '--data', join(folder, 'data'), '--port', '0', ...args];
  const child = spawn(process.execPath, [main, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await readyUrl(child);
  return {
    url,
    pid: child.pid!,
    project,
    post: async (path, body) => {
      const headers = { 'Content-Type': 'application/json' };
      const reply = await fetch(`${url}/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
      return reply.json();
    },
    stop: async () => {
      await endProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the process is gone. */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exited;
}

/** Processor seconds a process has used, all threads (user and system), from /proc. */
export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticksPerSecond = 100;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export interface Load {
  method?: 'GET' | 'POST';
  path: string;
  /** Bodies are sent in turn. */
  bodies?: string[];
  headers?: Readonly<Record<string, string>>;
}

export interface Measured {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Microseconds of processor time of the server per request. */
  cpuMicros: number;
  failed: number;
}

/** autocannon prepares every request for every connection: beyond this, that outlasts a run. */
const preparedBytesMax = 16 * 2 ** 20;

/**
 * One run, by autocannon: latencies in whole milliseconds, those below 1 ms read as 0 (see
 * `sequential`). Many large bodies are sent by our own client.
 */
export async function measure(
  server: BenchServer,
  load: Load,
  connections: number,
  seconds: number,
  workers: number,
): Promise<Measured> {
  const { method = 'POST', path, bodies = ['{}'] } = load;
  const bytes = connections * bodies.reduce((sum, body) => sum + body.length, 0);
  if (bytes > preparedBytesMax) return measureLarge(server, path, bodies, connections, seconds);
  const requests = bodies.map((body) => ({
    method,
    path: `/${path}`,
    ...(method === 'POST' && { body }),
  }));
  const before = cpuSeconds(server.pid);
  const result = await autocannon({
    url: server.url,
    connections,
    duration: seconds,
    headers: { 'content-type': 'application/json', ...load.headers },
    requests,
    ...(workers > 0 && connections >= workers && { workers }),
  });
  const used = cpuSeconds(server.pid) - before;
  const { total } = result.requests;
  return {
    requestsPerSecond: total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMicros: (used * 1e6) / Math.max(1, total),
    failed: result.non2xx + result.errors,
  };
}

async function measureLarge(
  server: BenchServer,
  path: string,
  bodies: readonly string[],
  connections: number,
  seconds: number,
): Promise<Measured> {
  const requests = bodies.map((body) => requestBytes(path, body));
  const before = cpuSeconds(server.pid);
  const run = await sendHttp(server.url, requests, { connections, seconds });
  return {
    requestsPerSecond: run.perSecond,
    p50Ms: run.p50 / 1000,
    p99Ms: run.p99 / 1000,
    cpuMicros: ((cpuSeconds(server.pid) - before) * 1e6) / Math.max(1, run.count),
    failed: run.failed,
  };
}
