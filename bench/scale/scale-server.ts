// One server on the data of one size, as `scale` starts, asks and ends it.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endProcess, readyUrl } from '../support/load.js';
import { requestBytes, sendHttp } from '../support/http-client.js';

const main = fileURLToPath(new URL('../../bin/main.js', import.meta.url));

export interface Started {
  child: ChildProcess;
  url: string;
  /** From the start of the process to its ready line. */
  seconds: number;
}

/** `text`: with the keyword index; one that the data do not have yet is made before the server is ready. */
export async function start(project: string, data: string, text = true): Promise<Started> {
  const env = { ...process.env, TRELLIS_TEXT_ENABLED: String(text) };
  const argv = [main, 'serve', project, '--data', data, '--port', '0', '--no-watch'];
  const started = performance.now();
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await readyUrl(child);
  return { child, url, seconds: (performance.now() - started) / 1000 };
}

export const end = ({ child }: Started, signal: NodeJS.Signals): Promise<void> =>
  endProcess(child, signal);

function memoryMb({ child }: Started, names: readonly string[]): number {
  const text = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]);
  return names.reduce((sum, name) => sum + of(name), 0) / 1024;
}

/** Memory of the process in MB that is no page of a file. */
export const anonymousMb = (server: Started): number => memoryMb(server, ['RssAnon', 'RssShmem']);

/** Pages of files in MB: programs, data. */
export const mappedMb = (server: Started): number => memoryMb(server, ['RssFile']);

export const fileMb = (data: string): number =>
  statSync(join(data, 'graph', 'data.mdb')).size / 2 ** 20;

/** Median microseconds of a call on one connection; the first quarter is not counted. */
export async function callMicros(
  { url }: Started,
  path: string,
  bodies: readonly object[],
): Promise<number> {
  const requests = bodies.map((body) => requestBytes(path, JSON.stringify(body)));
  const warm = requests.splice(0, requests.length >> 2);
  await sendHttp(url, warm, { connections: 1 });
  const { p50, failed } = await sendHttp(url, requests, { connections: 1 });
  if (failed > 0) throw new Error(`${path}: ${failed} calls failed`);
  return p50;
}

export async function post({ url }: Started, path: string, body?: object): Promise<unknown> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${url}/${path}`, { method: 'POST', headers, ...sent });
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
  return reply.json();
}
