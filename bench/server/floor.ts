// Measures how much longer one client waits than the minimum. A point read is compared with a bare echo of
// the same bytes on the same transport. A small durable write is compared with fdatasync of a page and with
// the writes of LMDB, on the same disk. The calls alternate; the figures are medians of rounds.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addOnName } from '../../server/http/native/uws-add-on.js';
import { numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { endProcess, startBenchServer } from '../support/load.js';
import { median, percentile } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8 }
QUERY add(name: String, age: U8) => p <- AddN<Person>({ name, age }) RETURN p::ID
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY rename(id: ID, age: U8) => p <- N<Person>(id)::UPDATE({ age: age }) RETURN p::{age}
`;

/** The module of the server's own transport; undefined where there is no build of it. */
function transport(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(addOnName);
  } catch {
    return undefined;
  }
}
const echo = fileURLToPath(new URL('../peer/uws-echo.js', import.meta.url));

async function startEcho(module: string, reply: string): Promise<[ChildProcess, string]> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [echo, module, reply], { stdio: [...stdio] });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the echo ended with ${code}`)));
    child.stdout!.once('data', (text) => resolve(/\d+/.exec(String(text))![0]));
  });
  return [child, `http://127.0.0.1:${port}`];
}

const pageBytes = 4096;
const filePages = 256;

/**
 * Measures microseconds of durable writes of file pages: one page, or what a commit of LMDB writes for a
 * small change. That is five scattered pages, a sync, and the page that makes them valid, also synced.
 */
function syncTimes(path: string, times: number, what: 'page' | 'commit'): number[] {
  const page = Buffer.alloc(pageBytes, 7);
  const file = openSync(path, 'w');
  const heads = openSync(path, constants.O_WRONLY | constants.O_DSYNC);
  for (let at = 0; at < filePages; at++) writeSync(file, page, 0, pageBytes, at * pageBytes);
  fdatasyncSync(file);
  const writePage = (at: number): void =>
    void writeSync(file, page, 0, pageBytes, (2 + (at % (filePages - 2))) * pageBytes);
  const taken = Array.from({ length: times }, (_, i) => {
    const started = performance.now();
    for (let n = 0; n < (what === 'page' ? 1 : 5); n++) writePage(i * 7 + n * 37);
    fdatasyncSync(file);
    if (what === 'commit') writeSync(heads, page, 0, 128, (i % 2) * pageBytes);
    return (performance.now() - started) * 1000;
  });
  closeSync(heads);
  closeSync(file);
  return taken;
}

type Contender = [name: string, ask: () => Promise<{ p50: number; p99: number }>];

/** Each in turn; the floor is the first of them. */
async function print(contenders: readonly Contender[], rounds: number): Promise<void> {
  const runs = contenders.map((): { p50: number; p99: number }[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [i, [, ask]] of contenders.entries()) runs[i]!.push(await ask());
  const rows = contenders.map(([name], i): Cell[] => {
    const above = runs[i]!.map(({ p50 }, round) => p50 - runs[0]![round]!.p50);
    const of = (figure: 'p50' | 'p99') => median(runs[i]!.map((run) => run[figure]));
    return [name, of('p50'), of('p99'), i === 0 ? '-' : median(above)];
  });
  console.log(`${printTable(['one client', 'p50 us', 'p99 us', 'above the first'], rows)}\n`);
}

export async function run(args: string[]): Promise<void> {
  const rounds = numberOption(args, 'rounds', 7);
  const count = numberOption(args, 'count', 2_000);
  const server = await startBenchServer(source);
  const folder = mkdtempSync(join(tmpdir(), 'trellis-floor-'));
  const asking =
    (url: string, path: string, body: (i: number) => object, times: number) => async () => {
      const requests = Array.from({ length: times }, (_, i) =>
        requestBytes(path, JSON.stringify(body(i))),
      );
      const run = await sendHttp(url, requests, { connections: 1 });
      if (run.failed > 0) throw new Error(`${path}: ${run.failed} calls failed`);
      return run;
    };
  try {
    const { p: id } = (await server.post('add', { name: 'Ana', age: 30 })) as { p: string };
    const reply = JSON.stringify(await server.post('person', { id }));
    const module = transport();
    const [child, url] = module === undefined ? [] : await startEcho(module, reply);
    const echoed: Contender[] =
      url === undefined
        ? []
        : [['a bare echo of the same bytes', asking(url, 'person', () => ({ id }), count)]];
    const read: Contender = ['point read', asking(server.url, 'person', () => ({ id }), count)];
    await print([...echoed, read], rounds);
    if (child !== undefined) await endProcess(child);

    const syncing = (what: 'page' | 'commit') => async () => {
      const taken = syncTimes(join(folder, 'pages'), count / 10, what);
      return { p50: median(taken), p99: percentile(taken, 0.99) };
    };
    const write = asking(server.url, 'rename', (i) => ({ id, age: i % 100 }), count / 10);
    await print(
      [
        ['a page and fdatasync', syncing('page')],
        ['what a commit of LMDB writes', syncing('commit')],
        ['durable update', write],
      ],
      rounds,
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
